"""How long an event loop could do nothing else, and where it was meanwhile."""

import asyncio
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Self

_TICK_S = 0.01
_NOTED_S = 0.1
_ROOT = str(Path(__file__).parents[1])


class LoopGauge:
    """Measures in processor time of the whole process between two ticks of its loop.

    So threads count that hold the interpreter, and what a loaded machine takes away does not. `places` says how often
    which of our lines were found at work while the loop stood still.
    """

    def __init__(self) -> None:
        self.places: Counter[str] = Counter()
        self._worst_s = 0.0
        self._ticked_at = time.process_time()
        self._stopped = threading.Event()

    @property
    def worst_s(self) -> float:
        return max(self._worst_s, time.process_time() - self._ticked_at)

    def reset(self) -> None:
        self.places.clear()
        self._worst_s = 0.0
        self._ticked_at = time.process_time()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        self.reset()
        ticking = asyncio.create_task(self._tick())
        threading.Thread(target=self._note_places, name="gauge", daemon=True).start()
        try:
            yield self
        finally:
            self._stopped.set()
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self._worst_s = self.worst_s
            self._ticked_at = time.process_time()

    def _note_places(self) -> None:
        while not self._stopped.wait(_NOTED_S / 4):
            if time.process_time() - self._ticked_at > _NOTED_S:
                self.places.update(_at_work())


def _at_work() -> Iterator[str]:
    """The innermost lines of ours that threads are in."""
    for thread_id, frame in sys._current_frames().items():
        if thread_id != threading.get_ident() and (place := _innermost(frame)):
            yield place


def _innermost(frame: FrameType) -> str:
    ours = [
        one for one in traceback.extract_stack(frame) if one.filename.startswith(_ROOT) and ".venv" not in one.filename
    ]
    inner = [f"{one.filename.removeprefix(_ROOT)[1:]}:{one.lineno} {one.name}" for one in ours]
    return " < ".join(reversed(inner[-2:]))

"""The turns of this server: those that run or wait for their turn, and for a while those that have failed.

A turn that ends well is in the database. One that fails is nowhere else: who comes back to it is told here how it
ended.
"""

import asyncio
from collections import deque
from collections.abc import Iterator

from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.running_turn import RunningTurn

_KEPT_S = 30.0
_MAX_KEPT = 256


class TurnsUnderWay:
    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Answer], RunningTurn] = {}
        self._failed: deque[tuple[float, RunningTurn]] = deque(maxlen=_MAX_KEPT)

    def __len__(self) -> int:
        return len(self._running)

    @property
    def sessions(self) -> set[str]:
        """Those that have a turn here."""
        return {turn.utterance["session_id"] for turn in self._running.values()}

    @property
    def tasks(self) -> set[asyncio.Task[Answer]]:
        return set(self._running)

    def add(self, task: asyncio.Task[Answer], turn: RunningTurn) -> None:
        self._running[task] = turn
        task.add_done_callback(self._ended)

    def of_session(self, session_id: str) -> list[RunningTurn]:
        """The turns of a session that are running or wait for their turn."""
        return [turn for turn in self._running.values() if turn.utterance["session_id"] == session_id]

    def stopping(self, soul_id: str, user_id: str) -> list[RunningTurn]:
        """The turns of these two that were told to stop, and are still being stored."""
        ours = (turn for turn in self._running.values() if turn.is_stopping)
        return [one for one in ours if (one.utterance["soul_id"], one.utterance["user_id"]) == (soul_id, user_id)]

    def running(self, utterance: Utterance) -> RunningTurn | None:
        """The turn with the same input of the same person: the one that runs, if others wait behind it."""
        return next((turn for turn in self._running.values() if _is_same(turn.utterance, utterance)), None)

    def find(self, turn_id: str) -> RunningTurn | None:
        """The turn with this id, also one that has failed."""
        return next((turn for turn in self._known() if turn.turn_id == turn_id), None)

    def find_input(self, utterance: Utterance) -> RunningTurn | None:
        """As `running`, also one that has failed."""
        return next((turn for turn in self._known() if _is_same(turn.utterance, utterance)), None)

    def _known(self) -> Iterator[RunningTurn]:
        yield from self._running.values()
        while self._failed and self._failed[0][0] < asyncio.get_running_loop().time():
            self._failed.popleft()
        yield from (turn for _, turn in reversed(self._failed))

    def _ended(self, task: asyncio.Task[Answer]) -> None:
        turn = self._running.pop(task)
        if turn.has_failed:
            self._failed.append((asyncio.get_running_loop().time() + _KEPT_S, turn))


def _is_same(one: Utterance, other: Utterance) -> bool:
    return all(one[name] == other[name] for name in ("session_id", "input_id", "user_id"))

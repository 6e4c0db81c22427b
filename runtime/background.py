"""Work that goes on beside everything else, and is missed if it ends by itself."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

_log = logging.getLogger(__name__)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None], name: str, missed: str) -> AsyncIterator[None]:
    """For as long as the block lasts; `missed` says what it means if the work fails before."""

    def report(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            _log.error("%s: %s", name, missed, exc_info=error)

    task = asyncio.create_task(work, name=name)
    task.add_done_callback(report)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})

"""Background tasks that run for as long as a block does."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

_log = logging.getLogger(__name__)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None], name: str, missed: str) -> AsyncIterator[None]:
    """Run `work` as a task for as long as the block lasts, then cancel it.

    If the task fails before that, the error is logged at once; `missed` tells the operator what the failure means.
    """

    def report(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            _log.error("%s: %s", name, missed, exc_info=error)

    task = asyncio.create_task(work, name=name)
    task.add_done_callback(report)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})  # not `await task`, which would raise an error that was logged already

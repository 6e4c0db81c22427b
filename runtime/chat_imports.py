"""The imports of chats that run on this server: one for a soul and person at a time, to the end whoever listens."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from soulgraph.errors import Conflict, ShuttingDown, SoulgraphError
from soulgraph.nodes.context import Context
from soulgraph.runtime.chat_import import ChatImporter
from soulgraph.runtime.chat_survey import ChatSource, Known, Survey, survey
from soulgraph.stores.records import Soul

_POLL_S = 0.5
_COUNT_S = 3.0  # between two counts of what has no vector yet, which go through all of the soul's messages
_GIVE_UP_S = 60.0  # without a new vector; those that are missing are computed whenever their service answers again

_log = logging.getLogger(__name__)

_FEW = 1000

Phase = Literal["reading", "storing", "indexing", "done"]
Key = tuple[str, str]


@dataclass(slots=True)
class RunningImport:
    """`report` says what was found in the file, `importer` what has been stored of it."""

    phase: Phase = "reading"
    found: Survey | None = None
    importer: ChatImporter | None = None
    unindexed: int = 0

    def progress(self) -> dict[str, Any]:
        stored = asdict(self.importer.done) if self.importer else {}
        total = self.found.new_messages if self.found else None
        done = stored.get("messages", 0)
        return {"phase": self.phase, "messages": done, "total": total, "unindexed": self.unindexed}

    def result(self) -> dict[str, Any]:
        """What the file holds; and after an import, what was stored and what of it was left out."""
        found = self.found.report() if self.found else {}
        stored = {"imported": asdict(self.importer.done)} if self.importer else {}
        return {**found, **stored, "unindexed": self.unindexed}


class ChatImports:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ChatImports"]:
        """Imports that have not ended with the block are broken off: the same file goes on with them."""
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def survey(self, soul: Soul, user_id: str, source: ChatSource) -> RunningImport:
        """What would come of a file; the caller closes it."""
        found = await asyncio.to_thread(survey, source, await self._known(soul, user_id))
        return RunningImport("done", found)

    async def follow(self, soul: Soul, user_id: str, source: ChatSource) -> AsyncIterator[RunningImport]:
        """Import a file, which is closed at the end, and tell how far it is. It goes on if nobody follows any more.

        Raises Conflict if this person's chats are being imported for this soul already.
        """
        key = soul.soul_id, user_id
        if key in self._tasks:
            source.file.close()
            raise Conflict("import_running", "chats of this person are being imported for this soul: wait for the end")
        state = RunningImport()
        task = asyncio.create_task(self._run(state, soul, user_id, source), name="chat import")
        self._tasks[key] = task
        task.add_done_callback(lambda ended: self._ended(key, ended))
        while not task.done():
            yield state
            await asyncio.wait({task}, timeout=_POLL_S)
        if task.cancelled():
            raise ShuttingDown("the server stops, and the import was broken off: send the same file again to go on")
        task.result()
        async for _ in self._indexed(state, soul):
            yield state
        state.phase = "done"
        yield state

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        """Whoever follows is told why it failed; the log is for when nobody does."""
        del self._tasks[key]
        if not task.cancelled() and (error := task.exception()):
            unexpected = None if isinstance(error, SoulgraphError) else error
            _log.warning("import of chats for %s: %s", key[0], error, exc_info=unexpected)

    async def _run(self, state: RunningImport, soul: Soul, user_id: str, source: ChatSource) -> None:
        with source.file:
            known = await self._known(soul, user_id)
            state.found = await asyncio.to_thread(survey, source, known)
            state.importer = ChatImporter(self._context, soul, user_id, source, known)
            state.phase = "storing"
            await state.importer.run()

    async def _indexed(self, state: RunningImport, soul: Soul) -> AsyncIterator[None]:
        """Until every message can be found by its meaning too; by its words it can be found already."""
        state.phase = "indexing"
        embedder = self._context.memory.embedder
        waited = 0.0
        while embedder and waited < _GIVE_UP_S:
            async with self._context.stores.read() as tx:
                missing = await tx.vectors.count_missing(soul.soul_id, embedder.name)
            pause = _COUNT_S if missing > _FEW else _POLL_S
            waited = 0.0 if missing != state.unindexed else waited + pause
            state.unindexed = missing
            if not missing:
                return
            yield
            await asyncio.sleep(pause)

    async def _known(self, soul: Soul, user_id: str) -> Known:
        async with self._context.stores.read() as tx:
            imported = await tx.chat_imports.of(soul.soul_id, user_id)
        return {(one.program, one.conversation_id): one for one in imported}

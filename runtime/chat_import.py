"""Imports the chats of another program: each conversation becomes a session with its own dates, archived and findable.

No model is asked. A few messages at a time are stored together with how far their conversation has come, so that an
import that was killed goes on where it was when the same file comes again.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import partial
from itertools import islice
from uuid import NAMESPACE_URL, uuid5

from soulgraph.library.chats.conversation import Line, Notes, SoulText
from soulgraph.library.chats.openclaw import MEMORY
from soulgraph.nodes.context import Context
from soulgraph.runtime.chat_survey import ChatSource, Known, OpenedConversation
from soulgraph.soul.own_words import gives_orders
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.factories import new_session
from soulgraph.stores.memory import FACT_SLOTS
from soulgraph.stores.records import ChatImport, Json, NewMessage, Session, Slot, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.stores.workspace import MAX_MOVED, USER_FILE, user_file

_BATCH = 100
_MAX_SLOTS, _MAX_SLOT = 20, 500
_TURN = "imported"


@dataclass(slots=True)
class Imported:
    """What has been done so far."""

    conversations: int = 0
    messages: int = 0
    known: int = 0
    slots: int = 0
    files: list[str] = field(default_factory=list)
    files_kept: list[str] = field(default_factory=list)
    """Those that the soul had already, and with other words."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A line with its time and what it is found by."""

    line: Line
    at: float
    indexed: Json


class ChatImporter:
    """Imports for one soul what one person has said elsewhere."""

    def __init__(self, context: Context, soul: Soul, user_id: str, source: ChatSource, known: Known) -> None:
        self.done = Imported()
        self._context = context
        self._soul = soul
        self._user_id = user_id
        self._source = source
        self._known = known

    async def run(self) -> None:
        found = self._source.read(Notes())  # what is left out was told by the survey
        # Reading is done on a thread, one step at a time: what is read waits until it is stored.
        while (one := await asyncio.to_thread(next, found, None)) is not None:
            if isinstance(one, SoulText):
                self._keep_file(one)
            else:
                await self._import(one)

    def _keep_file(self, text: SoulText) -> None:
        """A file that the soul has already stays as it is."""
        workspaces = self._context.memory.workspaces
        if workspaces is None:
            return
        path = user_file(self._user_id, self._soul.user_id) if text.name == USER_FILE else text.name
        there = workspaces.files(self._soul.soul_id)
        with workspaces.adding(self._soul.soul_id, {path: text.content[:MAX_MOVED]}):
            pass
        if path not in there:
            self.done.files.append(path)
        elif there[path] != text.content:
            self.done.files_kept.append(path)

    async def _import(self, opened: OpenedConversation) -> None:
        before = self._known.get(opened.key)
        if opened.key == ("openclaw", MEMORY) and before is None:
            lines = await asyncio.to_thread(list, opened.lines)
            if await self._fill_slots(opened, lines):
                return
            opened = OpenedConversation(opened.conversation, opened.first, iter(lines))
        began = opened.conversation.began(opened.first)
        clock = _Clock(self._context.clock() if began is None else began)
        if before:
            self.done.known += await asyncio.to_thread(_skip, opened.lines, before.lines, clock)
        session_id = before.session_id if before else None
        session_id = session_id or _session_id(self._soul.soul_id, self._user_id, *opened.key)
        async for batch in _batches(opened.lines, clock, self._context.stores.zone):
            # One who goes on with this very conversation meanwhile waits for a batch, and no longer.
            async with self._context.locks.hold(session_id) if self._context.locks else nullcontext():
                await self._store(opened, session_id, batch)
            await asyncio.sleep(0)

    async def _store(self, opened: OpenedConversation, session_id: str, batch: Sequence[_Prepared]) -> None:
        program, conversation_id = opened.key
        before = self._known.get(opened.key)
        lines = (before.lines if before else 0) + len(batch)
        progress = ChatImport(
            self._soul.soul_id, self._user_id, program, conversation_id, session_id, lines, self._context.clock()
        )
        async with self._context.stores.write() as tx:
            session = await self._session(tx, opened, session_id, batch[0].at)
            ids = await tx.messages.append(session_id, [self._message(one) for one in batch])
            await tx.sessions.reflected(session_id, ids[-1])
            await tx.sessions.touch(session_id, max(session.updated_at, batch[-1].at))
            await tx.chat_imports.put(progress)
        self._known[opened.key] = progress
        self.done.conversations += before is None
        self.done.messages += len(batch)

    async def _session(self, tx: Transaction, opened: OpenedConversation, session_id: str, first_at: float) -> Session:
        """The session of this conversation, which is made with its first messages."""
        if existing := await tx.sessions.find(session_id):
            return existing
        persona = self._context.persona
        began = opened.conversation.began(opened.first)
        session = await new_session(
            tx,
            self._soul,
            session_id=session_id,
            user_id=self._user_id,
            title=opened.conversation.titled(opened.first),
            character_id=None,
            background_id=None,
            template_id=persona.default_template,
            mode=persona.default_mode,
            now=first_at if began is None else began,
        )
        await tx.sessions.add(session)
        return session

    def _message(self, prepared: _Prepared) -> NewMessage:
        """Archived: it is remembered when it is asked for, and nothing is drawn from it by a model."""
        line = prepared.line
        whose = self._user_id, self._soul.soul_id
        return NewMessage(_TURN, line.role, line.content, prepared.at, *whose, archived=True, indexed=prepared.indexed)

    async def _fill_slots(self, opened: OpenedConversation, lines: Sequence[Line]) -> bool:
        """Whether a short long-term memory has become slots, which are in every prompt; else it is a conversation.

        One that gives orders is a conversation too.
        """
        texts = [line.content for line in lines]
        if len(texts) > _MAX_SLOTS or any(len(text) > _MAX_SLOT or gives_orders(text) for text in texts):
            return False
        now = self._context.clock()
        whose = self._soul.soul_id, self._user_id
        async with self._context.stores.write() as tx:
            if await tx.slots.of(*whose):
                return False
            for n, line in zip(FACT_SLOTS, lines, strict=False):
                await tx.slots.put(Slot(*whose, n, line.content, line.at or now))
            await tx.chat_imports.put(ChatImport(*whose, *opened.key, None, len(lines), now))
        self.done.slots = len(lines)
        return True


@dataclass(slots=True)
class _Clock:
    """The time of the last line: one that tells none was said then."""

    at: float

    def of(self, line: Line) -> float:
        self.at = self.at if line.at is None else line.at
        return self.at


async def _batches(lines: Iterator[Line], clock: _Clock, zone: tzinfo | None) -> AsyncIterator[list[_Prepared]]:
    prepare = partial(_prepared, lines, clock, zone)
    while batch := await asyncio.to_thread(prepare):
        yield batch


def _prepared(lines: Iterator[Line], clock: _Clock, zone: tzinfo | None) -> list[_Prepared]:
    dated = ((line, clock.of(line)) for line in islice(lines, _BATCH))
    return [_Prepared(line, at, index_columns(line.content, at, zone)) for line, at in dated]


def _skip(lines: Iterator[Line], count: int, clock: _Clock) -> int:
    """Read on to where the last import ended; returns how many lines that were."""
    skipped = 0
    for line in islice(lines, count):
        clock.of(line)
        skipped += 1
    return skipped


def _session_id(soul_id: str, user_id: str, program: str, conversation_id: str) -> str:
    """Follows from what is imported, so that two runs mean the same session."""
    return f"sess_{uuid5(NAMESPACE_URL, repr([soul_id, user_id, program, conversation_id])).hex}"

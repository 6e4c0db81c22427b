"""What becomes of what terminals say: it is stored, or it is a turn; and the terminal is told what we know of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from soulgraph.errors import InvalidInput, NotFound, SoulgraphError
from soulgraph.stores.records import Terminal
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.terminals.hub import Hub
from soulgraph.terminals.inbox import Message
from soulgraph.terminals.payloads import Problem, Reply, Status
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import CatalogReport, Input, SkillReport, Spoken

PendingAnswer = Awaitable[Mapping[str, Any]]
Begin = Callable[[str, Input], Awaitable[PendingAnswer]]
"""Begins a turn at a terminal. Turns of one conversation run in the order in which they were begun."""

_log = logging.getLogger(__name__)


class Handlers:
    def __init__(self, stores: Stores, hub: Hub, presence: Presence, begin: Begin, clock: Callable[[], float]) -> None:
        self._stores = stores
        self._hub = hub
        self._presence = presence
        self._begin = begin
        self._clock = clock
        self._answering: set[asyncio.Task[None]] = set()

    async def work(self, message: Message) -> None:
        """One message; what is wrong with it the terminal hears too."""
        terminal_id, kind, payload = message
        try:
            match kind:
                case "online":
                    await self._appear(terminal_id, payload)
                case "skills":
                    await self._learn_skills(terminal_id, SkillReport.read(payload))
                case "intent_catalog":
                    await self._learn_catalog(terminal_id, CatalogReport.read(payload))
                case "input":
                    await self._converse(terminal_id, Input.read(payload))
        except InvalidInput as error:
            await self._tell(terminal_id, error)
            raise

    async def finish(self) -> None:
        """The replies to turns that have ended are handed over."""
        if self._answering:
            await asyncio.wait(self._answering)

    async def _appear(self, terminal_id: str, payload: bytes) -> None:
        if payload == b"online":
            async with self._stores.write() as tx:
                await tx.terminals.appear(terminal_id, self._clock())
            await self._tell(terminal_id)

    async def _learn_skills(self, terminal_id: str, report: SkillReport) -> None:
        _own(terminal_id, report)
        # A schema made to be difficult takes up to half a second.
        usable, wrong = await asyncio.to_thread(report.usable)
        if wrong:
            _log.warning("mqtt: skills of %s: %s", terminal_id, wrong.detail)
        skills, version = [skill.model_dump(mode="json") for skill in usable], report.skill_version
        async with self._stores.write() as tx:
            taken = await tx.terminals.report_skills(terminal_id, version, skills, self._clock())
            unbound = await self._bind(tx, terminal_id, report.soul_hint)
        await self._tell(terminal_id, unbound or wrong if taken else _outdated("skill_version", version))

    async def _learn_catalog(self, terminal_id: str, report: CatalogReport) -> None:
        _own(terminal_id, report)
        catalog, version = [intent.model_dump(mode="json") for intent in report.intent_catalog], report.catalog_version
        async with self._stores.write() as tx:
            taken = await tx.terminals.report_catalog(terminal_id, version, catalog, self._clock())
        await self._tell(terminal_id, None if taken else _outdated("catalog_version", version))

    async def _bind(self, tx: Transaction, terminal_id: str, hint: str | None) -> SoulgraphError | None:
        """A hint gives a soul to a terminal that has none; it does not take one away."""
        terminal = await tx.terminals.find(terminal_id)
        if not hint or terminal is None or terminal.soul_id is not None:
            return None
        souls = await tx.souls.called(hint)
        if len(souls) != 1:
            return NotFound("soul", hint) if not souls else InvalidInput(f"{len(souls)} souls are called {hint!r}")
        await tx.terminals.bind(terminal_id, souls[0].soul_id, self._clock())
        return None

    async def _converse(self, terminal_id: str, said: Input) -> None:
        self._presence.seen(terminal_id)
        try:
            answer = await self._begin(terminal_id, said)
        except SoulgraphError as error:
            self._refuse(terminal_id, said, error)
            return
        task = asyncio.create_task(self._answer(terminal_id, said, answer), name=f"reply to {said.input_id}")
        self._answering.add(task)
        task.add_done_callback(self._answered)

    async def _answer(self, terminal_id: str, said: Input, answer: PendingAnswer) -> None:
        try:
            self._hub.reply(Reply.of(said.input_id, terminal_id, await answer, self._clock()))
        except SoulgraphError as error:
            self._refuse(terminal_id, said, error)

    def _refuse(self, terminal_id: str, said: Input, error: SoulgraphError) -> None:
        problem, ts = Problem.of(error), self._clock()
        self._hub.reply(Reply(input_id=said.input_id, terminal_id=terminal_id, problem=problem, ts=ts))

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("mqtt: no %s", task.get_name(), exc_info=error)

    async def _tell(self, terminal_id: str, problem: SoulgraphError | None = None) -> None:
        async with self._stores.read() as tx:
            status = await status_of(tx, terminal_id, self._clock(), problem)
        self._hub.status(status)


async def status_of(tx: Transaction, terminal_id: str, now: float, problem: SoulgraphError | None = None) -> Status:
    terminal = await tx.terminals.find(terminal_id) or Terminal.unknown(terminal_id, now)
    soul = await tx.souls.get(terminal.soul_id) if terminal.soul_id else None
    return Status(
        terminal_id=terminal_id,
        bound=soul is not None,
        soul_id=soul.soul_id if soul else None,
        soul_name=soul.name if soul else None,
        skill_version=terminal.skill_version,
        catalog_version=terminal.catalog_version,
        problem=Problem.of(problem) if problem else None,
        ts=now,
    )


def _own(terminal_id: str, report: Spoken) -> None:
    """A terminal may only speak for itself."""
    if report.terminal_id != terminal_id:
        raise InvalidInput(f"{terminal_id} cannot report for {report.terminal_id[:128]!r}")


def _outdated(name: str, version: int) -> InvalidInput:
    return InvalidInput(f"{name} {version} is older than the known one, which stays")

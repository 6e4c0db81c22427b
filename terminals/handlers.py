"""Handles messages of terminals: reports are stored, inputs start turns, and the terminal gets its status back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from soulgraph.errors import InvalidInput, NotFound, RequestError, SoulgraphError
from soulgraph.senses.intents.catalogs import ReadCatalog
from soulgraph.stores.records import Terminal
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.terminals.hub_port import Hub
from soulgraph.terminals.inbox import Message
from soulgraph.terminals.payloads import Problem, Reply, Status
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import CatalogReport, Input, SkillReport, TerminalReport

PendingAnswer = Awaitable[Mapping[str, Any]]
StartTurn = Callable[[str, Input], Awaitable[PendingAnswer]]
"""Starts a turn at a terminal and returns its answer, to be awaited. Turns of one session run in order."""
CompileSoon = Callable[[ReadCatalog], None]

_log = logging.getLogger(__name__)


class Handlers:
    def __init__(
        self,
        stores: Stores,
        hub: Hub,
        presence: Presence,
        start_turn: StartTurn,
        clock: Callable[[], float],
        compile_soon: CompileSoon,
    ) -> None:
        self._stores = stores
        self._hub = hub
        self._presence = presence
        self._start_turn = start_turn
        self._clock = clock
        self._compile_soon = compile_soon
        self._replying: set[asyncio.Task[None]] = set()

    async def work(self, message: Message) -> None:
        """Handle one message. A RequestError is raised, and also sent to the terminal as the problem in its status."""
        terminal_id, kind, payload = message
        try:
            match kind:
                case "online":
                    await self._handle_online(terminal_id, payload)
                case "skills":
                    await self._handle_skills(terminal_id, SkillReport.read(payload))
                case "intent_catalog":
                    # In a thread: a large one takes long to check, with many patterns seconds.
                    await self._handle_catalog(terminal_id, *await asyncio.to_thread(_read_catalog, payload))
                case "input":
                    await self._handle_input(terminal_id, Input.read(payload))
        except RequestError as error:
            await self._send_status(terminal_id, error)
            raise

    async def finish(self) -> None:
        """Wait until every turn that was started has ended and its reply is queued."""
        if self._replying:
            await asyncio.wait(self._replying)

    async def _handle_online(self, terminal_id: str, payload: bytes) -> None:
        if payload == b"online":  # `offline` needs nothing more: the inbox has noted it in `presence`
            async with self._stores.write() as tx:
                await tx.terminals.appear(terminal_id, self._clock())
            await self._send_status(terminal_id)

    async def _handle_skills(self, terminal_id: str, report: SkillReport) -> None:
        _check_sender(terminal_id, report)
        # In a thread: a schema made to be difficult takes up to half a second to check.
        usable, skill_problem = await asyncio.to_thread(report.usable)
        if skill_problem:
            _log.warning("mqtt: skills of %s: %s", terminal_id, skill_problem.detail)
        skills = [skill.model_dump(mode="json") for skill in usable]
        version = report.skill_version
        async with self._stores.write() as tx:
            accepted = await tx.terminals.report_skills(terminal_id, version, skills, self._clock())
            bind_problem = await self._bind(tx, terminal_id, report.soul_hint)
        problem = bind_problem or skill_problem if accepted else _outdated_version("skill_version", version)
        await self._send_status(terminal_id, problem)

    async def _handle_catalog(self, terminal_id: str, report: CatalogReport, catalog: ReadCatalog) -> None:
        _check_sender(terminal_id, report)
        version = report.catalog_version
        async with self._stores.write() as tx:
            accepted = await tx.terminals.report_catalog(terminal_id, version, catalog.stored, self._clock())
        if accepted:
            self._compile_soon(catalog)
        problem = None if accepted else _outdated_version("catalog_version", version)
        await self._send_status(terminal_id, problem)

    async def _bind(self, tx: Transaction, terminal_id: str, hint: str | None) -> SoulgraphError | None:
        """Bind the soul that the hint names to a terminal that has none; returns why that was not possible.

        A terminal that is bound keeps its soul, whatever the hint.
        """
        terminal = await tx.terminals.find(terminal_id)
        if not hint or terminal is None or terminal.soul_id is not None:
            return None
        souls = await tx.souls.called(hint)
        if len(souls) != 1:
            return NotFound("soul", hint) if not souls else InvalidInput(f"{len(souls)} souls are called {hint!r}")
        await tx.terminals.bind(terminal_id, souls[0].soul_id, self._clock())
        return None

    async def _handle_input(self, terminal_id: str, user_input: Input) -> None:
        self._presence.seen(terminal_id)
        try:
            answer = await self._start_turn(terminal_id, user_input)
        except SoulgraphError as error:
            self._send_problem(terminal_id, user_input, error)
            return
        # Awaited in a task: the next message must not wait for this turn.
        task = asyncio.create_task(
            self._send_reply(terminal_id, user_input, answer), name=f"reply to {user_input.input_id}"
        )
        self._replying.add(task)
        task.add_done_callback(self._on_reply_sent)

    async def _send_reply(self, terminal_id: str, user_input: Input, answer: PendingAnswer) -> None:
        try:
            self._hub.reply(Reply.of(user_input.input_id, terminal_id, await answer, self._clock()))
        except SoulgraphError as error:
            self._send_problem(terminal_id, user_input, error)

    def _send_problem(self, terminal_id: str, user_input: Input, error: SoulgraphError) -> None:
        problem = Problem.of(error)
        ts = self._clock()
        self._hub.reply(Reply(input_id=user_input.input_id, terminal_id=terminal_id, problem=problem, ts=ts))

    def _on_reply_sent(self, task: asyncio.Task[None]) -> None:
        self._replying.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("mqtt: no %s", task.get_name(), exc_info=error)

    async def _send_status(self, terminal_id: str, problem: SoulgraphError | None = None) -> None:
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


def _read_catalog(payload: bytes) -> tuple[CatalogReport, ReadCatalog]:
    report = CatalogReport.read(payload)
    return report, ReadCatalog.of(report.intent_catalog)


def _check_sender(terminal_id: str, report: TerminalReport) -> None:
    """Raise InvalidInput if the report names another terminal than the topic it came on."""
    if report.terminal_id != terminal_id:
        raise InvalidInput(f"{terminal_id} cannot report for {report.terminal_id[:128]!r}")


def _outdated_version(name: str, version: int) -> InvalidInput:
    return InvalidInput(f"{name} {version} is older than the known one, which stays")

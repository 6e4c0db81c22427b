"""The one way to run a turn, for HTTP, MQTT, the OpenAI route, embedding and preview.

Admission, one turn at a time per session, once per input, a time limit, metering, and waking those who do what the
turn leaves behind are here and nowhere else; what differs is only how the graph is run.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.types import Durability

from soulgraph.errors import ModelTimeout, ServerBusy, ShuttingDown, SoulgraphError
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.context import Context, NoTelemetry, Outlets
from soulgraph.nodes.state import TurnEvent, TurnState, Utterance
from soulgraph.runtime.admission import TurnRequest, admit, earlier_turn
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.tracing.trace import traced
from soulgraph.runtime.turn_log import TurnLog
from soulgraph.runtime.turn_stream import CompiledTurn, run_config, stream_turn, trace_ids
from soulgraph.runtime.turns_under_way import TurnsUnderWay
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Turn
from soulgraph.stores.stores import Premise, RehearsalStores
from soulgraph.voices.stop import Stop, current_stop, stoppable

RunGraph = Callable[[Utterance], Awaitable[Answer]]
Observe = Callable[[str, float], None]

_RETRY_AFTER_S = 5
_log = logging.getLogger(__name__)


class TurnRunner:
    """`max_turns` may run at once; None: as many as come. Those that wait for another of their session do not count,
    so it is sessions that are counted."""

    def __init__(
        self,
        graph: CompiledTurn,
        context: Context,
        observe: Observe = lambda outcome, seconds: None,
        max_turns: int | None = None,
    ) -> None:
        self._graph = graph
        self._context = context
        self._observe = observe
        self._max_turns = max_turns
        self.under_way = TurnsUnderWay()
        self._admitting: Counter[str] = Counter()
        self._closing = False

    @property
    def running(self) -> int:
        """How many turns are under way: those that run, those that wait for their session, and those being admitted."""
        return len(self.under_way) + self._admitting.total()

    def require_room(self) -> None:
        """Raise ServerBusy if as many turns are under way as may be; who asks early need not do more than that."""
        busy = len(self.under_way.sessions | self._admitting.keys())
        if self._max_turns is not None and busy >= self._max_turns:
            raise ServerBusy(f"{busy} turns are under way: send this one again later", _RETRY_AFTER_S)

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Admit a turn, then run it in a task of its own, to the end even if nobody listens any more.

        Raises ServerBusy, before anything is read or written, if as many are under way as may be.
        """
        with self._counted(request):
            utterance = await self._admit(request)
        log = TurnLog(utterance["turn_id"])
        place = self._context.locks.hold(utterance["session_id"])  # held now, so that turns run in order
        stop = Stop()
        with stoppable(stop):  # the task inherits it
            turn = self._announced(utterance, request.input_id is not None, place, log)
            task = asyncio.create_task(turn, name=utterance["turn_id"])
        running = RunningTurn(utterance, task, log, stop)
        self.under_way.add(task, running)
        task.add_done_callback(_report)
        return running

    def running_in(self, session_id: str) -> list[RunningTurn]:
        """The turns of a session that are running here or wait for their turn."""
        return self.under_way.of_session(session_id)

    async def run_inside(
        self, request: TurnRequest, graph: CompiledTurn, config: RunnableConfig, durable: bool
    ) -> tuple[Utterance, Answer]:
        """Run a turn as part of a parent graph, in its task: events and interrupts reach the parent.

        `durable` says whether the parent has a checkpointer: then what a turn has in hand is written when a tool
        interrupts it, and not at every step. `max_turns` does not count here: the parent has begun already, and how
        many of it run at once is for its own program to say.
        """
        durability: Durability | None = "exit" if durable else None

        async def run(utterance: Utterance) -> Answer:
            labelled = run_config({**config.get("metadata", {}), **trace_ids(utterance)})
            output = await graph.ainvoke(
                {"utterance": utterance}, labelled, context=self._context, durability=durability
            )
            return cast(Answer, output["answer"])

        utterance = await self._admit(request)
        place = self._context.locks.hold(utterance["session_id"])
        return utterance, await self._turn(utterance, request.input_id is not None, place, run)

    async def rehearse(self, request: TurnRequest, premise: Premise) -> TurnState:
        """The state of a turn just before its model would be asked. Nothing is sent, felt or stored.

        `premise` is what is assumed of the database meanwhile, such as another template.
        """
        stores = RehearsalStores(self._context.stores.database, self._context.stores.zone, premise)
        utterance = await admit(stores, request)
        context = replace(self._context, stores=stores, outlets=Outlets(), telemetry=NoTelemetry(), rehearsing=True)
        config = run_config() | {"run_name": "preview"}
        async with self._context.locks.hold(utterance["session_id"]), self._limited(utterance):
            return cast(
                TurnState,
                await self._rehearsal.ainvoke(
                    {"utterance": utterance},
                    config,
                    context=context,
                    interrupt_before=["tool_loop"],
                    output_keys=["persona", "messages"],
                ),
            )

    async def drain(self, grace_s: float) -> None:
        """Let running turns finish; one that does not is cancelled and has written nothing."""
        self._closing = True
        if running := self.under_way.tasks:
            _log.info("waiting up to %.0f s for %d running turns", grace_s, len(running))
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    @contextmanager
    def _counted(self, request: TurnRequest) -> Iterator[None]:
        """Count a turn from the moment it is asked for: many may be admitted before the first of them runs."""
        session = request.session_id or new_id("unknown")
        self.require_room()
        self._admitting[session] += 1
        try:
            yield
        finally:
            self._admitting -= Counter([session])

    async def _admit(self, request: TurnRequest) -> Utterance:
        if self._closing:
            raise ShuttingDown("no new turns are taken: send this one to the server that follows")
        return await admit(self._context.stores, request)

    async def _turn(
        self, utterance: Utterance, named: bool, place: AbstractAsyncContextManager[None], run: RunGraph
    ) -> Answer:
        """An input that the caller has named may have been answered before: then that answer is given again."""
        began, outcome = time.perf_counter(), "internal_error"
        try:
            async with self._reached(place):
                named = named or utterance.get("replaces") is not None
                earlier = await earlier_turn(self._context.stores, utterance) if named else None
                answer = cast(Answer | None, earlier.answer) if earlier else None
                if answer is None:
                    utterance = _known_as(utterance, earlier)
                    async with self._limited(utterance):
                        answer = await run(utterance)
                    self._tell_others(utterance["user_id"], answer)
            outcome = "ok"
            self._context.outlets.new_jobs.set()
            return answer
        except SoulgraphError as error:
            outcome = error.problem_code
            raise
        except GraphBubbleUp:
            outcome = "interrupted"
            raise
        finally:
            self._observe(outcome, time.perf_counter() - began)

    @asynccontextmanager
    async def _reached(self, place: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
        """The place in the session's queue; while it waits there the turn can be stopped."""
        async with AsyncExitStack() as held:
            async with current_stop().interruptible():
                await held.enter_async_context(place)
            yield

    @asynccontextmanager
    async def _limited(self, utterance: Utterance) -> AsyncIterator[None]:
        """One trace, metered, within the time limit."""
        limit = self._context.limits.turn_timeout_s
        timeout = asyncio.timeout(limit)
        try:
            with traced(trace_ids(utterance), terminal_id=utterance.get("terminal_id")):
                async with self._context.budget.metering(utterance["soul_id"], "turn"), timeout:
                    yield
        except TimeoutError as error:
            if not timeout.expired():  # it is a tool's own, not the turn's
                raise
            raise ModelTimeout(
                f"the turn took longer than {limit:g} s and was not stored: "
                "try again, or raise SOULGRAPH_TURN_TIMEOUT_S",
                turn_id=utterance["turn_id"],
            ) from error

    async def _announced(
        self, utterance: Utterance, named: bool, place: AbstractAsyncContextManager[None], log: TurnLog
    ) -> Answer:
        """The turn, with `done` or `error` as the last event, whatever happens."""
        ran = False

        async def run(utterance: Utterance) -> Answer:
            nonlocal ran
            ran = True
            log.turn_id = utterance["turn_id"]
            return await stream_turn(self._graph, self._context, utterance, log)

        last = TurnEvent(
            "error", SoulgraphError("the turn failed and was not stored; the server's log says why").problem()
        )
        try:
            answer = await self._turn(utterance, named, place, run)
            last = TurnEvent("done", answer)
            return answer
        except SoulgraphError as error:
            last = TurnEvent("error", error.problem())
            raise
        finally:
            if last.event == "done" and not ran:
                log.add_stored(last.data)
            else:
                log.add(last)

    def _tell_others(self, user_id: str, answer: Answer) -> None:
        """All sessions of a soul share its profile, so where the person has another one open it hears of the change."""
        if answer["state_changed"]:
            ids = {"soul_id": answer["soul_id"], "session_id": answer["session_id"], "turn_id": answer["turn_id"]}
            self._context.outlets.listeners.tell(answer["soul_id"], user_id, "state_changed", ids)

    @cached_property
    def _rehearsal(self) -> CompiledTurn:
        """Without a checkpointer: a rehearsal leaves nothing behind."""
        return turn_graph().compile(name="preview")


def _known_as(utterance: Utterance, earlier: Turn | None) -> Utterance:
    """With the id of the turn in which the same input was heard before: it will be stored under that."""
    if earlier is None or utterance.get("replaces") is not None:
        return utterance
    return {**utterance, "turn_id": earlier.turn_id}


def _report(task: asyncio.Task[Answer]) -> None:
    if not task.cancelled() and (error := task.exception()) and not isinstance(error, SoulgraphError):
        _log.error("turn %s failed", task.get_name(), exc_info=error)

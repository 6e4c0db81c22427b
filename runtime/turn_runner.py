"""The one way to run a turn, for HTTP, MQTT, the OpenAI route, embedding and preview.

Admission, one turn at a time per session, once per input, a time limit, metering, and waking those who do what the
turn leaves behind are here and nowhere else; what differs is only how the graph is run.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Durability

from soulgraph.errors import ModelTimeout, ServerBusy, ShuttingDown, SoulgraphError
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.context import Context, NoTelemetry, Outlets
from soulgraph.nodes.state import TurnEvent, TurnInput, TurnOutput, TurnState, Utterance
from soulgraph.runtime.admission import TurnRequest, admit, stored_answer
from soulgraph.runtime.node_events import watching
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.tracing.trace import traced
from soulgraph.stores.stores import Premise, RehearsalStores
from soulgraph.voices.stop import Stop, current_stop, stoppable

CompiledTurn = CompiledStateGraph[TurnState, Context, TurnInput, TurnOutput]
RunGraph = Callable[[Utterance], Awaitable[Answer]]
Observe = Callable[[str, float], None]

_RECURSION_LIMIT = 100
_RETRY_AFTER_S = 5
_STREAMED = ("emotion", "token", "tool", "intent_action")
_log = logging.getLogger(__name__)


class TurnRunner:
    """`max_turns` may run at once; None: as many as come. Those that wait for another of their session do not count."""

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
        self._running: dict[asyncio.Task[Answer], RunningTurn] = {}
        self._admitting = self._waiting = 0
        self._closing = False

    @property
    def running(self) -> int:
        """How many turns are under way: those that run, those that wait for their session, and those being admitted."""
        return len(self._running) + self._admitting

    def require_room(self) -> None:
        """Raise ServerBusy if as many turns are under way as may be; who asks early need not do more than that."""
        busy = self.running - self._waiting
        if self._max_turns is not None and busy >= self._max_turns:
            raise ServerBusy(f"{busy} turns are under way: send this one again later", _RETRY_AFTER_S)

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Admit a turn, then run it in a task of its own, to the end even if nobody listens any more.

        Raises ServerBusy, before anything is read or written, if as many are under way as may be.
        """
        with self._counted():
            utterance = await self._admit(request)
        events: asyncio.Queue[TurnEvent] = asyncio.Queue()
        place = self._queued(self._context.locks.hold(utterance["session_id"]))  # held now, so that turns run in order
        stop = Stop()
        with stoppable(stop):  # the task inherits it
            turn = self._announced(utterance, request.input_id is not None, place, events)
            task = asyncio.create_task(turn, name=utterance["turn_id"])
        self._running[task] = RunningTurn(utterance, task, events, stop)
        task.add_done_callback(self._finished)
        return self._running[task]

    def running_in(self, session_id: str) -> list[RunningTurn]:
        """The turns of a session that are running here or wait for their turn."""
        return [turn for turn in self._running.values() if turn.utterance["session_id"] == session_id]

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
            run_config = _run_config(utterance, config.get("metadata", {}))
            output = await graph.ainvoke(
                {"utterance": utterance}, run_config, context=self._context, durability=durability
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
        config = _run_config(utterance, {}) | {"run_name": "preview"}
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
        if self._running:
            _log.info("waiting up to %.0f s for %d running turns", grace_s, len(self._running))
            _, late = await asyncio.wait(self._running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    @asynccontextmanager
    async def _queued(self, place: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
        """The place in the session's queue; who waits there costs nothing."""
        async with AsyncExitStack() as held:
            self._waiting += 1
            try:
                await held.enter_async_context(place)
            finally:
                self._waiting -= 1
            yield

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a turn from the moment it is asked for: many may be admitted before the first of them runs."""
        self.require_room()
        self._admitting += 1
        try:
            yield
        finally:
            self._admitting -= 1

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
                answer = await stored_answer(self._context.stores, utterance) if named else None
                if answer is None:
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
            with traced(awaits="exec_mode", terminal_id=utterance.get("terminal_id")):
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
        self,
        utterance: Utterance,
        named: bool,
        place: AbstractAsyncContextManager[None],
        events: asyncio.Queue[TurnEvent],
    ) -> Answer:
        """The turn, with `done` or `error` as the last event, whatever happens."""
        ran = False

        async def run(utterance: Utterance) -> Answer:
            nonlocal ran
            ran = True
            return await self._stream(utterance, events)

        last = TurnEvent(
            "error", SoulgraphError("the turn failed and was not stored; the server's log says why").problem()
        )
        try:
            answer = await self._turn(utterance, named, place, run)
            if not ran:
                events.put_nowait(TurnEvent("token", {"text": answer["reply"]}))
            last = TurnEvent("done", answer)
            return answer
        except SoulgraphError as error:
            last = TurnEvent("error", error.problem())
            raise
        finally:
            events.put_nowait(last)

    async def _stream(self, utterance: Utterance, events: asyncio.Queue[TurnEvent]) -> Answer:
        """The answer is the graph's output. From its stream only events of our own nodes are passed on."""
        answer: Answer | None = None
        nodes = watching(self._context, "turn", utterance["user_id"], cast(Mapping[str, str], utterance))
        parts = self._graph.astream(
            {"utterance": utterance},
            {**_run_config(utterance, {}), "configurable": {"thread_id": utterance["session_id"]}},
            context=self._context,
            stream_mode=["custom", "values", "tasks"] if nodes else ["custom", "values"],
            durability="exit",
            subgraphs=True,
            version="v2",
        )
        async for part in nodes.followed(parts) if nodes else parts:
            if part["type"] == "custom":
                event = part["data"]
                if isinstance(event, TurnEvent) and event.event in _STREAMED:
                    events.put_nowait(event)
            elif part["type"] == "values" and not part["ns"]:
                answer = part["data"].get("answer", answer)
            elif nodes and part["type"] == "tasks":
                nodes.tell(part["ns"], part["data"])
        assert answer is not None, "a turn that ends has an answer"
        return answer

    def _tell_others(self, user_id: str, answer: Answer) -> None:
        """All sessions of a soul share its profile, so where the person has another one open it hears of the change."""
        if answer["state_changed"]:
            ids = {"soul_id": answer["soul_id"], "session_id": answer["session_id"], "turn_id": answer["turn_id"]}
            self._context.outlets.listeners.tell(answer["soul_id"], user_id, "state_changed", ids)

    def _finished(self, task: asyncio.Task[Answer]) -> None:
        del self._running[task]
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, SoulgraphError):
            _log.error("turn %s failed", task.get_name(), exc_info=error)

    @cached_property
    def _rehearsal(self) -> CompiledTurn:
        """Without a checkpointer: a rehearsal leaves nothing behind."""
        return turn_graph().compile(name="preview")


def _run_config(utterance: Utterance, metadata: dict[str, object]) -> RunnableConfig:
    """What a trace finds the turn by."""
    ids = {name: utterance[name] for name in ("session_id", "soul_id", "turn_id")}
    return {"metadata": {**metadata, **ids}, "run_name": "turn", "recursion_limit": _RECURSION_LIMIT}

"""Running turns: one at a time per session, once per input, to the end even if nobody listens any more."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from soulgraph.errors import ModelTimeout, ShuttingDown, SoulgraphError
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Json, Said, TurnInput, TurnOutput, TurnState
from soulgraph.runtime.admission import TurnRequest, admitted, answered, names_of
from soulgraph.runtime.budget import metering
from soulgraph.runtime.tracing.trace import traced
from soulgraph.stores.locks import SessionLocks

CompiledTurn = CompiledStateGraph[TurnState, Context, TurnInput, TurnOutput]
Observe = Callable[[str, float], None]

_RECURSION_LIMIT = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """What a listener hears while a turn runs; `done` or `error` is the last."""

    event: Literal["emotion", "token", "tool", "intent_action", "done", "error"]
    data: Json


class RunningTurn:
    """A turn under way: listen to its events, or just wait for its answer. It goes on without you."""

    def __init__(self, said: Said, task: asyncio.Task[Json], events: asyncio.Queue[Event]) -> None:
        self.said = said
        self._task = task
        self._events = events

    async def answer(self) -> Json:
        return await asyncio.shield(self._task)

    async def events(self, timeout_s: float) -> AsyncIterator[Event | None]:
        """Events as they come, and None whenever nothing has come for `timeout_s`."""
        last = False
        while not last:
            event = None
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    event = await self._events.get()
            yield event
            last = event is not None and event.event in ("done", "error")


class TurnRunner:
    def __init__(
        self,
        graph: CompiledTurn,
        context: Context,
        locks: SessionLocks,
        timeout_s: float,
        observe: Observe,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self._graph = graph
        self._context = context
        self._locks = locks
        self._timeout_s = timeout_s
        self._observe = observe
        self._after = after
        self._running: set[asyncio.Task[Json]] = set()
        self._closing = False

    @property
    def running(self) -> int:
        return len(self._running)

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Check and admit a turn, then run it in a task of its own."""
        if self._closing:
            raise ShuttingDown("no new turns are taken: send this one to the server that follows")
        said = await admitted(self._context, request)
        events: asyncio.Queue[Event] = asyncio.Queue()
        place = self._locks.hold(said["session_id"])
        named = request.input_id is not None
        task = asyncio.create_task(self._run(said, named, place, events), name=said["turn_id"])
        self._running.add(task)
        task.add_done_callback(self._finished)
        return RunningTurn(said, task, events)

    async def drain(self, grace_s: float) -> None:
        """Let running turns finish; one that does not is cancelled and has written nothing."""
        self._closing = True
        if self._running:
            _log.info("waiting up to %.0f s for %d running turns", grace_s, len(self._running))
            _, late = await asyncio.wait(self._running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _finished(self, task: asyncio.Task[Json]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, SoulgraphError):
            _log.error("turn %s failed", task.get_name(), exc_info=error)

    async def _run(
        self, said: Said, named: bool, place: AbstractAsyncContextManager[None], events: asyncio.Queue[Event]
    ) -> Json:
        """An input that the caller has named may have been answered before."""
        began, outcome = time.perf_counter(), "internal_error"
        try:
            async with place:
                answer = await (self._once(said, events) if named else self._anew(said, events))
            outcome = "ok"
            self._after()
            events.put_nowait(Event("done", answer))
            return answer
        except SoulgraphError as error:
            outcome = error.problem_code
            events.put_nowait(Event("error", error.problem()))
            raise
        finally:
            if outcome == "internal_error":
                unforeseen = SoulgraphError("the turn failed and was not stored; the server's log says why")
                events.put_nowait(Event("error", unforeseen.problem()))
            self._observe(outcome, time.perf_counter() - began)

    async def _once(self, said: Said, events: asyncio.Queue[Event]) -> Json:
        """The stored answer if this input was answered before, else a new one."""
        if known := await answered(self._context, said):
            events.put_nowait(Event("token", {"text": known["reply"]}))
            return known
        return await self._anew(said, events)

    async def _anew(self, said: Said, events: asyncio.Queue[Event]) -> Json:
        try:
            with traced(awaits="exec_mode", terminal_id=said.get("terminal_id")):
                async with metering(self._context, said["soul_id"], "turn"), asyncio.timeout(self._timeout_s):
                    return await self._stream(said, events)
        except TimeoutError as error:
            raise ModelTimeout(
                f"the turn took longer than {self._timeout_s:g} s and was not stored: "
                "try again, or raise SOULGRAPH_TURN_TIMEOUT_S",
                turn_id=said["turn_id"],
            ) from error

    async def _stream(self, said: Said, events: asyncio.Queue[Event]) -> Json:
        """`done` is held back until the graph has ended: only then is the checkpoint written too."""
        answer: Json = {}
        async for part in self._graph.astream(
            {"said": said},
            _config(said),
            context=self._context,
            stream_mode=["custom"],
            durability="exit",
            subgraphs=True,
            version="v2",
        ):
            event = _event(part["data"])
            if event and event.event == "done":
                answer = event.data
            elif event:
                events.put_nowait(event)
        if answer.get("state_changed"):
            self._tell_others(answer)
        return answer

    def _tell_others(self, answer: Json) -> None:
        """All sessions of a soul share its profile, so whoever has it open hears that it has changed."""
        where = {key: answer[key] for key in ("soul_id", "session_id", "turn_id")}
        self._context.listeners.tell(answer["soul_id"], "state_changed", where)


def _event(written: Any) -> Event | None:
    """What a node of ours wrote to the stream; tools of others may write there too."""
    if isinstance(written, dict) and written.keys() == {"event", "data"}:
        return Event(**written)
    return None


def _config(said: Said) -> RunnableConfig:
    return {
        "configurable": {"thread_id": said["session_id"]},
        "metadata": names_of(said),
        "run_name": "turn",
        "recursion_limit": _RECURSION_LIMIT,
    }

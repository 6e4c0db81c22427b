"""Which nodes run is told to those who asked, and a graph that nobody watches runs as it always did."""

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from soulgraph.nodes.context import Outlets
from soulgraph.runtime.listeners import Listeners, Subscription
from soulgraph.runtime.node_events import run_watched, watching
from soulgraph.tests.nodes.samples import CALM, small_context

IDS = {"soul_id": "soul_1", "session_id": "sess_1", "turn_id": "turn_1", "text": "look, a cat"}


class State(TypedDict, total=False):
    given: object
    slept: bool


async def look(state: State) -> State:
    return {"given": state["given"]}


async def sleep(_: State) -> State:
    await asyncio.sleep(0.05)
    return {"slept": True}


async def fail(_: State) -> State:
    raise ZeroDivisionError("of the node")


def graph(*nodes):
    built = StateGraph(State)
    for before, node in zip((START, *(one.__name__ for one in nodes)), nodes, strict=False):
        built.add_node(node).add_edge(before, node.__name__)
    return built.add_edge(nodes[-1].__name__, END).compile(name="afterglow")


class World:
    def __init__(self):
        self.listeners = Listeners()
        self.context = replace(small_context(clock=lambda: 7.0), outlets=Outlets(listeners=self.listeners))

    async def run(self, given, *nodes):
        """What an owner hears of a run."""
        with self.listeners.connect() as line:
            self.listeners.follow(line, Subscription("soul_1", nodes=True, is_owner=True))
            try:
                told = watching(self.context, "afterglow", "ann", IDS)
                await run_watched(graph(*nodes), {"given": given}, {}, self.context, told)
            finally:
                self.heard = [one.data for one in line._pending if one.event == "node"]
        return self.heard


@pytest.fixture
def world():
    return World()


async def test_each_node_is_told_when_it_begins_and_ends_with_its_time_and_what_it_returned(world):
    events = await world.run("a cat", look, sleep)
    told = {"graph": "afterglow", **IDS, "at": "1970-01-01T00:00:07.000Z"}
    begins = [told | {"node": name, "phase": "start"} for name in ("look", "sleep")]
    assert [one for one in events if one["phase"] == "start"] == begins
    first, last = [one for one in events if one["phase"] == "end"]
    assert first == told | {"node": "look", "phase": "end", "ms": first["ms"], "update": {"given": "a cat"}}
    assert (last["node"], last["update"]) == ("sleep", {"slept": True})
    assert first["ms"] >= 0
    assert last["ms"] >= 45


async def test_a_node_that_fails_is_told_with_its_error_and_the_error_is_raised(world):
    with pytest.raises(ZeroDivisionError):
        await world.run("x", look, fail)
    assert [(one["node"], one["phase"]) for one in world.heard][2:] == [("fail", "start"), ("fail", "end")]
    assert "of the node" in world.heard[-1]["update"]["error"]
    assert world.heard[-1]["failed"]


async def test_a_run_that_is_broken_off_leaves_no_node_running(world):
    begun = asyncio.Event()

    async def hang(_: State) -> State:
        begun.set()
        await asyncio.Event().wait()

    run = asyncio.create_task(world.run("x", look, hang))
    await begun.wait()
    run.cancel()
    await asyncio.wait([run])
    end = world.heard[-1]
    assert (end["node"], end["phase"], end["failed"]) == ("hang", "end", True)
    assert end["ms"] >= 0
    assert "broken off" in end["update"]["error"]


LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "given",
    [
        "长" * 100_000,
        ["x" * 5000] * 5000,
        {f"key {n}": list(range(1000)) for n in range(1000)},
        {"deep": [[[["x" * 300] * 99] * 99] * 99]},
    ],
)
async def test_however_much_a_node_returns_what_is_told_of_it_is_small(world, given):
    [_, end] = await world.run(given, look)
    assert len(json.dumps(end["update"], ensure_ascii=False).encode()) <= 16_500
    assert "+" in str(end["update"]) or "too large" in str(end["update"])


async def test_whatever_a_node_returns_can_be_told(world):
    odd = {"emotion": CALM, "said": [AIMessage("hi")], "bytes": b"\xff", "nan": float("nan"), "what": object()}
    [_, end] = await world.run(odd, look)
    told = json.loads(json.dumps(end["update"], allow_nan=False))["given"]
    assert told["emotion"]["p"] == CALM.p
    assert told["said"][0]["content"] == "hi"
    [_, end] = await world.run(LOOP, look)
    assert "cannot be shown" in end["update"]["problem"]


async def test_a_graph_that_nobody_watches_is_not_asked_for_its_tasks(world):
    calls = []

    async def ainvoke(*_, **__):
        calls.append("ainvoke")

    with world.listeners.connect() as line:
        world.listeners.follow(line, Subscription("soul_1"))
        world.listeners.follow(line, Subscription("soul_2", nodes=True))
        told = watching(world.context, "afterglow", "ann", IDS)
        assert told is None
        await run_watched(SimpleNamespace(ainvoke=ainvoke), {}, {}, world.context, told)
    assert calls == ["ainvoke"]

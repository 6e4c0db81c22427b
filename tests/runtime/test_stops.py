"""Orders to stop reach the turns of every server, and each decides by itself whether they are obeyed."""

import asyncio

import pytest

from soulgraph.runtime import stops as module
from soulgraph.runtime.stops import StopOrder, Stops
from soulgraph.tests.runtime.test_interest import Wire

ALL = StopOrder("s", None, None, False, ())


class Turn:
    def __init__(self, turn_id, **fields):
        self.turn_id = turn_id
        self.utterance = {"turn_id": turn_id, "input_id": turn_id, "user_id": "ann", "soul_id": "a", **fields}
        self.stopped = False

    def stop(self):
        self.stopped = True


class Runner:
    def __init__(self, *turns):
        self.turns = turns

    def running_in(self, session_id):
        return list(self.turns) if session_id == "s" else []


class Known:
    """The other servers, as interest knows them."""

    def __init__(self, *servers):
        self.servers = set(servers)


@pytest.fixture
def wire():
    return Wire()


async def ask(wire, stops, order):
    asking = asyncio.create_task(stops.stop(order))
    await asyncio.sleep(0)
    await wire.carry()
    return await asking


async def test_turns_of_all_servers_are_stopped_and_named(wire):
    here, there = Turn("one"), Turn("two")
    stops = Stops(wire.bus(), Known("server1"), Runner(here))
    Stops(wire.bus(), Known("server0"), Runner(there))
    assert await ask(wire, stops, ALL) == ["one", "two"]
    assert here.stopped and there.stopped
    assert await ask(wire, stops, ALL._replace(session_id="other")) == []


async def test_one_that_is_found_here_by_its_input_is_not_looked_for_elsewhere(wire):
    stops = Stops(wire.bus(), Known("server1"), Runner(Turn("one")))
    assert await stops.stop(ALL._replace(input_id="one")) == ["one"]
    assert wire.messages == []


async def test_a_server_that_does_not_answer_is_not_waited_for(wire, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT_S", 0.01)
    stops = Stops(wire.bus(), Known("server1", "killed"), Runner())
    Stops(wire.bus(), Known("server0", "killed"), Runner(Turn("two")))
    assert await ask(wire, stops, ALL) == ["two"]


@pytest.mark.parametrize(
    ("order", "is_covered"),
    [
        (ALL, True),
        (ALL._replace(person="ann"), True),
        (ALL._replace(person="bob"), False),
        (ALL._replace(input_id="one"), True),
        (ALL._replace(input_id="two"), False),
        (ALL._replace(soul_ids=("a", "b")), True),
        (ALL._replace(soul_ids=("b",)), False),
        (ALL._replace(is_nobody=True), False),
    ],
)
def test_who_may_stop_a_turn(order, is_covered):
    assert order.covers(Turn("one").utterance) is is_covered


def test_a_terminal_that_is_nobody_stops_what_is_said_at_terminals():
    assert ALL._replace(is_nobody=True).covers(Turn("one", terminal_id="lamp").utterance)

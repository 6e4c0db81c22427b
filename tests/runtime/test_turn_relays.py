"""A turn that is followed from another server: nothing is lost or doubled, whatever the bus loses."""

import asyncio
import json
import random
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime import followed_turn, turn_relays
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.silence import WaitIntervals
from soulgraph.runtime.turn_log import EventId, TurnLog
from soulgraph.runtime.turn_relays import TurnRelays
from soulgraph.runtime.turns_under_way import TurnsUnderWay
from soulgraph.tests.nodes.samples import utterance
from soulgraph.voices.stop import Stop

FEELING = TurnEvent("emotion", {"p": 0.1})
TOOL = TurnEvent("tool", {"name": "recall_memory", "arguments": {}})


def token(text):
    return TurnEvent("token", {"text": text})


class Wire:
    """What servers hear of each other; `loses` says of each message to another server whether it is lost."""

    def __init__(self, loses=lambda: False):
        self.servers, self.loses, self.sent = [], loses, []


class Bus:
    def __init__(self, wire, server_id):
        self.server_id, self.wire, self.handlers, self.gaps, self.is_dead = server_id, wire, [], [], False
        wire.servers.append(self)

    def publish(self, topic, data):
        text = json.dumps(data)
        self.wire.sent.append((self.server_id, topic, text))
        for server in [] if self.is_dead else self.wire.servers:
            if server is self or not (server.is_dead or self.wire.loses()):
                server.hear(topic, text)

    def hear(self, topic, text):
        for subscribed, handler in self.handlers:
            if subscribed == topic:
                asyncio.get_running_loop().call_soon(handler, json.loads(text))

    def subscribe(self, topic, handler):
        self.handlers.append((topic, handler))

    def on_gap(self, handler):
        self.gaps.append(handler)


class Others:
    """The other servers that are alive, as far as anybody knows."""

    def __init__(self, wire, bus):
        self.wire, self.bus = wire, bus

    @property
    def servers(self):
        return {server.server_id for server in self.wire.servers if server is not self.bus}


class Server:
    def __init__(self, wire, name):
        self.bus, self.turns = Bus(wire, name), TurnsUnderWay()
        self.relays = TurnRelays(self.bus, Others(wire, self.bus), self.turns)

    def run(self, said):
        """A turn that lasts until `end` is called with its last event."""
        log, ended = TurnLog(said["turn_id"]), asyncio.Event()

        async def last():
            await ended.wait()
            if log._others[-1].event == "error":
                raise asyncio.CancelledError
            return {}

        task = asyncio.create_task(last())
        self.turns.add(task, RunningTurn(said, task, log, Stop()))

        def end(event):
            log.add(event)
            ended.set()

        return log, end


@asynccontextmanager
async def two_servers(loses=lambda: False):
    wire = Wire(loses)
    one, other = Server(wire, "a"), Server(wire, "b")
    async with asyncio.timeout(30), one.relays.running(), other.relays.running():
        yield one, other


@pytest.fixture(autouse=True, scope="module")
def quick():
    """The same in a hundredth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_relays, "_BATCH_S", 0.0002)
        patch.setattr(turn_relays, "_ANSWER_S", 0.05)
        patch.setattr(turn_relays, "_LEASE_S", 0.5)
        patch.setattr(turn_relays, "_CLOSE_S", 0.01)
        patch.setattr(followed_turn, "_RENEW_S", 0.01)
        patch.setattr(followed_turn, "_LOST_S", 0.2)
        patch.setattr(turn_relays, "WAIT_INTERVALS", WaitIntervals(0.02, 0.02))
        yield


SAID = utterance() | {"turn_id": "turn_1", "input_id": "in_1"}
DONE = TurnEvent("done", {"reply": "I hear you."})


async def heard(followed):
    return [event async for event in followed.events()]


def names(events):
    return [event.event for event in events if event.event != "waiting"]


def words(events):
    return "".join(event.data["text"] for event in events if event.event == "token")


async def test_what_came_before_and_what_comes_is_heard_on_the_other_server():
    async with two_servers() as (one, other):
        log, end = one.run(SAID)
        log.add(FEELING)
        log.add(token("I he"))
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        reading = asyncio.create_task(heard(followed))
        await asyncio.sleep(0.01)
        for piece in ("ar", " you", "."):
            log.add(token(piece))
            await asyncio.sleep(0.005)
        end(DONE)
        events = await reading
        assert [event for event in events if event.event != "waiting"][-1].data == DONE.data
        assert words(events) == "I hear you."
        assert names(events)[0] == "emotion"
        assert not other.relays._followed
        await asyncio.sleep(0.02)
        assert not one.relays._relays


async def test_it_goes_on_after_the_event_that_was_heard_last():
    async with two_servers() as (one, other):
        log, end = one.run(SAID)
        for event in (FEELING, token("I he")):
            log.add(event)
        read = [event async for event in _first(log, 2)][-1]
        log.add(token("ar you."))
        followed = await other.relays.follow_turn("turn_1", EventId.parse(read.id), lambda ids: True)
        end(DONE)
        events = [event for event in await heard(followed) if event.event != "waiting"]
        assert [(event.event, event.data.get("text")) for event in events] == [("token", "ar you."), ("done", None)]


async def test_one_that_has_ended_well_is_not_under_way_any_more():
    async with two_servers() as (one, other):
        _, end = one.run(SAID)
        end(DONE)
        await asyncio.sleep(0.001)
        assert await other.relays.follow_turn("turn_1", None, lambda ids: True) is None


async def test_what_comes_quickly_goes_in_few_messages(monkeypatch):
    monkeypatch.setattr(turn_relays, "_BATCH_S", 0.02)
    async with two_servers() as (one, other):
        log, end = one.run(SAID)
        log.add(FEELING)
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        reading = asyncio.create_task(heard(followed))
        for _ in range(200):
            log.add(token("word "))
            await asyncio.sleep(0)
        end(DONE)
        events = await reading
    assert words(events) == "word " * 200
    assert len(names(events)) < 20


async def test_a_turn_that_has_failed_is_told_for_a_while():
    async with two_servers() as (one, other):
        log, end = one.run(SAID)
        log.add(FEELING)
        end(TurnEvent("error", {"code": "turn_stopped"}))
        await asyncio.sleep(0.001)
        assert one.turns.running(SAID) is None
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        assert names(await heard(followed)) == ["emotion", "error"]


async def test_nobody_has_it():
    async with two_servers() as (one, other):
        one.run(SAID | {"user_id": "somebody_else"})
        assert await other.relays.follow_input(SAID, EventId("turn_1")) is None
        assert await other.relays.follow_turn("turn_2", None, lambda ids: True) is None
        assert not other.relays._followed


async def test_who_is_alone_asks_nobody():
    wire = Wire()
    server = Server(wire, "a")
    assert await server.relays.follow_turn("turn_1", None, lambda ids: True) is None
    assert wire.sent == []


async def test_who_may_not_hear_it_has_not_found_it():
    async with two_servers() as (one, other):
        one.run(SAID)
        asked = []
        assert await other.relays.follow_turn("turn_1", None, asked.append) is None
        assert [ids["user_id"] for ids in asked] == [SAID["user_id"]]
        assert not other.relays._followed


async def test_when_its_server_dies_the_events_break_off():
    async with two_servers() as (one, other):
        log, _ = one.run(SAID)
        log.add(token("I he"))
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        reading = asyncio.create_task(heard(followed))
        await asyncio.sleep(0.02)
        one.bus.is_dead = True
        events = await reading
        assert words(events) == "I he"
        assert not any(event.is_last for event in events)
        assert not other.relays._followed


async def test_nothing_is_sent_any_more_when_the_follower_is_gone():
    async with two_servers() as (one, other):
        log, _ = one.run(SAID)
        log.add(FEELING)
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        followed.close()
        while one.relays._relays:
            await asyncio.sleep(0.01)


async def test_after_a_gap_it_is_asked_for_at_once(monkeypatch):
    monkeypatch.setattr(followed_turn, "_RENEW_S", 60.0)
    lost = []
    async with two_servers(lambda: bool(lost)) as (one, other):
        log, end = one.run(SAID)
        log.add(FEELING)
        followed = await other.relays.follow_input(SAID, EventId("turn_1"))
        reading = asyncio.create_task(heard(followed))
        await asyncio.sleep(0.01)
        lost.append(True)
        log.add(token("I hear "))
        await asyncio.sleep(0.01)
        lost.clear()
        for told_of_gap in other.bus.gaps:
            told_of_gap()
        await asyncio.sleep(0.01)
        log.add(token("you."))
        end(DONE)
        assert words(await reading) == "I hear you."


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=30), st.integers(0, 10**6), st.booleans())
def test_cut_anywhere_on_a_bus_that_loses_messages_every_character_comes_exactly_once(pieces, seed, lossy):
    asyncio.run(_cut_and_resume(pieces, random.Random(seed), 0.2 if lossy else 0))


async def _cut_and_resume(pieces, rng, loss):
    """The follower leaves after some events and comes back, here or there, while the turn goes on."""
    async with two_servers(lambda: rng.random() < loss) as (one, other):
        log, end = one.run(SAID)
        log.add(FEELING)

        async def speak():
            for piece in pieces:
                log.add(TOOL if rng.random() < 0.1 else FEELING)
                log.add(token(piece))
                await asyncio.sleep(0)
            await asyncio.sleep(0.02)
            reading_on.set()

        reading_on = asyncio.Event()
        speaking = asyncio.create_task(speak())
        read, after = [], EventId("turn_1")
        while not reading_on.is_set():
            after = await _read_some(rng.choice([one, other]), after, rng.randint(1, 4), read)
        await speaking
        end(TurnEvent("error", {}))
        while not read or read[-1].event != "error":
            after = await _read_some(other, after, 99, read)
    assert "restart" not in names(read)
    assert words(read) == "".join(pieces)
    assert len(read) == len({event.id for event in read})


async def _read_some(server, after, count, read):
    turn = server.turns.find_input(SAID) or await server.relays.follow_input(SAID, after)
    if turn is None:
        return after  # the answer was lost
    events = turn.events(WaitIntervals(0.001, 0.001), after)
    async for event in events:
        count -= 1
        after = EventId.parse(event.id)
        if event.event != "waiting":
            read.append(event)
        if not count or event.is_last or event.event == "waiting":
            break
    await events.aclose()
    return after


async def _first(log, count):
    async for event in log.read(None, WaitIntervals(60, 60)):
        yield event
        count -= 1
        if not count:
            return

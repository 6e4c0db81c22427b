"""Servers know of each other who listens where, as it is now, and forget one that is gone."""

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack

import pytest

from soulgraph.runtime.interest import FORGET_S, Interest
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.notices import Subscription
from soulgraph.tests.stores.samples import session

ANN = Subscription("a", "ann")


class Wire:
    """Carries what any of its buses publishes to all of them, in one order, as soon as it is told to."""

    def __init__(self):
        self.buses, self.messages = [], []

    def bus(self):
        self.buses.append(WireBus(self, f"server{len(self.buses)}"))
        return self.buses[-1]

    async def carry(self):
        """Until nobody has anything to say."""
        while self.messages or await self._is_more():
            topic, data = self.messages.pop(0)
            for bus in self.buses:
                for handler in bus.handlers[topic]:
                    handler(data)

    async def _is_more(self):
        await asyncio.sleep(0)
        return bool(self.messages)


class WireBus:
    def __init__(self, wire, server_id):
        self.wire, self.server_id = wire, server_id
        self.handlers, self.gap_handlers = defaultdict(list), []

    def publish(self, topic, data):
        self.wire.messages.append((topic, data))

    def subscribe(self, topic, handler):
        self.handlers[topic].append(handler)

    def on_gap(self, handler):
        self.gap_handlers.append(handler)

    def lose(self):
        for handler in self.gap_handlers:
            handler()


@pytest.fixture
def wire():
    return Wire()


async def test_what_changes_is_known_elsewhere_at_once(wire):
    one, two = Interest(wire.bus()), Interest(wire.bus())
    one.add(ANN)
    one.add(ANN)
    one.add(Subscription("a", None, nodes=True, is_owner=True))
    await wire.carry()
    assert (two.count("a", "proactive", ["ann"]), two.count("a", "proactive", ["bob"])) == (3, 1)
    assert (two.count("a", "node", ["ann"]), two.count("b", "proactive", ["ann"])) == (1, 0)
    assert two.subscriptions == {ANN, Subscription("a", None, nodes=True, is_owner=True)}
    assert one.count("a", "proactive", ["ann"]) == 0, "those of its own are none of the others"
    one.remove(ANN)
    await wire.carry()
    assert two.count("a", "proactive", ["ann"]) == 2
    one.remove(ANN)
    await wire.carry()
    assert ANN not in two.subscriptions


async def test_a_server_that_starts_later_hears_who_listens(wire):
    one = Interest(wire.bus())
    one.add(ANN)
    await wire.carry()
    async with AsyncExitStack() as stack:
        two = Interest(wire.bus())
        await stack.enter_async_context(two.running())
        await wire.carry()
        assert two.count("a", "proactive", ["ann"]) == 1
        assert (one.servers, two.servers) == ({"server1"}, {"server0"})
    await wire.carry()
    assert one.servers == set(), "it has said that it goes"


async def test_a_server_that_is_silent_is_forgotten_and_known_again_when_it_speaks(wire):
    now = 0.0
    one, two = Interest(wire.bus()), Interest(wire.bus(), clock=lambda: now)
    one.add(ANN)
    await wire.carry()
    now = FORGET_S - 1
    await one._beat()
    await wire.carry()
    now += FORGET_S - 1
    assert two.count("a", "proactive", ["ann"]) == 1
    now += 2
    assert (two.count("a", "proactive", ["ann"]), two.servers) == (0, set())
    await one._beat()
    await wire.carry()
    assert two.count("a", "proactive", ["ann"]) == 1, "it was asked for everything"


async def test_after_a_gap_everything_is_asked_for_again(wire):
    one, two = Interest(wire.bus()), Interest(wire.bus())
    one.add(ANN)
    await asyncio.sleep(0)
    wire.messages.clear()  # lost
    wire.buses[1].lose()
    await wire.carry()
    assert two.count("a", "proactive", ["ann"]) == 1


async def frames(listener):
    """What was told so far."""
    heard = []
    async for one in listener.events(0.01):
        if one is None:
            break
        heard.append(one)
    return heard


async def test_a_notice_is_heard_on_every_server_and_counted_on_its_own(wire):
    one, two = Listeners(wire.bus()), Listeners(wire.bus())
    with two.listen("a", "ann") as ann, one.listen("a") as owner:
        await wire.carry()
        assert one.reaches("a", "ann") == two.reaches("a", "ann") == 2
        assert one.tell("a", "ann", "proactive", {"n": 1}) == 2
        assert one.tell("a", "bob", "proactive", {"n": 2}) == 1
        assert one.tell("b", "ann", "proactive", {"n": 3}) == 0
        await wire.carry()
        assert [each.data["n"] for each in await frames(ann)] == [1]
        assert [each.data["n"] for each in await frames(owner)] == [1, 2]


async def test_feelings_and_nodes_go_to_others_only_if_somebody_there_hears_them(wire):
    one, two = Listeners(wire.bus()), Listeners(wire.bus())
    with one.connect() as here, two.connect() as there:
        one.follow(here, Subscription("a", "ann", nodes=True))
        await wire.carry()
        one.emotion_changed({"soul_id": "a", "mood": 1})
        one.tell_node("a", "ann", {"node": "gate"})
        assert wire.messages == []
        assert [each.event for each in await frames(here)] == ["listening", "emotion_update", "node"]
        two.follow(there, Subscription("a", nodes=True, is_owner=True))
        await wire.carry()
        assert (one.hears_emotion("a"), one.hears_nodes("a"), one.watched) == (True, True, {"a"})
        one.emotion_changed({"soul_id": "a", "mood": 2})
        one.tell_node("a", "ann", {"node": "gate"}, lambda: {"prompt": "secret"})
        await wire.carry()
        assert [each.data for each in (await frames(there))[1:]] == [
            {"soul_id": "a", "mood": 2},
            {"node": "gate", "update": {"prompt": "secret"}},
        ]
        assert [each.data for each in await frames(here)] == [{"soul_id": "a", "mood": 2}, {"node": "gate"}]
        one.tell_emotion_here({"soul_id": "a", "mood": 3})
        assert wire.messages == []
    await wire.carry()
    assert not one.hears_emotion("a")


async def test_two_servers_that_see_a_terminal_come_tell_it_once_and_that_it_goes_once(wire):
    servers = [Listeners(wire.bus()) for _ in range(2)]
    with servers[0].connect() as here, servers[1].connect() as there:
        for server, line in zip(servers, (here, there), strict=True):
            server.follow(line, Subscription("a"))
        await wire.carry()
        for online, at in ((True, "1"), (False, "2"), (True, "3")):
            for server in servers:  # at the same moment, before either has heard of the other
                server.presence_changed("a", "lamp", online, at)
            await wire.carry()
            servers[1].presence_changed("a", "lamp", online, "later")
            assert wire.messages == []
        told = [[(one.id, one.data["online"]) for one in (await frames(line))[1:]] for line in (here, there)]
        assert told[0] == told[1]
        assert [online for _, online in told[0]] == [True, False, True]


async def test_the_end_of_its_own_turn_is_not_told_to_a_socket_although_the_turn_is_over_when_it_comes(wire):
    listeners, mine = Listeners(wire.bus()), {"turn_1"}
    with listeners.connect(mine) as line:
        listeners.follow(line, Subscription("a"))
        listeners.session_changed(session("s", "a"), "turn", "turn_1")
        mine.clear()
        listeners.session_changed(session("s", "a"), "turn", "turn_1")
        await wire.carry()
        assert len(await frames(line)) == 2


async def test_an_id_of_one_server_is_known_on_the_other_also_the_first_that_it_gives(wire):
    one, two = Listeners(wire.bus()), Listeners(wire.bus())
    await wire.carry()
    three = Listeners(wire.bus())
    await wire.carry()

    async def begin(server, after=None):
        with server.connect() as line:
            server.follow(line, Subscription("a"), after)
            await wire.carry()
            first, *again = await frames(line)
        return first.data["last_event_id"], first.data["missed"], [each.data["session_id"] for each in again]

    start, _, _ = await begin(one)
    for server, name in ((two, "s1"), (three, "s2"), (one, "s3")):
        server.session_changed(session(name, "a"), "turn")
    await wire.carry()
    for server in (one, two, three):
        assert await begin(server, start) == (start, False, ["s1", "s2", "s3"])
    last, _, _ = await begin(two)
    assert (await begin(three, last))[1:] == (False, [])


async def test_after_a_gap_followers_are_told_and_nobody_goes_on_from_before(wire):
    one, two = Listeners(wire.bus()), Listeners(wire.bus())
    await wire.carry()
    with two.connect() as follower, two.listen("a", "ann") as talker:
        two.follow(follower, Subscription("a"))
        await wire.carry()
        [begin] = await frames(follower)
        wire.buses[1].lose()
        await wire.carry()
        [told] = await frames(follower)
        assert (told.event, told.data["missed"], told.data["soul_id"]) == ("listening", True, "a")
        assert await frames(talker) == []
        two.follow(follower, Subscription("a"), begin.id)
        assert (await frames(follower))[0].data["missed"] is True
        one.session_changed(session("s", "a"), "turn")
        await wire.carry()
        two.follow(follower, Subscription("a"), told.id)
        assert [each.event for each in await frames(follower)] == ["listening", "session_changed"]

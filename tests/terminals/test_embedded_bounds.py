"""Whatever clients of the embedded broker do: the event loop goes on, memory is bounded, and others are served."""

import asyncio
import logging
import random

import pytest
import websockets

from soulgraph.terminals import embedded_client, embedded_host, embedded_wires, retained, subscriptions, topics
from soulgraph.terminals.client_queue import MAX_QUEUED_BYTES, ClientQueue, Message
from soulgraph.terminals.fair_share import FairShare
from soulgraph.terminals.mqtt_packets import FAILURE, Connect, Publish, Will
from soulgraph.terminals.rare_log import RareLog
from soulgraph.terminals.retained import RetainedMessages
from soulgraph.terminals.subscriptions import Subscriptions
from soulgraph.tests.terminals import floods
from soulgraph.tests.terminals.brokers import open_broker
from soulgraph.tests.terminals.wire import client, wired

LAMP = "soul/terminal/lamp"
LONGEST_S = 0.05
LARGE, MESSAGES = b"x" * 200_000, 80
"""Together more than the system holds for a connection, and what the broker keeps for a client."""


@pytest.fixture
async def broker():
    async with open_broker() as addresses:
        yield addresses


@pytest.mark.parametrize("kind", floods.FLOODS)
async def test_no_flood_holds_up_the_event_loop_and_the_next_client_is_served(broker, kind):
    with floods.Rounds.measured() as rounds:
        await floods.run(kind, broker.mqtt)
        async with client(broker.mqtt) as lamp:
            await lamp.subscribe(f"{LAMP}/status")
            await lamp.publish(f"{LAMP}/status", b"I am served")
            assert (await lamp.heard()).payload == b"I am served"
    assert rounds.longest_s < LONGEST_S


@pytest.fixture
def watched_often(monkeypatch):
    monkeypatch.setattr(embedded_host, "_WATCH_S", 0.02)
    monkeypatch.setattr(embedded_client, "CONNECT_S", 0.1)


@pytest.mark.parametrize("said", [b"", b"\x10", Connect("lamp", 60).encode()[:-1]], ids=["nothing", "a byte", "most"])
async def test_who_does_not_say_in_time_who_it_is_must_go(watched_often, broker, said):
    async with wired(broker.mqtt) as stranger:
        await stranger.send(said)
        assert await stranger.ended() == []


async def test_who_begins_a_packet_and_does_not_end_it_must_go_and_others_may_be_silent(watched_often, broker):
    async with client(broker.mqtt, keepalive_s=0) as quiet, client(broker.mqtt, keepalive_s=0) as slow:
        await slow.send(Publish(f"{LAMP}/skills", b"x" * 1000).encode()[:-1])
        assert await slow.ended() == []
        await quiet.published(f"{LAMP}/heartbeat", b"1")


async def test_who_is_silent_for_longer_than_it_promised_must_go_and_its_last_will_is_heard(watched_often, broker):
    will = Will(f"{LAMP}/online", b"offline", 1, True)
    async with client(broker.mqtt) as page, client(broker.mqtt, keepalive_s=1, will=will) as lamp:
        await page.subscribe(f"{LAMP}/online")
        assert await lamp.ended() == []
        assert (await page.heard()).payload == b"offline"


async def test_those_who_have_not_said_who_they_are_make_room_for_others(broker, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "soulgraph.terminals")
    monkeypatch.setattr(embedded_wires, "MAX_CONNECTIONS", 3)
    async with (
        client(broker.mqtt) as first,
        wired(broker.mqtt) as silent,
        wired(broker.mqtt) as other,
        client(broker.mqtt) as second,
    ):
        assert await silent.ended() == []
        async with websockets.connect(broker.websocket, subprotocols=["mqtt"], proxy=None):
            assert await other.ended() == []
        async with client(broker.mqtt), wired(broker.mqtt) as one_too_many:
            assert await one_too_many.ended() == []
            for known in (first, second):
                await known.published(f"{LAMP}/heartbeat", b"1")
    assert caplog.text.count("all 3 places of the broker are taken") == 1


async def test_who_reads_too_slowly_must_go_and_nobody_waits_for_it(broker):
    async with client(broker.mqtt) as page, client(broker.mqtt) as slow:
        await slow.subscribe(f"{LAMP}/skills")
        slow.writer.transport.pause_reading()
        for _ in range(MESSAGES):
            await page.published(f"{LAMP}/skills", LARGE)
        slow.writer.transport.resume_reading()
        assert len(await slow.ended()) < MESSAGES


async def test_nothing_is_lost_on_the_way_to_the_server_who_publishes_waits_for_it(broker):
    own = broker.own
    password = own.password.encode()
    async with (
        client(broker.mqtt, own.client_id, username=own.username, password=password) as server,
        client(broker.mqtt) as lamp,
    ):
        await server.subscribe("soul/terminal/#")

        async def report():
            for number in range(MESSAGES):
                await lamp.published(f"{LAMP}/skills", b"%d" % number + LARGE)

        reporting = asyncio.create_task(report())
        await asyncio.sleep(0.3)
        assert not reporting.done()
        for number in range(MESSAGES):
            assert (await server.heard()).payload.startswith(b"%d" % number + b"x")
        await reporting


async def test_of_all_subscriptions_there_are_so_many_and_no_more(broker, monkeypatch):
    monkeypatch.setattr(subscriptions, "_MAX_SUBSCRIPTIONS", 3)
    async with client(broker.mqtt) as page, client(broker.mqtt) as other:
        assert await page.subscribe(f"{LAMP}/a", f"{LAMP}/b") == [1, 1]
        assert await other.subscribe(f"{LAMP}/a", f"{LAMP}/b") == [1, FAILURE]
    async with client(broker.mqtt) as later:
        assert await later.subscribe(f"{LAMP}/a", f"{LAMP}/b", f"{LAMP}/c") == [1, 1, 1]


def said(terminal_id, kind="skills", payload=b"x" * 100):
    return Message(f"soul/terminal/{terminal_id}/{kind}", payload, retain=True)


def kept(messages):
    return [one.topic.split("/")[2] for found in messages.matching("soul/terminal/#") for one in found]


def test_what_is_retained_is_bounded_in_number_and_bytes_and_never_out_of_date():
    few = RetainedMessages(max_messages=2)
    assert [few.keep(said(name)) for name in "abca"] == [True, True, False, True]
    assert kept(few) == ["b", "a"]
    assert few.keep(said("b", payload=b"")) and few.keep(said("c"))
    assert kept(few) == ["a", "c"]
    small = RetainedMessages(max_bytes=said("a").size * 2)
    assert [small.keep(said(name)) for name in "abc"] == [True, True, False]
    assert not small.keep(said("a", payload=b"x" * 200))
    assert kept(small) == ["b"]
    assert retained._MAX_BYTES <= 64 * 1024 * 1024


def test_subscriptions_are_found_as_the_standard_says_and_leave_nothing_behind():
    chance = random.Random(3)
    tree = Subscriptions()
    wanted = set()
    for _ in range(300):
        first = chance.choices(["a", "b", "+"], k=chance.randrange(4))
        topic_filter = "/".join([*first, chance.choice(["a", "+", "#"])])
        who = chance.randrange(5)
        tree.add(topic_filter, who, 0)
        wanted.add((topic_filter, who))
    for _ in range(300):
        topic = "/".join(chance.choice("ab") for _ in range(chance.randrange(1, 6)))
        assert tree.of(topic).keys() == {who for one, who in wanted if topics.matches(one, topic)}
    for topic_filter, who in wanted:
        tree.remove(topic_filter, who)
    assert not tree._root.children
    assert tree._count == 0


async def test_one_client_is_worked_for_in_each_round_of_the_event_loop():
    share, worked = FairShare(), []

    async def work(name):
        for _ in range(3):
            await share.wait()
            worked.append(name)

    waiting = [asyncio.create_task(work(name)) for name in "abc"]
    gone = asyncio.create_task(work("gone"))
    per_round = []
    while not all(task.done() for task in waiting):
        before = len(worked)
        await asyncio.sleep(0)
        per_round.append(len(worked) - before)
        gone.cancel()
    assert max(per_round) == 1
    assert "".join(worked) == "aabcabcbc"  # who had its round waits behind those who came before


async def test_a_queue_is_full_until_something_is_taken():
    queue = ClientQueue(limit=1000)
    queue.put(b"x" * 900)
    waiting = asyncio.create_task(queue.wait_for_room())
    await asyncio.sleep(0)
    assert queue.is_full and not waiting.done()
    assert await queue.take() == b"x" * 900
    await waiting
    assert (queue.is_full, queue.take_waiting()) == (False, None)
    assert MAX_QUEUED_BYTES > 2 * 256 * 1024


def test_a_kind_of_line_is_logged_once_in_a_while_with_how_many_were_left_out(caplog):
    log = RareLog(logging.getLogger("soulgraph.rare"), period_s=1000)
    for _ in range(3):
        log.write(logging.WARNING, "a", "no a")
    log.write(logging.WARNING, "b", "no b")
    log._logged_at["a"] -= 2000
    log.write(logging.WARNING, "a", "again no a")
    assert [record.message for record in caplog.records] == ["no a", "no b", "again no a (and 2 more like it before)"]

"""What the embedded broker does with the packets of its clients."""

import pytest

from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import FAILURE, Publish, Will, acknowledge
from soulgraph.terminals.reports import MAX_BYTES
from soulgraph.tests.terminals.brokers import open_broker
from soulgraph.tests.terminals.wire import client, wired

LAMP, FAN = "soul/terminal/lamp", "soul/terminal/fan"


@pytest.fixture
async def url():
    async with open_broker() as addresses:
        yield addresses.mqtt


async def test_what_is_retained_comes_to_those_who_ask_for_it_and_to_nobody_else(url):
    async with client(url) as lamp, client(url) as page:
        await page.subscribe("soul/terminal/#")
        await lamp.published(f"{LAMP}/skills", b'{"skill": 1}', retain=True)
        assert await page.heard() == Publish(f"{LAMP}/skills", b'{"skill": 1}', 1, packet_id=1)
    async with client(url) as lamp, client(url) as later:
        await lamp.subscribe(f"{LAMP}/reply")
        await lamp.publish(f"{LAMP}/reply")
        assert (await lamp.heard()).topic == f"{LAMP}/reply"
        await later.subscribe("soul/terminal/+/skills", qos=0)
        assert await later.heard() == Publish(f"{LAMP}/skills", b'{"skill": 1}', retain=True)


async def test_what_is_retained_is_cleared_by_an_empty_message(url):
    async with client(url) as lamp, client(url) as later:
        await lamp.published(f"{LAMP}/online", b"online", retain=True)
        await lamp.published(f"{LAMP}/skills", b"{}", retain=True)
        await lamp.published(f"{LAMP}/online", b"", retain=True)
        await later.subscribe("soul/terminal/#")
        assert (await later.heard()).topic == f"{LAMP}/skills"


@pytest.mark.parametrize("kind", ["status", "input", "heartbeat", "online/x", "other"])
async def test_of_other_topics_nothing_is_retained_but_it_is_delivered(url, kind):
    async with client(url) as lamp, client(url) as page, client(url) as later:
        await page.subscribe(f"{LAMP}/#")
        await lamp.published(f"{LAMP}/{kind}", b"1", retain=True)
        assert (await page.heard()).topic == f"{LAMP}/{kind}"
        await later.subscribe(f"{LAMP}/#")
        await lamp.published(f"{LAMP}/reply")
        assert (await later.heard()).topic == f"{LAMP}/reply"


async def test_a_message_that_is_too_large_ends_the_connection_and_is_not_said(url):
    async with client(url) as page:
        await page.subscribe("soul/terminal/#")
        for size in (MAX_BYTES + 1, 3_000_000):
            async with client(url) as lamp:
                lamp.writer.write(Publish(f"{LAMP}/skills", b"x" * size, 1, True, packet_id=1).encode())
                assert await lamp.ended() == []
        async with client(url) as lamp:
            await lamp.published(f"{LAMP}/skills", b"x" * MAX_BYTES)
        assert len((await page.heard()).payload) == MAX_BYTES


@pytest.mark.parametrize("topic", ["home/door", "$SYS/broker", "soul/terminal", f"{LAMP}/+", f"{LAMP}/a/b/c/d/e"])
async def test_only_topics_of_terminals_are_spoken_of(url, topic):
    async with client(url) as lamp:
        assert await lamp.subscribe("#", "home/#", "$SYS/#", f"{LAMP}/a/b/c/d/e/f") == [FAILURE] * 4
        await lamp.publish(topic)
        assert await lamp.ended() == []


async def test_a_message_comes_once_with_the_higher_quality_of_the_filters_that_match(url):
    async with client(url) as lamp:
        assert await lamp.subscribe(f"{LAMP}/#", qos=0) == [0]
        assert await lamp.subscribe("soul/terminal/+/reply", qos=2) == [1]
        await lamp.publish(f"{LAMP}/reply", qos=1, packet_id=9)
        assert await lamp.heard() == Publish(f"{LAMP}/reply", b"{}", 1, packet_id=1)
        assert await lamp.packet() == Packet(Kind.PUBACK, 0, b"\0\x09")
        await lamp.publish(f"{LAMP}/reply")
        assert await lamp.heard() == Publish(f"{LAMP}/reply", b"{}", 0)


async def test_who_has_unsubscribed_hears_no_more(url):
    async with client(url) as lamp:
        await lamp.subscribe(f"{LAMP}/reply", f"{LAMP}/status")
        name = f"{LAMP}/reply".encode()
        await lamp.send(Packet(Kind.UNSUBSCRIBE, 2, b"\0\6" + len(name).to_bytes(2, "big") + name).encode())
        assert await lamp.packet() == Packet(Kind.UNSUBACK, 0, b"\0\6")
        await lamp.publish(f"{LAMP}/reply")
        await lamp.publish(f"{LAMP}/status")
        assert (await lamp.heard()).topic == f"{LAMP}/status"


async def test_a_message_of_quality_two_that_comes_again_is_delivered_once(url):
    async with client(url) as lamp, client(url) as page:
        await page.subscribe("soul/terminal/#", qos=2)
        for payload in (b"1", b"1", b"2"):
            if payload == b"2":
                await lamp.send(Packet(Kind.PUBREL, 2, b"\0\x05").encode())
                assert await lamp.packet() == Packet(Kind.PUBCOMP, 0, b"\0\x05")
            await lamp.publish(f"{LAMP}/input", payload, 2, packet_id=5)
            assert await lamp.packet() == Packet(Kind.PUBREC, 0, b"\0\x05")
        assert [await page.heard() for _ in range(2)] == [
            Publish(f"{LAMP}/input", b"1", 1, packet_id=1),
            Publish(f"{LAMP}/input", b"2", 1, packet_id=2),
        ]


async def test_the_last_will_is_heard_after_a_break_and_not_after_a_goodbye(url):
    async with client(url) as page:
        await page.subscribe("soul/terminal/+/online")
        async with client(url, will=Will(f"{FAN}/online", b"offline", 1, True)) as polite:
            await polite.send(Packet(Kind.DISCONNECT, 0, b"").encode())
            assert await polite.ended() == []
        async with client(url, will=Will(f"{LAMP}/online", b"offline", 1, True)) as sudden:
            sudden.break_off()
        assert (await page.heard()).topic == f"{LAMP}/online"
    async with client(url) as later:
        await later.subscribe("soul/terminal/#")
        assert await later.heard() == Publish(f"{LAMP}/online", b"offline", 1, True, packet_id=1)


async def test_who_comes_again_takes_the_place_of_its_old_connection_after_its_last_will(url):
    """The new one may say that it is online before it has read anything."""
    will = Will(f"{LAMP}/online", b"offline", 1, True)
    async with client(url) as page, client(url, "lamp", will=will) as old, wired(url) as new:
        await page.subscribe(f"{LAMP}/online")
        await new.connected("lamp", will=will)
        await new.published(f"{LAMP}/online", b"online", retain=True)
        assert [(await page.heard()).payload for _ in range(2)] == [b"offline", b"online"]
        assert await old.ended() == []
        await new.published(f"{LAMP}/heartbeat", b"1")


async def test_nothing_is_kept_for_a_client_that_is_away_whatever_it_asks(url):
    async with client(url, "lamp", clean=False) as lamp:
        await lamp.subscribe(f"{LAMP}/reply")
    async with client(url) as page:
        await page.published(f"{LAMP}/reply")
    async with client(url, "lamp", clean=False) as lamp:
        await lamp.subscribe(f"{LAMP}/status")
        await lamp.publish(f"{LAMP}/reply")
        await lamp.publish(f"{LAMP}/status")
        assert (await lamp.heard()).topic == f"{LAMP}/status"


@pytest.mark.parametrize(
    "nonsense",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        bytes([Kind.PINGREQ << 4, 0]),
        b"\x10\xff\xff\xff\xff\xff",
        b"\x10\x02\0\x09",
        b"\x10\x80\x80\x08" + b"x" * 20_000,
    ],
    ids=["http", "no CONNECT", "no length", "cut", "a CONNECT of 128 KiB"],
)
async def test_what_does_not_begin_as_mqtt_ends_the_connection(url, nonsense):
    async with wired(url) as stranger:
        await stranger.send(nonsense)
        assert await stranger.ended() == []


@pytest.mark.parametrize(
    "nonsense",
    [acknowledge(Kind.SUBACK, 1), Packet(Kind.PUBLISH, 6, b"\0\1a").encode(), b"\xf0\0", b"\x82\x01\0"],
    ids=["SUBACK", "QoS 3", "AUTH", "short SUBSCRIBE"],
)
async def test_what_no_client_says_ends_the_connection(url, nonsense):
    async with client(url) as stranger:
        await stranger.send(nonsense)
        assert await stranger.ended() == []

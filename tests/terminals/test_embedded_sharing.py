"""Several processes of one server on the embedded broker: each input is handled by one of them."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from soulgraph.terminals import topics
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.client_queue import MAX_QUEUED_BYTES, ClientQueue, Message
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.message_router import MessageRouter
from soulgraph.tests.terminals.brokers import eventually, independent, open_broker

GROUP = "soulgraph-1"
TERMINALS = 20


class Server:
    """What one process has heard, as (terminal, text)."""

    def __init__(self):
        self.inputs = []
        self.reports = []

    def receive(self, topic, payload):
        terminal_id, kind = topics.parse(topic)
        (self.inputs if kind == "input" else self.reports).append((terminal_id, payload.decode()))


@asynccontextmanager
async def connected(own, server):
    url = f"mqtt://{own.username}:{own.password}@{own.host}:{own.port}"
    async with MqttHub.open(Broker.parse(url), server.receive, group=GROUP, embedded=True) as hub:
        yield hub


@pytest.fixture
async def broker():
    async with open_broker() as addresses:
        yield addresses


async def speak(broker, rounds):
    async with independent(broker.mqtt) as client:
        for said in rounds:
            for number in range(TERMINALS):
                await client.publish(f"soul/terminal/t{number}/input", said, qos=1)


async def test_each_input_reaches_one_server_in_order_and_reports_reach_all(broker):
    servers = Server(), Server()
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(connected(broker.own, server))
        async with independent(broker.mqtt) as client:
            await client.publish("soul/terminal/t1/online", "online", qos=1)
        await speak(broker, ["first", "second", "third"])
        await eventually(lambda: sum(len(server.inputs) for server in servers) >= 3 * TERMINALS)
        await eventually(lambda: all(server.reports for server in servers))
    assert all(server.inputs for server in servers), "both have something to do"
    assert all(server.reports == [("t1", "online")] for server in servers)
    for number in range(TERMINALS):
        heard = [[said for who, said in server.inputs if who == f"t{number}"] for server in servers]
        assert sorted(heard) == [[], ["first", "second", "third"]]


async def test_when_a_server_is_gone_the_other_hears_everything(broker):
    stays, goes = Server(), Server()
    async with connected(broker.own, stays):
        async with connected(broker.own, goes):
            pass
        await speak(broker, ["hello"])
        await eventually(lambda: len(stays.inputs) == TERMINALS)
    assert goes.inputs == []


async def test_a_shared_subscription_is_for_servers_alone(broker):
    through_a_server = {"identifier": "tunnel-key-page", "username": "server", "password": broker.own.password}
    for options in ({}, through_a_server):
        async with independent(broker.mqtt, **options) as client:
            [granted] = await client.subscribe(topics.shared("soul/terminal/+/input", GROUP), qos=1)
            assert granted.is_failure


class Full:
    """A server's connection that is not read from."""

    is_server = True

    def __init__(self):
        self.queue = ClientQueue()
        self.queue.put(Message("t", b"x" * MAX_QUEUED_BYTES))

    def deliver(self, message):
        self.queue.put(message)


async def test_nobody_waits_for_a_server_that_has_gone():
    router = MessageRouter()
    server = Full()
    router.subscribe(server, "soul/terminal/+/online", 1)
    waiting = asyncio.create_task(router.wait_for_server())
    await asyncio.sleep(0)
    assert not waiting.done()
    router.unsubscribe(server, "soul/terminal/+/online")
    router.leave(server)
    async with asyncio.timeout(5):
        await waiting

"""A server as it is kept: what the model is told, and how often a failure is logged. `test_mcp_stories.py` has more."""

import asyncio
import logging
from types import SimpleNamespace

from soulgraph.nodes.tools.mcp_client.connection import LostCall, Undelivered
from soulgraph.nodes.tools.mcp_client.server import McpLimits, McpServer

QUICK = McpLimits(found_s=0.05, first_pause_s=0.01, longest_pause_s=0.02, call_s=0.2)
PAY = SimpleNamespace(name="pay", args={})


class Connected:
    is_open = True

    def __init__(self, *outcomes):
        self.outcomes = [*outcomes]
        self.calls = 0

    async def call(self, name, arguments, limit_s):
        self.calls += 1
        raise self.outcomes.pop(0)


def kept(connection=None):
    server = McpServer("room", {"transport": "pigeon"}, QUICK)
    server._connection = connection
    return server


async def test_a_call_is_sent_again_once_and_only_if_it_was_not_delivered():
    twice = Connected(Undelivered("no"), Undelivered("no"))
    assert "Not done: room cannot be reached." in (await kept(twice).call(PAY)).content[0].text
    assert twice.calls == 2
    once = Connected(LostCall("gone"))
    assert "It is not known whether this was done" in (await kept(once).call(PAY)).content[0].text
    late = Connected(TimeoutError())
    assert "did not answer in 0.2 s" in (await kept(late).call(PAY)).content[0].text
    assert (once.calls, late.calls) == (1, 1)


async def test_a_server_that_does_not_come_back_is_not_waited_for_for_ever():
    told = await asyncio.wait_for(kept().call(PAY), 5)
    assert (told.isError, told.content[0].text) == (True, "Not done: room cannot be reached.")


async def test_the_same_failure_is_logged_once(caplog):
    caplog.set_level(logging.WARNING)
    server = kept()
    keeping = asyncio.create_task(server.keep())
    await asyncio.sleep(0.2)
    server.stop()
    await keeping
    assert (server.state, server.problem[:12]) == ("broken", "there is no ")
    assert len(caplog.records) == 1


def test_a_server_may_have_its_own_time_for_calls():
    assert McpServer("room", {"call_timeout_s": 300}, QUICK)._call_s == 300
    assert McpServer("room", {"call_timeout_s": "long"}, QUICK)._call_s == 0.2

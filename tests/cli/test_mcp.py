"""`soulgraph mcp`: what it passes on, and what it says itself when the server cannot."""

import asyncio
import json

import httpx
import pytest

from soulgraph.cli.mcp import Bridge

CALL = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "feel"}}
ANSWER = {"jsonrpc": "2.0", "id": "a", "result": {}}


async def bridged(handle, *lines):
    """What is written for these lines, by a server that answers as `handle` does."""
    written = []
    async with httpx.AsyncClient(base_url="http://souls", transport=httpx.MockTransport(handle)) as http:
        bridge = Bridge(http, written.append)
        for line in lines:
            bridge.take(line if isinstance(line, bytes) else json.dumps(line).encode())
            await asyncio.sleep(0.01)
        await bridge.finish()
    return written


def refusing(error):
    def handle(request):
        raise error

    return handle


async def test_answers_of_either_kind_are_passed_on_a_line_each():
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    events = f": ping\n\nevent: message\ndata: {json.dumps(progress)}\n\nevent: message\ndata: {json.dumps(ANSWER)}\n\n"
    streamed = await bridged(
        lambda _: httpx.Response(200, text=events, headers={"content-type": "text/event-stream"}), CALL
    )
    assert streamed == [progress, ANSWER]
    assert await bridged(lambda _: httpx.Response(200, json=ANSWER), CALL, b"\n") == [ANSWER]
    assert await bridged(lambda _: httpx.Response(202), {"jsonrpc": "2.0", "method": "notifications/initialized"}) == []


@pytest.mark.parametrize(
    ("handle", "why"),
    [
        (refusing(httpx.ConnectError("refused")), r"http://souls cannot be reached (refused): start it with"),
        (
            lambda _: httpx.Response(401, json={"detail": "this key is unknown"}),
            "unknown (the key is read from SOULGRAPH",
        ),
        (lambda _: httpx.Response(502, html="<p>"), "the server answers HTTP 502: is the address right?"),
        (
            lambda _: httpx.Response(200, text=": ping\n\n", headers={"content-type": "text/event-stream"}),
            "was stopped",
        ),
    ],
)
async def test_what_fails_is_told_to_the_model_of_a_call_and_as_an_error_of_anything_else(handle, why):
    [told] = await bridged(handle, CALL)
    assert told["result"]["isError"]
    assert why in told["result"]["content"][0]["text"]
    [error] = await bridged(handle, {**CALL, "method": "tools/list"})
    assert why in error["error"]["message"]


@pytest.mark.parametrize("line", [b"{", b"[]", b"5", b"\xff"])
async def test_what_is_no_message_is_answered_by_itself(line):
    [error] = await bridged(lambda _: httpx.Response(202), line)
    assert (error["id"], error["error"]["code"]) == (None, -32700)


async def test_a_call_that_is_cancelled_is_not_waited_for():
    async def handle(request):
        await asyncio.Event().wait()

    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}
    async with asyncio.timeout(5):
        assert await bridged(handle, CALL, cancelled) == []

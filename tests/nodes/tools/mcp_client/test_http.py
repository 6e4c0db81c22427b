"""Failures of HTTP as answers of the protocol: certainly not delivered, perhaps carried out, or refused."""

import json

import httpx
import pytest

from soulgraph.nodes.tools.mcp_client.failures import BUSY, LOST, NOT_DELIVERED, REFUSED
from soulgraph.nodes.tools.mcp_client.http import McpHttp

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "pay"}}


class BrokenOff(httpx.AsyncByteStream):
    def __init__(self, *chunks):
        self.chunks = chunks

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk
        raise httpx.ReadError("reset")


def answering(what, told):
    def handle(request):
        if isinstance(what, Exception):
            raise what
        return what

    return McpHttp(told.append, transport=httpx.MockTransport(handle))


async def asked(what, message=CALL, headers=None):
    told = []
    async with (
        answering(what, told) as client,
        client.stream("POST", "http://room/mcp", json=message, headers=headers) as response,
    ):
        await response.aread()
        return response, told


@pytest.mark.parametrize(
    ("what", "session", "code"),
    [
        (httpx.ConnectError("refused"), False, NOT_DELIVERED),
        (httpx.ConnectTimeout("slow"), False, NOT_DELIVERED),
        (httpx.ReadError("reset"), False, LOST),
        (httpx.RemoteProtocolError("gone"), False, LOST),
        (httpx.ReadTimeout("silent"), False, LOST),
        (httpx.Response(404), True, NOT_DELIVERED),
        (httpx.Response(400), True, NOT_DELIVERED),
        (httpx.Response(404), False, REFUSED),
        (httpx.Response(401), True, REFUSED),
        (httpx.Response(429), True, BUSY),
        (httpx.Response(500), True, LOST),
        (httpx.Response(502), True, LOST),
        (httpx.Response(200, html="<p>nginx"), True, LOST),
        (httpx.Response(200, headers={"content-type": "application/json"}, stream=BrokenOff(b"{")), True, LOST),
    ],
)
async def test_each_failure_is_told_for_what_it_is(what, session, code):
    response, _ = await asked(what, headers={"mcp-session-id": "1"} if session else None)
    told = response.json()
    assert (response.status_code, told["id"], told["error"]["code"]) == (200, 7, code)


async def test_a_stream_that_breaks_off_ends_with_an_error_for_who_waits():
    events = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=BrokenOff(b": here\n\n"))
    response, _ = await asked(events)
    assert response.text.startswith(": here")
    assert json.loads(response.text.partition("data: ")[2])["error"]["code"] == LOST


async def test_a_stream_that_can_be_taken_up_again_is_left_to_it():
    events = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=BrokenOff(b"id: 1\ndata:\n\n"))
    with pytest.raises(httpx.ReadError):
        await asked(events)


async def test_a_notification_that_fails_is_answered_by_nothing():
    response, _ = await asked(httpx.Response(500), {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


async def test_a_server_that_is_gone_is_told_where_it_listens_and_holds_up_no_goodbye():
    told = []
    async with answering(httpx.ConnectError("refused"), told) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("http://room/mcp")
        assert (await client.delete("http://room/mcp")).status_code == 204
    assert told == ["it cannot be reached: refused"]

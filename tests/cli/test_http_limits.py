"""Connections that want to hold the server up, by raw sockets: large headers, and requests that never end."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
import uvicorn

from soulgraph.cli import http_limits
from soulgraph.cli.http_limits import LimitedHttp
from soulgraph.tests.live import PromptServer, ServerProcess

GET = b"GET / HTTP/1.1\r\nhost: x\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\n"


async def app(scope, receive, send):
    """Answers how long the body is."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(str(size)))]})
    await send({"type": "http.response.body", "body": str(size).encode()})


@asynccontextmanager
async def listening(app=app):
    server = PromptServer(uvicorn.Config(app, port=0, log_level="critical", lifespan="off", http=LimitedHttp))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    try:
        async with asyncio.timeout(20):
            yield server
    finally:
        server.told_to_stop.set()
        await running


def connection(server):
    """The server's side of the only connection."""
    [protocol] = server.server_state.connections
    return protocol


async def received(server, size):
    """Until so many bytes have come since it was last looked at how late the client is."""
    while connection(server)._received < size:
        await asyncio.sleep(0)


def port_of(server):
    return server.servers[0].sockets[0].getsockname()[1]


@asynccontextmanager
async def connected(server):
    there = len(server.server_state.connections)
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    while len(server.server_state.connections) == there:
        await asyncio.sleep(0)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer(server, *parts):
    """All that the server says to these bytes until it closes."""
    async with connected(server) as (reader, writer):
        for part in parts:
            writer.write(part)
        return await reader.read()


def problem(raw):
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == int(head.split()[1])
    return json.loads(body)["code"]


async def complete(reader):
    """One whole answer of a connection that stays open: its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    return await reader.readexactly(size)


@pytest.mark.parametrize(
    "parts",
    [
        [GET, b"x-large: " + b"x" * 70_000, b"\r\n\r\n"],
        [GET, b"x-large: " + b"x" * 500_000],
        [GET, *[b"x-%d: y\r\n" % n for n in range(20_000)]],
        [b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n"],
        [b"GET /" + b"x" * 500_000],
        [POST, b"transfer-encoding: chunked\r\n\r\n0\r\n", *[b"x-trailer: y\r\n"] * 20_000],
        [POST, b"transfer-encoding: chunked\r\n\r\n0\r\nx-trailer: ", b"y" * 500_000],
        [POST, b"transfer-encoding: chunked\r\n\r\n1;extension=", b"y" * 500_000],
    ],
    ids=[
        "one",
        "one without an end",
        "many",
        "a path",
        "a path without an end",
        "trailers",
        "a trailer",
        "an extension",
    ],
)
async def test_headers_and_all_that_is_like_them_are_limited(parts):
    async with listening() as server:
        assert problem(await answer(server, *parts)) == "headers_too_large"


async def test_large_headers_within_the_limit_and_large_bodies_are_read():
    async with listening() as server, connected(server) as (reader, writer):
        writer.write(GET + b"x-large: " + b"x" * 60_000 + b"\r\n\r\n")
        assert await complete(reader) == b"0"
        for _ in range(2):  # on the same connection, the second right behind the first
            writer.write(POST + b"content-length: 1000000\r\n\r\n" + b"x" * 1_000_000)
        assert [await complete(reader), await complete(reader)] == [b"1000000", b"1000000"]


async def test_what_is_no_http_is_a_problem():
    async with listening() as server:
        assert problem(await answer(server, b"\x16\x03\x01 what is this?\r\n\r\n")) == "bad_request"


async def test_who_says_nothing_is_told_nothing_and_not_waited_for(monkeypatch):
    monkeypatch.setattr(http_limits, "HEADERS_S", 0.01)
    async with listening() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        assert await reader.read() == b""
        writer.close()


async def test_headers_that_trickle_are_not_waited_for():
    async with listening() as server, connected(server) as (reader, writer):
        writer.write(GET)
        await received(server, len(GET))
        began = connection(server)._timer
        writer.write(b"x: y\r\n")
        await received(server, len(GET) + 6)
        assert connection(server)._timer is began, "there is one time for all headers"
        connection(server)._on_late()
        assert problem(await reader.read()) == "request_timeout"


async def test_blank_lines_between_two_requests_do_not_keep_a_connection_open():
    async with listening() as server, connected(server) as (reader, writer):
        writer.write(GET + b"\r\n")
        assert await complete(reader) == b"0"
        writer.write(b"\r\n")
        await received(server, 2)
        connection(server)._on_late()
        assert problem(await reader.read()) == "request_timeout"


async def test_a_body_that_grows_is_waited_for_and_one_that_trickles_is_not(monkeypatch):
    monkeypatch.setattr(http_limits, "MIN_BODY_BYTES", 50)
    async with listening() as server, connected(server) as (reader, writer):
        writer.write(POST + b"content-length: 1000\r\n\r\n")
        for _ in range(3):
            writer.write(b"x" * 50)
            await received(server, 50)
            connection(server)._on_late()
        writer.write(b"x" * 49)
        await received(server, 49)
        connection(server)._on_late()
        assert problem(await reader.read()) == "request_timeout"


def waiting(free):
    """The app, as soon as `free` is set."""

    async def app_when_free(scope, receive, send):
        await free.wait()
        await app(scope, receive, send)

    return app_when_free


async def test_a_body_that_the_app_does_not_read_yet_is_not_late():
    free = asyncio.Event()
    async with listening(waiting(free)) as server, connected(server) as (reader, writer):
        writer.write(POST + b"content-length: 1000000\r\n\r\n" + b"x" * 1_000_000)
        while not connection(server).flow.read_paused:
            await asyncio.sleep(0)
        for _ in range(2):
            connection(server)._on_late()
        free.set()
        assert await complete(reader) == b"1000000"


async def test_a_slow_answer_is_given_and_half_a_request_behind_it_not_waited_for():
    free = asyncio.Event()
    async with listening(waiting(free)) as server, connected(server) as (reader, writer):
        writer.write(GET + b"\r\n")
        while connection(server).cycle is None:
            await asyncio.sleep(0)
        assert connection(server)._timer is None
        writer.write(GET)
        await received(server, len(GET))
        connection(server)._on_late()
        free.set()
        assert await complete(reader) == b"0"
        assert await reader.read() == b""


async def test_a_client_that_waits_for_our_go_is_not_late():
    free = asyncio.Event()
    async with listening(waiting(free)) as server, connected(server) as (reader, writer):
        writer.write(POST + b"expect: 100-continue\r\ncontent-length: 5\r\n\r\n")
        while connection(server).cycle is None:
            await asyncio.sleep(0)
        connection(server)._on_late()
        free.set()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(b"hello")
        assert await complete(reader) == b"5"


async def test_one_connection_too_many_is_told_to_come_back(monkeypatch):
    monkeypatch.setattr(LimitedHttp, "max_connections", 1)
    async with listening() as server, connected(server) as (reader, writer):
        writer.write(GET)
        late_reader, late_writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        refused = await late_reader.read()
        late_writer.close()
        assert b"retry-after: 5" in refused
        assert problem(refused) == "server_busy"
        writer.write(b"\r\n")
        assert await complete(reader) == b"0"


async def test_the_server_that_users_start_has_these_limits(tmp_path):
    server = ServerProcess(data_dir=str(tmp_path), mqtt_url="none", log_level="error")
    await server.start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET + b"x-large: " + b"x" * 70_000 + b"\r\n\r\n")
        assert problem(await reader.read()) == "headers_too_large"
        writer.close()
    finally:
        server.kill()

"""A client of httpx2 does over aiohttp what it does over its own transport, and fails in the same ways."""

import asyncio
import socket
from contextlib import asynccontextmanager

import httpx2
import pytest

from soulgraph.compat import http_client_of
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.aiohttp_transport import AiohttpTransport
from soulgraph.voices.factory import open_voice

STREAMED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
LONGER = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"
BODY = b'{"a": "b"}'


@pytest.fixture(params=["aiohttp", "httpx2"])
def transport(request):
    """Made inside the loop."""
    return lambda: AiohttpTransport() if request.param == "aiohttp" else None


@asynccontextmanager
async def answering(answer, then_silent=False):
    """The address of a server that answers every request so, and what it was asked."""
    asked, conversations = [], []

    async def serve(reader, writer):
        conversations.append(asyncio.current_task())
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head + await reader.readexactly(len(BODY)))
        writer.write(answer)
        if then_silent:
            await reader.read()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1")
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
        await asyncio.gather(*conversations)


async def heard(transport, url, timeout_s=5):
    """What came of a response until its end or an error, and that."""
    pieces, error = b"", None
    async with httpx2.AsyncClient(transport=transport(), timeout=timeout_s) as client:
        try:
            async with client.stream("POST", url, content=BODY, headers={"X-A": "b"}) as response:
                async for piece in response.aiter_raw():
                    pieces += piece
        except httpx2.RequestError as raised:
            error = type(raised)
    return pieces, error


@pytest.mark.parametrize(
    ("answer", "pieces", "error"),
    [
        (b"", b"", httpx2.RemoteProtocolError),
        (b"hello\r\n\r\n", b"", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\na: " + b"x" * 200_000 + b"\r\n\r\n", b"", httpx2.RemoteProtocolError),
        (STREAMED, b"hello", httpx2.RemoteProtocolError),
        (STREAMED + b"0\r\n\r\n", b"hello", None),
        (LONGER, b"hello", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", b"hello", None),
        (b"HTTP/1.1 200 OK\ncontent-length: 5\n\nhello", b"hello", None),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 300 + b"content-length: 0\r\n\r\n", b"", None),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", None),
    ],
    ids=["nothing", "no HTTP", "huge", "cut", "whole", "short", "to its end", "bare", "many headers", "empty"],
)
async def test_what_a_server_sends_arrives_or_is_its_mistake(transport, answer, pieces, error):
    async with answering(answer) as (url, _):
        assert await heard(transport, url) == (pieces, error)


@pytest.mark.parametrize(("answer", "pieces"), [(b"", b""), (LONGER, b"hello")], ids=["before", "within"])
async def test_a_silence_is_a_timeout(transport, answer, pieces):
    async with answering(answer, then_silent=True) as (url, _):
        assert await heard(transport, url, timeout_s=0.2) == (pieces, httpx2.ReadTimeout)


async def test_a_request_that_is_not_taken_is_a_timeout():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with httpx2.AsyncClient(transport=AiohttpTransport(), timeout=0.1) as client:
            with pytest.raises(httpx2.WriteTimeout):
                await client.post(url, content=bytes(2**26))


async def test_who_is_not_there_cannot_be_connected(transport):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    assert await heard(transport, f"http://127.0.0.1:{port}") == (b"", httpx2.ConnectError)


async def test_the_request_is_sent_as_it_was_built():
    requests = []
    for transport in (AiohttpTransport, lambda: None):
        async with answering(STREAMED + b"0\r\n\r\n") as (url, asked):
            await heard(transport, f"{url.replace('127', 'me:secret@127')}/a%2Fb/~c?d=%20e&d=f")
            host = url.removeprefix("http://").encode()
            requests.append(sorted(asked[0].replace(host, b"host").lower().split(b"\r\n")))
    assert requests[0] == requests[1]


async def test_the_response_tells_the_same(transport):
    answer = b"HTTP/1.1 418 I'm a teapot\r\nset-cookie: a=b\r\nset-cookie: c=d\r\ncontent-length: 2\r\n\r\nno"
    async with answering(answer) as (url, _), httpx2.AsyncClient(transport=transport()) as client:
        response = await client.post(url, content=BODY)
    assert (response.status_code, response.reason_phrase, response.text) == (418, "I'm a teapot", "no")
    assert response.headers.get_list("set-cookie") == ["a=b", "c=d"]


async def test_any_number_of_answers_come_at_once():
    async with StubOpenAI(default=Reply(text="hi", chunk_delay_s=0.2)) as stub, voice_of(stub) as voice:
        await asyncio.gather(*(voice.model.ainvoke("hi") for _ in range(150)))
        assert len(stub._connections) == 150


async def test_the_system_s_proxies_are_used(monkeypatch):
    async with answering(LONGER) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with voice_of(None) as voice:
            client = http_client_of(voice.model.root_async_client)
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.post("http://model.invalid/v1/chat/completions", content=BODY)
    assert asked[0].startswith(b"POST http://model.invalid/v1/chat/completions ")


def voice_of(stub):
    base_url = stub.base_url if stub else "http://127.0.0.1:1/v1"
    return open_voice(Settings.load(llm_base_url=base_url, llm_model="m").llm, ())

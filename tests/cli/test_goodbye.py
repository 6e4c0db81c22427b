"""The server stops although a client that has said goodbye is still being written to."""

import asyncio

import uvicorn

from soulgraph.cli.hosting import WebSocket
from soulgraph.tests.live import PromptServer

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
GOODBYE = b"\x88\x82\0\0\0\0\x03\xe8"  # a close frame with code 1000
MORE_THAN_IS_READ = 64 * 1024 * 1024


async def test_a_client_that_leaves_without_reading_does_not_stop_the_shutdown():
    left = asyncio.Event()

    async def talkative(scope, receive, send):
        if scope["type"] != "websocket":
            return
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": bytes(MORE_THAN_IS_READ)})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        left.set()

    config = uvicorn.Config(talkative, port=0, log_level="error", lifespan="off", ws=WebSocket, ws_max_size=2**30)
    server = PromptServer(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(UPGRADE)
    assert b"101" in await reader.readline()
    writer.write(GOODBYE)
    async with asyncio.timeout(10):
        await left.wait()
        server.told_to_stop.set()
        await asyncio.sleep(0)
        writer.transport.abort()
        await running

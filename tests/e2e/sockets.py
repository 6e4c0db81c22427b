"""A socket to a server under test."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


class Line:
    """A socket that speaks JSON."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, **message):
        await self.socket.send(json.dumps(message))

    async def chat(self, text, **fields):
        await self.send(type="chat", text=text, **fields)

    async def frame(self):
        """The next one; a test that waits in vain fails instead of hanging."""
        async with asyncio.timeout(20):
            return json.loads(await self.socket.recv())

    async def until(self, *events):
        """The frames up to and with the first of these events."""
        frames = [await self.frame()]
        while frames[-1]["event"] not in events:
            frames.append(await self.frame())
        return frames

    async def refused(self, **message):
        await self.send(**message)
        frame = await self.frame()
        assert frame["event"] == "error"
        return frame

    async def closed(self):
        """The code the server closes with."""
        with pytest.raises(ConnectionClosed) as end:
            while True:
                await self.socket.recv()
        return end.value.rcvd.code


@asynccontextmanager
async def line(client, **options):
    url = f"ws://{client.base_url.netloc.decode()}/v1/chat/ws"
    async with connect(url, proxy=None, **options) as socket:
        yield Line(socket)

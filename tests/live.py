"""Servers for end-to-end tests: one inside the test's own loop, one as a process that can be killed."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from soulgraph.cli.hosting import WebSocket
from soulgraph.cli.http_limits import LimitedHttp
from soulgraph.runtime.silence import WAIT_INTERVALS, WaitIntervals
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.tests.declared import Watched


@asynccontextmanager
async def serving(
    clock: Callable[[], float] = time.time, wait_intervals: WaitIntervals = WAIT_INTERVALS, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A real server on a free port, in this process, and a client for it."""
    app = create_app(Settings.load(**{"mqtt_url": "none", "llm_carrier": "tags", **settings}), clock)
    async with served(app) as client:
        app.state.services = replace(app.state.services, wait_intervals=wait_intervals)
        yield client


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The app under uvicorn on a free port, in this process, and a client for it.

    In the end every answer must have been one that the app's description tells.
    """
    watched = Watched(app)
    protocols = {"http": LimitedHttp, "ws": WebSocket}
    server = PromptServer(uvicorn.Config(watched, port=0, log_level="warning", timeout_keep_alive=75, **protocols))
    running = asyncio.create_task(server.serve())
    while not server.started:
        if running.done():
            running.result()
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        # Without `verify=False` every client reads all certificates of the machine, which no test needs.
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=False) as client:
            yield client
    finally:
        server.told_to_stop.set()
        await running
    assert not watched.complaints, f"not as described: {sorted(watched.complaints)}"


class PromptServer(uvicorn.Server):
    """uvicorn without its pauses: it looks ten times a second whether to stop, and waits before it does."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told_to_stop = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.told_to_stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self.servers:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.005)
        await self.lifespan.shutdown()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


async def until_ready(url: str, alive: Callable[[], bool]) -> None:
    """Wait for a server that another process is starting."""
    async with httpx.AsyncClient(base_url=url, verify=False) as client:
        for _ in range(600):
            try:
                if (await client.get("/readyz")).is_success:
                    return
            except httpx.TransportError:
                assert alive(), "the server ended at start-up"
            await asyncio.sleep(0.05)
    raise TimeoutError("the server did not become ready")


class ServerProcess:
    """`soulgraph serve` in a process of its own."""

    def __init__(self, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        settings = {"llm_carrier": "tags", **settings}
        given = {f"SOULGRAPH_{name.upper()}": value for name, value in settings.items()}
        self._env = {**os.environ, **given, "SOULGRAPH_PORT": str(self.port)}
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._process = subprocess.Popen([Path(sys.executable).parent / "soulgraph", "serve"], env=self._env)
        await until_ready(self.url, lambda: self._process is not None and self._process.poll() is None)

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def kill(self) -> None:
        """As by `kill -9`."""
        assert self._process
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """As by a supervisor: the server ends what it is doing, and then by the same signal."""
        assert self._process
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(timeout=60) in (0, -signal.SIGTERM)


async def new_soul(client: httpx.AsyncClient, name: str = "小满", **fields: Any) -> str:
    created = await client.post("/v1/souls", json={"name": name, "mbti_type": "INFJ", **fields})
    assert created.status_code == 201, created.text
    return str(created.json()["soul_id"])


async def say(client: httpx.AsyncClient, text: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/chat", json={"text": text, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def hear(client: httpx.AsyncClient, text: str, **fields: Any) -> AsyncIterator[tuple[str, Any]]:
    """The events of a streamed turn as (event, data)."""
    async with client.stream("POST", "/v1/chat", json={"text": text, "stream": True, **fields}) as response:
        assert response.headers["content-type"].startswith("text/event-stream"), await response.aread()
        event = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield event, json.loads(line.removeprefix("data: "))


async def transcript(client: httpx.AsyncClient, session_id: str) -> list[tuple[str, str]]:
    response = await client.get(f"/v1/sessions/{session_id}/messages", params={"limit": 1000})
    assert response.status_code == 200, response.text
    return [(message["role"], message["content"]) for message in response.json()]

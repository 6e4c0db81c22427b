"""Runs a server of several processes: starts them, starts anew what ends, and stops them all.

The port is held here, and every worker listens on it by itself (`SO_REUSEPORT`): so the kernel spreads connections over
them. Of one socket for all, whoever is awake first would take a whole crowd. What only one process may have is in one
beside the workers.
"""

import asyncio
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe

from soulgraph.cli.addresses import held, http_url
from soulgraph.cli.child import Orders, stop_limit_s
from soulgraph.cli.member import Member
from soulgraph.memory import chroma_shared
from soulgraph.settings import Settings, Shared
from soulgraph.terminals.listening import HOST, listen_mqtt, listen_websocket, port_of

_SERVICES = "services"
_SERVICES_LIMIT_S = 15.0

_log = logging.getLogger("soulgraph")


def supervise(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes. What keeps a process from its first start is raised, and ends the others."""
    with ExitStack() as stack:
        port = port_of(stack.enter_context(held(settings.host, settings.port)))
        services, workers = _members(settings.model_copy(update={"port": port}), stack)
        url = http_url(settings.host, port)
        asyncio.run(Supervisor(services, workers, stop_limit_s(settings), lambda: announce(url)).run())


class Supervisor:
    """`services` is what only one process may have, if there is anything; it starts first and stops last."""

    def __init__(
        self, services: Member | None, workers: Sequence[Member], limit_s: float, announce: Callable[[], None]
    ) -> None:
        self._services = services
        self._workers = workers
        self._limit_s = limit_s
        self._announce = announce
        self._told_to_stop = asyncio.Event()
        self._kept: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Until a signal comes; raises what kept a process from its first start."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._told_to_stop.set)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        serving = asyncio.create_task(self._serve())
        told = asyncio.create_task(self._told_to_stop.wait())
        try:
            await asyncio.wait({serving, told}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (told, *self._kept):
                task.cancel()
            await self._stop(serving)
        if not serving.cancelled():
            serving.result()

    async def _serve(self) -> None:
        """Start the services and the first worker, and then the others: one is enough to find what is wrong."""
        first = [member for member in (self._services, self._workers[0]) if member]
        for member in first:
            await member.spawn()
        for member in first:
            await self._begin(member)
        self._announce()
        for member in self._workers[1:]:
            await member.spawn()
        await asyncio.gather(*map(self._begin, self._workers[1:]))
        await asyncio.gather(*self._kept)

    async def _begin(self, member: Member) -> None:
        await member.begin()
        self._kept.append(asyncio.create_task(member.keep()))

    def _interrupt(self) -> None:
        """Who presses Ctrl-C twice does not want to wait."""
        if self._told_to_stop.is_set():
            self._send(signal.SIGKILL)
        self._told_to_stop.set()

    def _send(self, number: signal.Signals) -> None:
        for member in (self._services, *self._workers):
            if member:
                member.send(number)

    async def _stop(self, serving: asyncio.Task[None]) -> None:
        """Let the workers finish what they do, and then end what they need for it."""
        serving.cancel()
        await asyncio.wait({serving})
        for worker in self._workers:
            worker.send(signal.SIGTERM)
        await _all_ended(self._workers, self._limit_s)
        if self._services:
            self._services.send(signal.SIGTERM)
            await _all_ended([self._services], _SERVICES_LIMIT_S)


async def _all_ended(members: Sequence[Member], limit_s: float) -> None:
    """Return when they have ended; who takes too long is killed."""
    ended = asyncio.gather(*(member.ended() for member in members))
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await asyncio.shield(ended)
    if not ended.done():
        _log.warning("what has not ended within %g s is killed", limit_s)
        for member in members:
            member.send(signal.SIGKILL)
    await ended


def _members(settings: Settings, stack: ExitStack) -> tuple[Member | None, list[Member]]:
    """What has to be started: the shared services, if any are needed, and the workers."""
    supervised, _ = _pipe(stack)  # its other end is here alone
    used, user = _pipe(stack)  # its other end is here and in every worker, which need the services to their end
    shared, sockets = _shared(settings, stack)
    metrics = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soulgraph-")))
    workers = [
        Member(f"worker {n}", "soulgraph.cli.worker", Orders(_of(settings, shared, str(n)), supervised, user), metrics)
        for n in range(1, settings.workers + 1)
    ]
    if not sockets:
        return None, workers
    orders = Orders(_of(settings, shared, _SERVICES), used, sockets=tuple(one.fileno() for one in sockets))
    return Member(_SERVICES, "soulgraph.cli.shared_services", orders, metrics), workers


def _of(settings: Settings, shared: Shared, process: str) -> Settings:
    return settings.with_shared(replace(shared, process=process))


def _shared(settings: Settings, stack: ExitStack) -> tuple[Shared, list[socket.socket]]:
    """Where workers find what they share, and the sockets on which it listens: they outlive the process behind them."""
    shared = Shared(_SERVICES)
    sockets = []
    if not settings.mqtt_url:
        mqtt = stack.enter_context(listen_mqtt(settings.mqtt_port))
        websocket = stack.enter_context(listen_websocket(settings.mqtt_websocket_port))
        sockets += [mqtt, websocket]
        url = f"mqtt://server:{token_urlsafe()}@{HOST}:{port_of(mqtt)}"
        shared = replace(shared, mqtt_url=url, mqtt_websocket=f"ws://{HOST}:{port_of(websocket)}")
    if not settings.chroma_url:
        sockets.append(stack.enter_context(chroma_shared.listen()))
        shared = replace(shared, memory=chroma_shared.address_of(sockets[-1]))
    return shared, sockets


def _pipe(stack: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        stack.callback(os.close, end)
    return ends

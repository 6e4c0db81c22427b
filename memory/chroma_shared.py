"""The folders of Chroma for several processes: one of them has them open, and the others ask it.

They ask over a socket that is no file, and only processes of the same user are answered: what is in the folders is as
private as before. Each request has a connection of its own, so a request that is broken off disturbs no other.
"""

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from pydantic_core import from_json, to_json

from soulgraph.errors import MemoryUnavailable
from soulgraph.memory.chroma_client import EmbeddedClient, open_folder, reason_of, translated_errors

_METHODS = {"upsert", "query", "update", "get", "delete", "count"}
_RENEW = "renew"
# Longer than the trial of a large index, before which no folder is opened.
_TIMEOUT_S = 90.0
_BACKLOG = 1000
_AWAY = reason_of("the process that has it open does not answer: it is started again")


def listen() -> socket.socket:
    """A socket for the process that has the folders; its name is the address for the others."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0soulgraph-{token_urlsafe()}")
    listener.listen(_BACKLOG)
    return listener


def address_of(listener: socket.socket) -> str:
    """Without the zero byte that makes it no file."""
    name: bytes = listener.getsockname()
    return name[1:].decode()


class SharedClient:
    """One collection in a folder that another process has open."""

    def __init__(self, address: str, folder: Path, name: str) -> None:
        self._address = address
        self._place = {"folder": folder.name, "collection": name}

    async def collection(self) -> "SharedCollection":
        return SharedCollection(self._ask)

    async def call(self, work: Callable[[], Any]) -> Any:
        return await work()

    async def renew(self) -> Path | None:
        moved_to = await self._ask(_RENEW)
        return Path(moved_to) if moved_to else None

    async def _ask(self, method: str, **values: Any) -> Any:
        request = to_json({**self._place, "method": method, "values": values}, fallback=_plain)
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                answer = await self._exchange(request)
        except (OSError, TimeoutError) as error:
            raise MemoryUnavailable(_AWAY) from error
        if not answer:
            raise MemoryUnavailable(_AWAY)
        result = from_json(answer)
        if "problem" in result:
            raise MemoryUnavailable(result["problem"])
        return result["result"]

    async def _exchange(self, request: bytes) -> bytes:
        reader, writer = await self._connect()
        try:
            writer.write(request)
            writer.write_eof()
            return await reader.read()
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.setblocking(False)
            # Not by its path: uvloop knows only those of files.
            await asyncio.get_running_loop().sock_connect(connection, f"\0{self._address}")
            return await asyncio.open_unix_connection(sock=connection)
        except BaseException:
            connection.close()
            raise


class SharedCollection:
    """Has the methods of Chroma's own collection."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __getattr__(self, method: str) -> Any:
        return partial(self._ask, method)


@asynccontextmanager
async def serving_folders(listener: socket.socket, data_dir: Path) -> AsyncIterator[None]:
    """Answer the others while the block lasts. A folder is opened when somebody first asks for what is in it."""
    async with AsyncExitStack() as stack:
        folders = Folders(data_dir, stack)
        async with await asyncio.start_unix_server(folders.serve, sock=listener, backlog=_BACKLOG):
            yield


class Folders:
    """The folders that are open, each with its collection."""

    def __init__(self, data_dir: Path, stack: AsyncExitStack) -> None:
        self._data_dir = data_dir
        self._stack = stack
        self._clients: dict[tuple[str, str], EmbeddedClient] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if _is_own(writer.get_extra_info("socket")):
                writer.write(await self._answer(await reader.read()))
                await writer.drain()
        except OSError:
            pass  # whoever asked is gone
        finally:
            writer.close()

    async def _answer(self, request: bytes) -> bytes:
        try:
            with translated_errors():
                return to_json({"result": await self._work(**from_json(request))}, fallback=_plain)
        except MemoryUnavailable as error:
            return to_json({"problem": error.detail})

    async def _work(self, folder: str, collection: str, method: str, values: dict[str, Any]) -> Any:
        client = await self._client(folder, collection)
        if method == _RENEW:
            return await client.renew()
        if method not in _METHODS:
            raise MemoryUnavailable(reason_of(f"there is no method {method!r}"))
        return await client.call(partial(getattr(await client.collection(), method), **values))

    async def _client(self, folder: str, collection: str) -> EmbeddedClient:
        place = folder, collection
        if place not in self._clients:
            opened = open_folder(self._data_dir / folder, collection)
            self._clients[place] = await self._stack.enter_async_context(opened)
        return self._clients[place]


def _is_own(connection: Any) -> bool:
    """Whether a process of our own user is at the other end."""
    _pid, uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(uid == os.geteuid())


def _plain(value: Any) -> Any:
    """Arrays as lists."""
    return value.tolist()

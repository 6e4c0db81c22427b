"""Every place where we reach into what another library does not promise to keep, and why.

Each has a test in `tests/test_compat.py` that fails when the library changes under it. Nothing is imported before it is
needed: some of these libraries take a second.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite
from langchain_core.runnables import RunnableConfig

if TYPE_CHECKING:
    from aiomqtt import Client
    from langgraph.graph import StateGraph

RunStatement = Callable[[Callable[[], Any]], Awaitable[Any]]


class InlineSqliteConnection(aiosqlite.Connection):
    """aiosqlite runs every statement on a thread; LangGraph's saver wants such a connection, and we want no thread.

    `run` is given each statement instead and says when it is done (`stores/sqlite.py` says why).
    """

    def __init__(self, path: str, run: RunStatement, timeout_s: float) -> None:
        super().__init__(lambda: sqlite3.connect(path, timeout=timeout_s, check_same_thread=False), iter_chunk_size=64)
        self._run_statement = run
        self._thread.daemon = True  # it has nothing to do, and must not keep the process alive

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._run_statement(lambda: fn(*args, **kwargs))


def ignore_lost_connection(client: "Client") -> None:
    """aiomqtt keeps the loss of a connection in a future; nobody may be waiting for it while we part, and that is no
    mistake for asyncio to report."""
    lost: asyncio.Future[None] = client._disconnected
    lost.add_done_callback(lambda future: future.cancelled() or future.exception())


async def close_chroma_client(client: Any) -> None:
    """Chroma's asynchronous client has no way to be closed inside an event loop; its way to the server has."""
    await client._server.__aexit__(None, None, None)


def forget_chroma_folder(folder: Path) -> None:
    """Chroma keeps what it has opened by folder, also what it could not open: nobody could ever open that again."""
    module = sys.modules.get("chromadb.api.shared_system_client")
    if module is not None:  # else it has opened nothing
        module.SharedSystemClient._identifier_to_system.pop(str(folder), None)
        module.SharedSystemClient._identifier_to_refcount.pop(str(folder), None)


def parent_checkpointer(config: RunnableConfig) -> Any:
    """The saver that LangGraph lends a node of the parent's graph, if there is one."""
    return config.get("configurable", {}).get("__pregel_checkpointer")


def track_scratch(graph: "StateGraph[Any, Any, Any, Any]") -> None:
    """Keep in checkpoints what the state declares as `UntrackedValue`: LangGraph has no switch for that."""
    from langgraph.channels import LastValue, UntrackedValue

    for key, channel in graph.channels.items():
        if isinstance(channel, UntrackedValue):
            graph.channels[key] = LastValue(channel.typ, key)

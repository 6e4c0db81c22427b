"""Tools of MCP servers: what acts on the world is closed by the gate, what only looks is not.

Each server is kept by itself. One that cannot be used is skipped, and tried again until it can be.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, overload

from langchain_core.tools import BaseTool

from soulgraph.nodes.tools.mcp_client.server import McpLimits, McpReport, McpServer

_STOP_S = 10.0
_LIMITS = McpLimits()

_log = logging.getLogger(__name__)


class McpServers:
    """The tools of all servers at this moment, and how it stands with each. `taken` are names of other tools."""

    def __init__(
        self, servers: Mapping[str, Mapping[str, Any]], taken: Collection[str] = (), limits: McpLimits = _LIMITS
    ) -> None:
        self._taken = frozenset(taken)
        self._limits = limits
        self._servers = [McpServer(name, one, limits, self._merge) for name, one in servers.items()]
        self._hidden: dict[str, tuple[str, ...]] = {}
        self.tools: Sequence[BaseTool] = ()
        """Of the servers that can be used. Of two tools with one name the first is kept, also while it is away."""

    def _merge(self) -> None:
        self.tools = self._merged()

    def _merged(self) -> list[BaseTool]:
        seen = dict.fromkeys(self._taken, "")
        merged: list[BaseTool] = []
        for server in self._servers:
            hidden = tuple(tool.name for tool in server.tools if tool.name in seen)
            self._warn_of(server.name, hidden, seen)
            own = [tool for tool in server.tools if seen.setdefault(tool.name, server.name) == server.name]
            merged += own if server.is_offered else []
        return merged

    def _warn_of(self, server: str, hidden: tuple[str, ...], owners: Mapping[str, str]) -> None:
        for name in {*hidden} - {*self._hidden.get(server, ())}:
            owner = owners[name] or "another tool of the soul"
            _log.warning("MCP server %s: its tool %s is left out, %s has this name", server, name, owner)
        self._hidden[server] = hidden

    def reports(self) -> list[McpReport]:
        offered = {id(tool) for tool in self.tools}
        return [self._report(server, offered) for server in self._servers]

    def _report(self, server: McpServer, offered: Collection[int]) -> McpReport:
        left_out = (*server.left_out, *self._hidden.get(server.name, ()))
        count = sum(id(tool) in offered for tool in server.tools)
        return McpReport(server.name, server.state, count, server.problem, left_out)

    async def settle(self) -> None:
        """Wait until it is known of each server whether it can be used, but not for ever."""
        waiting = {asyncio.ensure_future(server.settled.wait()): server for server in self._servers}
        _, late = await asyncio.wait(waiting, timeout=self._limits.start_s)
        for one in late:
            one.cancel()
            server = waiting[one]
            server.problem = f"no answer to `initialize` and `tools/list` in {self._limits.start_s:g} s"
            _log.warning("MCP server %s: %s; the start does not wait for it", server.name, server.problem)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the servers for as long as the block lasts. Each has a task of its own, because the task groups of a
        session must be left where they were entered, and would wrap every error of the block."""
        tasks = [asyncio.create_task(server.keep(), name=f"mcp {server.name}") for server in self._servers]
        for task in tasks:
            task.add_done_callback(_report_defect)
        try:
            await self.settle()
            yield
        finally:
            for server in self._servers:
                server.stop()
            _, late = await asyncio.wait(tasks, timeout=_STOP_S)
            for task in late:
                task.cancel()
            await asyncio.wait(tasks)


def _report_defect(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("%s: ended, and its tools are away until the next start", task.get_name(), exc_info=error)


@asynccontextmanager
async def open_mcp_tools(
    servers: Mapping[str, Mapping[str, Any]], taken: Collection[str] = (), limits: McpLimits = _LIMITS
) -> AsyncIterator[McpServers]:
    """The servers, kept while the block lasts. Those that cannot be used are logged and skipped."""
    kept = McpServers(servers, taken, limits)
    if not servers:
        yield kept
        return
    # In a thread, and before anybody's time is counted: it takes a second, on a busy machine several.
    await asyncio.to_thread(import_module, "langchain_mcp_adapters.tools")
    async with kept.running():
        yield kept


class Toolbox(Sequence[BaseTool]):
    """The tools of a voice at this moment: those that stay, and those of MCP servers, which come and go."""

    def __init__(self, own: Sequence[BaseTool], servers: McpServers) -> None:
        self._own = tuple(own)
        self.servers = servers

    def _now(self) -> tuple[BaseTool, ...]:
        return (*self._own, *self.servers.tools)

    @overload
    def __getitem__(self, index: int) -> BaseTool: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BaseTool]: ...
    def __getitem__(self, index: int | slice) -> BaseTool | Sequence[BaseTool]:
        return self._now()[index]

    def __len__(self) -> int:
        return len(self._now())

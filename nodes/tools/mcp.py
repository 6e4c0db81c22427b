"""Tools of MCP servers: what acts on the world is closed by the gate, what only looks is not."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langchain_core.tools import BaseTool

from soulgraph.errors import ConfigurationError
from soulgraph.nodes.tools.gated import gated
from soulgraph.nodes.tools.untrusted import harmless_prose, harmless_schema

_TIMEOUT_S = 30

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_mcp_tools(servers: Mapping[str, Any]) -> AsyncIterator[list[BaseTool]]:
    """One session with each server while the block lasts: a process is not started anew for every call.

    A task of its own keeps the sessions, because their task groups would wrap every error of the block.
    """
    if not servers:
        yield []
        return
    opened: asyncio.Future[list[BaseTool]] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()
    keeping = asyncio.create_task(_keep(servers, opened, over), name="mcp")
    try:
        await asyncio.wait((keeping, opened), return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            keeping.result()
        yield opened.result()
    finally:
        over.set()
        if not opened.done():
            keeping.cancel()
        await asyncio.wait({keeping})
        if not keeping.cancelled() and (error := keeping.exception()):
            _log.warning("an MCP server ended badly: %s", error)


async def _keep(servers: Mapping[str, Any], opened: "asyncio.Future[list[BaseTool]]", over: asyncio.Event) -> None:
    from langchain_mcp_adapters.client import MultiServerMCPClient  # half a second's work

    client = MultiServerMCPClient(dict(servers))
    async with AsyncExitStack() as stack:
        try:
            opened.set_result([tool for name in servers for tool in await _tools(client, name, stack)])
        except ConfigurationError as error:
            opened.set_exception(error)
        await over.wait()


async def _tools(client: Any, server: str, stack: AsyncExitStack) -> list[BaseTool]:
    from langchain_mcp_adapters.tools import load_mcp_tools
    from mcp import McpError

    try:
        async with asyncio.timeout(_TIMEOUT_S):
            session = await stack.enter_async_context(client.session(server))
            tools = await load_mcp_tools(session, server_name=server, tool_interceptors=[_survive])
    except (OSError, ValueError, TypeError, McpError, ExceptionGroup) as error:
        detail = f"the MCP server {server!r} cannot be used: {error or type(error).__name__}"
        raise ConfigurationError("SOULGRAPH_MCP", detail) from error
    return [tool if _only_looks(tool) else gated(tool) for tool in map(_harmless, tools)]


def _harmless(tool: BaseTool) -> BaseTool:
    """The tool as its server describes it, in words that cannot pass for a part of the prompt."""
    prose = harmless_prose(tool.description)
    return tool.model_copy(update={"description": prose, "args_schema": harmless_schema(tool.args_schema)})


async def _survive(request: Any, handler: Any) -> Any:
    """A server that is gone is told to the model, like any other failure of a tool."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp import McpError
    from mcp.types import CallToolResult, TextContent

    try:
        return await handler(request)
    except (BrokenResourceError, ClosedResourceError, McpError, OSError) as error:
        # Its kind alone: what a server says of an error may quote the arguments.
        _log.warning("MCP server %s: %s", request.server_name, type(error).__name__)
        failed = TextContent(type="text", text=f"Not done: {request.server_name} cannot be reached.")
        return CallToolResult(content=[failed], isError=True)


def _only_looks(tool: BaseTool) -> bool:
    """As its server says; one that says nothing may do anything."""
    return bool((tool.metadata or {}).get("readOnlyHint"))

"""One message of MCP and its answer. It is imported with the first of them: `mcp` takes half a second."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from soulgraph import __version__
from soulgraph.api.mcp_tools import TOOLS, Souls, SoulTool
from soulgraph.errors import Busy, SoulgraphError
from soulgraph.soul.validation import flaws_in
from soulgraph.stores.records import Json

Send = Callable[[Json], Awaitable[None]]

_INSTRUCTIONS = (
    "Souls are companions with moods and memories. Find one with list_souls; pass on with talk what a person says, and "
    "show its reply as it is. Use the same conversation id to go on with a conversation."
)


def read_message(body: bytes) -> types.JSONRPCMessage:
    """Raises ValueError for what is no message of MCP."""
    return types.JSONRPCMessage.model_validate_json(body)


def wants_answer(message: types.JSONRPCMessage) -> bool:
    return isinstance(message.root, types.JSONRPCRequest)


def may_take_long(message: types.JSONRPCMessage) -> bool:
    return isinstance(message.root, types.JSONRPCRequest) and message.root.method == "tools/call"


async def answer(message: types.JSONRPCMessage, souls: Souls, send: Send) -> None:
    """Send what the message is answered with: notifications of its progress, and at last the answer.

    Nothing outlives it, so that any process may be given the next message of the same client.
    """
    server = _server(souls)
    told, read = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    write, heard = anyio.create_memory_object_stream[SessionMessage](1)
    serving = asyncio.create_task(server.run(read, write, server.create_initialization_options(), stateless=True))
    try:
        await told.send(SessionMessage(message))
        async for one in heard:
            await send(one.message.model_dump(by_alias=True, mode="json", exclude_none=True))
            if isinstance(one.message.root, types.JSONRPCResponse | types.JSONRPCError):
                break
    finally:
        serving.cancel()
        await asyncio.wait({serving})
        for stream in (told, read, write, heard):
            stream.close()


def _server(souls: Souls) -> Server[Any, Any]:
    server: Server[Any, Any] = Server("soulgraph", version=__version__, instructions=_INSTRUCTIONS)

    async def list_tools(_: types.ListToolsRequest) -> types.ServerResult:
        return types.ServerResult(types.ListToolsResult(tools=_DESCRIBED))

    async def call_tool(request: types.CallToolRequest) -> types.ServerResult:
        return types.ServerResult(await _called(request.params, souls, _progress_of(server)))

    server.request_handlers[types.ListToolsRequest] = list_tools
    server.request_handlers[types.CallToolRequest] = call_tool
    return server


def _progress_of(server: Server[Any, Any]) -> Callable[[str], Awaitable[None]]:
    """Tells the client that has asked for it what a call is at; each thing once."""
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    told: list[str] = []

    async def tell(said: str) -> None:
        if token is not None and said not in told[-1:]:
            told.append(said)
            await context.session.send_progress_notification(token, float(len(told)), message=said)

    return tell


async def _called(
    call: types.CallToolRequestParams, souls: Souls, tell: Callable[[str], Awaitable[None]]
) -> types.CallToolResult:
    tool = _BY_NAME.get(call.name)
    if tool is None:
        return _refusal(f"there is no tool {call.name!r}: use one of {', '.join(_BY_NAME)}")
    try:
        wanted = tool.arguments.model_validate(call.arguments or {})
        outcome = await tool.run(souls, wanted, tell)
    except ValidationError as error:
        return _refusal("; ".join(map(str, flaws_in(error.errors()[:5]))))
    except Busy as error:
        return _refusal(f"{error.detail}; call again in {error.retry_after_s} s")
    except SoulgraphError as error:
        return _refusal(error.detail)
    return types.CallToolResult(content=[_text(outcome.text)], structuredContent=outcome.structured)


def _refusal(why: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(why)], isError=True)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _described(tools: Iterable[SoulTool]) -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            inputSchema=json.loads(json.dumps(tool.arguments.model_json_schema())),
            annotations=types.ToolAnnotations(
                title=tool.title,
                readOnlyHint=tool.only_looks,
                destructiveHint=False,
                idempotentHint=tool.repeatable,
                openWorldHint=False,
            ),
        )
        for tool in tools
    ]


_DESCRIBED = _described(TOOLS)
_BY_NAME = {tool.name: tool for tool in TOOLS}

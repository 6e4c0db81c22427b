"""`/mcp`: souls as tools of other programs, over the Model Context Protocol.

Each message is answered by itself, so that any of several processes may take the next one.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from importlib import import_module
from types import ModuleType
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from soulgraph.api.auth import Reader
from soulgraph.api.mcp_tools import Souls
from soulgraph.api.media import SSE, either, json_file, sent, text
from soulgraph.api.services import Served
from soulgraph.api.sse import PING, PING_S, unbuffered
from soulgraph.stores.records import Json

router = APIRouter(tags=["mcp"])

_NO_JSON, _NO_MESSAGE = -32700, -32600
_ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_souls", "arguments": {}}}
_EVENT = 'event: message\ndata: {"jsonrpc": "2.0", "id": 1, "result": {}}\n\n'


def _refused(code: int, why: str) -> Json:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": why}}


_REFUSALS = {
    "no_json": {"value": _refused(_NO_JSON, "the body is no JSON: send one message of JSON-RPC 2.0")},
    "no_message": {"value": _refused(_NO_MESSAGE, "this is no message of MCP: send one request or notification")},
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: either(
        json_file({"jsonrpc": "2.0", "id": 1, "result": {}}),
        text(SSE, "if a call may take long and the client takes events: its progress, then the answer", _EVENT),
    ),
    202: {"description": "the notification was heard"},
    400: {
        "description": "no message of MCP, as JSON-RPC tells it",
        "content": {"application/json": {"schema": {"type": "object"}, "examples": _REFUSALS}},
    },
}


@router.post(
    "/mcp", response_class=Response, responses=_RESPONSES, openapi_extra=sent(json_file(_ASKED)), operation_id="mcp"
)
async def speak_mcp(request: Request, caller: Reader, services: Served) -> Response:
    """Send one message of the Model Context Protocol (streamable HTTP, without sessions).

    The tools are `list_souls`, `talk`, `feel`, `recall` and `remember`, for the person of the key.
    """
    body = await request.body()
    protocol = await _protocol()
    try:
        message = protocol.read_message(body)
    except ValueError:
        return JSONResponse(_REFUSALS["no_message" if _is_json(body) else "no_json"]["value"], 400)
    if not protocol.wants_answer(message):
        return Response(status_code=202)
    souls = Souls(services, caller.acting_for(caller.one_person))
    if SSE in request.headers.get("accept", "") and protocol.may_take_long(message):
        return unbuffered(_streamed(protocol, message, souls))
    return JSONResponse(await _answered(protocol, message, souls))


async def _protocol() -> ModuleType:
    """Imported in a thread, and once: nobody else has to wait for it."""
    return await asyncio.to_thread(import_module, "soulgraph.api.mcp_server")


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


async def _answered(protocol: ModuleType, message: Any, souls: Souls) -> Json:
    """The last of what is sent."""
    said: list[Json] = []

    async def send(one: Json) -> None:
        said.append(one)

    await protocol.answer(message, souls, send)
    return said[-1]


async def _streamed(protocol: ModuleType, message: Any, souls: Souls) -> AsyncIterator[bytes]:
    """Events as they come, and a ping while none does. A turn goes on if the client leaves."""
    said: asyncio.Queue[Json | None] = asyncio.Queue()

    async def answer() -> None:
        try:
            await protocol.answer(message, souls, said.put)
        finally:
            said.put_nowait(None)

    answering = asyncio.create_task(answer(), name="mcp answer")
    try:
        while True:
            try:
                one = await asyncio.wait_for(said.get(), PING_S)
            except TimeoutError:
                yield PING
                continue
            if one is None:
                break
            yield f"event: message\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode()
        await answering
    finally:
        answering.cancel()
        await asyncio.wait({answering})

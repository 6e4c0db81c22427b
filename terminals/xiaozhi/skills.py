"""What a xiaozhi device can do, as skills: the things of older firmware, and the MCP tools of newer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError

from soulgraph.stores.records import Json
from soulgraph.terminals.reports import Skill
from soulgraph.terminals.xiaozhi.messages import Writer

Send = Callable[[str], Awaitable[None]]

_MAX_SKILLS, _MAX_DESCRIPTION, _MAX_PAGES = 64, 500, 20
_TYPES = ("number", "integer", "string", "boolean", "array", "object")
_CLIENT = {"name": "soulgraph", "version": "1"}
_PROTOCOL = "2024-11-05"

_log = logging.getLogger(__name__)


class IotThings:
    """Things with properties, which are read, and methods, which are called and answer nothing."""

    def __init__(self, writer: Writer, send: Send) -> None:
        self._writer = writer
        self._send = send
        self._descriptors: dict[str, Json] = {}
        self._states: dict[str, Json] = {}

    def describe(self, descriptor: Json) -> None:
        name = descriptor.get("name")
        if isinstance(name, str) and name:
            self._descriptors[name] = descriptor

    def note(self, state: Json) -> None:
        name, values = state.get("name"), state.get("state")
        if isinstance(name, str) and isinstance(values, dict):
            self._states.setdefault(name, {}).update(values)

    def skills(self) -> list[Json]:
        found = []
        for name, descriptor in self._descriptors.items():
            about = _text(descriptor.get("description"))
            for method, one in _members(descriptor, "methods"):
                found.append(_skill(f"{name}.{method}", f"{about}: {_text(one.get('description'))}", _schema(one)))
            for key, one in _members(descriptor, "properties"):
                found.append(_skill(f"{name}.{key}", f"{about}: {_text(one.get('description'))}", {"type": "object"}))
        return found

    async def use(self, skill: str, arguments: Json) -> Json | None:
        """None for a skill that is none of these."""
        name, _, member = skill.partition(".")
        descriptor = self._descriptors.get(name, {})
        if member in dict(_members(descriptor, "methods")):
            await self._send(self._writer.command(name, member, arguments))
            return {"ok": True, "output": "sent to the device, which does not say what became of it"}
        if member in dict(_members(descriptor, "properties")):
            values = self._states.get(name, {})
            known = {"ok": True, "output": values.get(member)}
            return known if member in values else {"ok": False, "error": "the device has not said so far"}
        return None


class McpTools:
    """The tools of a device that is an MCP server: asked for page by page, then called."""

    def __init__(self, writer: Writer, send: Send) -> None:
        self._writer = writer
        self._send = send
        self._tools: dict[str, Json] = {}
        self._last_id = 0
        self._asked: dict[int, str] = {}
        self._calls: dict[int, asyncio.Future[Json]] = {}

    async def begin(self) -> None:
        self._tools.clear()
        params = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": _CLIENT}
        await self._ask("initialize", params)

    async def hear(self, payload: Json) -> bool:
        """Take in what the device answers; returns whether all its tools are known now."""
        number = payload.get("id")
        if not isinstance(number, int):
            return False
        if call := self._calls.pop(number, None):
            if not call.done():
                call.set_result(payload)
            return False
        asked, result = self._asked.pop(number, None), payload.get("result")
        if asked and not isinstance(result, dict):
            _log.warning("xiaozhi: a device did not answer %s: %s", asked, str(payload.get("error"))[:200])
        elif asked == "initialize":
            await self._ask("tools/list", {})
        elif asked == "tools/list" and isinstance(result, dict):
            return await self._take(result)
        return False

    async def _take(self, page: Json) -> bool:
        tools = page.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._tools[tool["name"]] = tool
        cursor = page.get("nextCursor")
        if isinstance(cursor, str) and cursor and self._last_id < _MAX_PAGES:
            await self._ask("tools/list", {"cursor": cursor})
            return False
        return True

    def skills(self) -> list[Json]:
        return [
            _skill(name, _text(tool.get("description")) or name, tool.get("inputSchema") or {"type": "object"})
            for name, tool in self._tools.items()
        ]

    async def use(self, skill: str, arguments: Json) -> Json | None:
        """None for a skill that is none of these. Whoever asks gives up waiting, not we."""
        if skill not in self._tools:
            return None
        self._last_id += 1
        answer = self._calls[self._last_id] = asyncio.get_running_loop().create_future()
        await self._send_rpc(self._last_id, "tools/call", {"name": skill, "arguments": arguments})
        return _result(await answer)

    async def _ask(self, method: str, params: Json) -> None:
        self._last_id += 1
        self._asked[self._last_id] = method
        await self._send_rpc(self._last_id, method, params)

    async def _send_rpc(self, number: int, method: str, params: Json) -> None:
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self._send(self._writer.mcp(request))


def usable(skills: list[Json]) -> list[Json]:
    """Those that can be reported: one that cannot must not take the others with it."""
    good = []
    for skill in skills:
        try:
            good.append(Skill.model_validate(skill).model_dump(mode="json"))
        except ValidationError as error:
            _log.warning("xiaozhi: skill %.80r is left out: %s", skill["name"], error.errors()[0]["msg"])
    if len(good) > _MAX_SKILLS:
        _log.warning("xiaozhi: of %d skills of a device the first %d are reported", len(good), _MAX_SKILLS)
    return good[:_MAX_SKILLS]


def _skill(name: str, description: str, schema: Any) -> Json:
    return {"name": name, "description": description.strip(": ")[:_MAX_DESCRIPTION], "input_schema": schema}


def _schema(method: Json) -> Json:
    parameters = dict(_members(method, "parameters"))
    properties = {
        name: {
            "type": one.get("type") if one.get("type") in _TYPES else "string",
            "description": _text(one.get("description")),
        }
        for name, one in parameters.items()
    }
    return {"type": "object", "properties": properties, "required": list(parameters)}


def _members(thing: Json, kind: str) -> list[tuple[str, Json]]:
    found = thing.get(kind)
    return [(name, one) for name, one in found.items() if isinstance(one, dict)] if isinstance(found, dict) else []


def _result(answer: Json) -> Json:
    """The answer to a call, as the result of a skill."""
    if "error" in answer:
        error = answer["error"]
        return {"ok": False, "error": _text(error.get("message") if isinstance(error, dict) else error)}
    result = answer.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    texts = [_text(one.get("text")) for one in content or () if isinstance(one, dict)]
    output = "\n".join(texts) if texts else result
    failed = isinstance(result, dict) and result.get("isError") is True
    return {"ok": False, "error": str(output)[:500]} if failed else {"ok": True, "output": output}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

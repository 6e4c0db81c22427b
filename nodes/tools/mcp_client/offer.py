"""What an MCP server lists, as tools of the model: each alone is judged, so that a bad one costs none of the others."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from soulgraph.nodes.tools.gated import gated
from soulgraph.nodes.tools.untrusted import harmless_prose, harmless_schema

_MAX_NAME = 64
_UNCALLABLE = re.compile(r"[^a-zA-Z0-9_-]")
"""What models' servers refuse in the name of a tool, and all other tools with it."""

Call = Any
"""A `ToolCallInterceptor`: carries out a call by itself."""


class Offered(NamedTuple):
    """The tools of a server, and why others of it are left out, by name."""

    tools: Sequence[BaseTool]
    left_out: dict[str, str]


def offer(listed: Sequence[Any], server: str, call: Call) -> Offered:
    """`call` carries out a call, in place of the session that the adapter would use."""
    tools: list[BaseTool] = []
    left_out: dict[str, str] = {}
    for one in listed:
        name = str(one.get("name") or "without a name") if isinstance(one, dict) else "without a name"
        try:
            tool = _tool(one, server, call)
        except _FLAWS as error:
            left_out[name] = str(error).partition("\n")[0]
            continue
        if any(tool.name == other.name for other in tools):
            left_out[name] = f"another one is called {tool.name} already"
        else:
            tools.append(tool)
    return Offered(tools, left_out)


def _tool(listed: Any, server: str, call: Call) -> BaseTool:
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
    from mcp.types import Tool

    try:
        described = Tool.model_validate(listed)
    except ValidationError as error:
        flaw = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}") from error
    _check_schema(described.inputSchema)
    # The adapter wants a session or a way to one; `call` uses whichever there is when it is needed.
    tool = convert_mcp_tool_to_langchain_tool(
        None, described, connection={"transport": "stdio", "command": "", "args": []}, tool_interceptors=[call]
    )
    tool = _harmless(tool)
    convert_to_openai_tool(tool)
    return tool if _only_looks(tool) else gated(tool)


def _check_schema(schema: dict[str, Any]) -> None:
    """Raise ValueError for a schema that describes no arguments."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    if schema.get("type", "object") != "object":
        raise ValueError("its input schema is not of an object")
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"its input schema is none: {error.message}") from error


def _harmless(tool: BaseTool) -> BaseTool:
    """The tool as its server describes it, in words that cannot pass for a part of the prompt."""
    schema = tool.args_schema
    if isinstance(schema, dict):
        schema = {"type": "object", "properties": {}, **schema}
    update = {
        "name": _UNCALLABLE.sub("_", tool.name)[:_MAX_NAME],
        "description": harmless_prose(tool.description),
        "args_schema": harmless_schema(schema),
    }
    return tool.model_copy(update=update)


def _only_looks(tool: BaseTool) -> bool:
    """As its server says; one that says nothing may do anything."""
    return bool((tool.metadata or {}).get("readOnlyHint"))


_FLAWS = (ValueError, TypeError, LookupError, NotImplementedError, RecursionError)

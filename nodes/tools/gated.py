"""Tools that the gate can close, as it closes a terminal's skills. All others are the soul's in any mood."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from soulgraph.soul.gate import Gate

REFUSAL = "Not done: you cannot act now, for the reason given. Say so in character, and never claim that it was done."
_MARK = "gated"

Execute = Callable[[ToolCallRequest], Awaitable[Any]]


def gated(tool: BaseTool) -> BaseTool:
    """The tool, to be refused while the soul cannot act."""
    return tool.model_copy(update={"metadata": {**(tool.metadata or {}), _MARK: True}})


def gatekeeper(gate: Gate) -> Callable[[ToolCallRequest, Execute], Awaitable[Any]]:
    async def keep(request: ToolCallRequest, execute: Execute) -> Any:
        closed = gate.exec_mode != "auto_execute"
        if closed and request.tool and (request.tool.metadata or {}).get(_MARK):
            call = request.tool_call
            return ToolMessage(REFUSAL, name=call["name"], tool_call_id=call["id"], status="error")
        return await execute(request)

    return keep

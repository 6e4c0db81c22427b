"""The skills a terminal reported, as tools that the model is offered for one turn and that the gate can close."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import ValidationError

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import LoopState
from soulgraph.nodes.tools.gated import REFUSAL
from soulgraph.nodes.tools.untrusted import harmless_prose, harmless_schema
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json, Terminal
from soulgraph.terminals.arguments import mismatch
from soulgraph.terminals.hub_port import Hub
from soulgraph.terminals.payloads import Invoke

_MAX_NAME, _MAX_OUTPUT = 64, 4000
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class OfferedSkill:
    """`name` is what the terminal calls it, `tool` what a model can call it; likewise `declared` and `schema`."""

    name: str
    tool: str
    description: str
    schema: Json
    declared: Json

    @property
    def line(self) -> str:
        """How a prompt lists it."""
        return f"{self.tool}: {self.description}"

    @property
    def function(self) -> Json:
        """How a model's server is told of it."""
        described = {"name": self.tool, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": described}


@dataclass(frozen=True, slots=True)
class _Reported:
    """Equal if it is the same report, whose skills are then prepared only once."""

    terminal_id: str
    version: int
    at: float
    reserved: frozenset[str]
    names: tuple[str, ...]
    skills: Sequence[Json] = field(compare=False)


def offered_by(terminal: Terminal | None, tools: Collection[BaseTool]) -> Sequence[OfferedSkill]:
    """A terminal's skills; none takes the name of a tool that the soul has itself."""
    if terminal is None or not terminal.skills:
        return ()
    reserved = frozenset(tool.name for tool in tools)
    report = terminal.terminal_id, terminal.skill_version, terminal.updated_at
    names = tuple(f"{skill['name']} {skill['description']}" for skill in terminal.skills)
    return _prepared(_Reported(*report, reserved, names, terminal.skills))


@lru_cache(maxsize=1024)
def _prepared(reported: _Reported) -> Sequence[OfferedSkill]:
    taken, skills = set(reported.reserved), []
    for skill in reported.skills:
        name = skill["name"]
        taken.add(tool := _free_tool_name(name, taken))
        declared = skill["input_schema"]
        skills.append(
            OfferedSkill(name, tool, harmless_prose(skill["description"] or name), harmless_schema(declared), declared)
        )
    return tuple(skills)


def _free_tool_name(name: str, taken: Collection[str]) -> str:
    """A name by the rules of model servers: a Latin one stays as it is, others become numbers."""
    wanted = _NOT_IN_NAMES.sub("_", name).strip("_") or "skill"
    names = [wanted[:_MAX_NAME], *(f"{wanted[: _MAX_NAME - 4]}_{n}" for n in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken)


class SkillTool(BaseTool):
    """One use of a skill: refused while the gate is closed or if it is used wrongly, else the terminal answers."""

    skill: str
    declared: Json
    terminal_id: str
    hub: Any
    may_act: bool
    on_used: Callable[[str], None]
    handle_tool_error: bool = True

    def _run(self, /, **arguments: Any) -> str:
        raise NotImplementedError("skills are used asynchronously")

    async def _arun(self, /, **arguments: Any) -> str:
        if not self.may_act:
            raise ToolException(REFUSAL)
        if wrong := mismatch(self.declared, arguments):
            raise ToolException(_as_output(f"Not done, the arguments do not fit: {wrong}"))
        hub: Hub | None = self.hub
        if hub is None:
            raise ToolException("Not done: the terminal cannot be reached.")
        try:
            invoke = Invoke(request_id=new_id("use"), skill=self.skill, arguments=arguments)
        except ValidationError as error:
            raise ToolException("Not done: these arguments cannot be sent.") from error
        result = await hub.invoke(self.terminal_id, invoke)
        if not result.ok:
            raise ToolException(_as_output(f"Not done: {result.error or 'the terminal could not do it'}"))
        self.on_used(self.skill)
        return _as_output(
            result.output if isinstance(result.output, str) else json.dumps(result.output, ensure_ascii=False)
        )


def _as_output(output: str) -> str:
    return output[:_MAX_OUTPUT].strip() or "done"


def skill_tools(state: LoopState, context: Context, used: list[str]) -> list[BaseTool]:
    """The terminal's skills for the tool calls of one answer; what was used is added to `used`."""
    terminal = state.get("terminal")
    if terminal is None:
        return []
    may_act = state["gate"].exec_mode == "auto_execute"
    return [
        SkillTool(
            name=skill.tool,
            description=skill.description,
            args_schema=skill.schema,
            skill=skill.name,
            declared=skill.declared,
            terminal_id=terminal.terminal_id,
            hub=context.outlets.hub,
            may_act=may_act,
            on_used=used.append,
        )
        for skill in offered_by(terminal, context.voice.tools)
    ]

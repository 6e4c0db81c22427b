"""The voice of a soul: a chat model with its tools, under the name that answers carry."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from soulgraph.prompts.contract import Carrier
from soulgraph.voices.offline import OfflineVoice

_MAX_BINDINGS = 64


@dataclass(slots=True)
class Habits:
    """How a model answers, as far as it is `known`; `voices/probe.py` learns it after the first turn."""

    carrier: Carrier = "tags"
    known: bool = True


@dataclass(frozen=True)
class Voice:
    name: str
    model: BaseChatModel
    tools: Sequence[BaseTool] = ()
    habits: Habits = field(default_factory=Habits)
    context_tokens: int | None = None
    """How much the model can read, if its server tells."""

    @cached_property
    def _heuristics(self) -> OfflineVoice:
        return OfflineVoice()

    @property
    def writer(self) -> BaseChatModel:
        """Who writes events: the offline voice for a model that cannot keep a form, and mixes up who did what."""
        return self.model if self.habits.carrier == "tags" else self._heuristics

    @property
    def with_tools(self) -> Runnable[LanguageModelInput, AIMessage]:
        return self.with_skills((), may_call=True)

    @property
    def without_tools(self) -> Runnable[LanguageModelInput, AIMessage]:
        """The model may call no tools. Their schemas are still sent: the history may hold calls of them."""
        return self.with_skills((), may_call=False)

    def with_skills(
        self, skills: Sequence[dict[str, Any]], may_call: bool, tools: Sequence[BaseTool] | None = None
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with a terminal's skills beside its tools; `may_call` says whether it may call any of them.

        `tools` are those of its own that the model is told of, by default all.
        """
        schemas = self.schemas_of(self.tools if tools is None else tools)
        return self._bind([*schemas, *skills], may_call) if skills else self._bound(schemas, may_call)

    def schemas_of(self, tools: Iterable[BaseTool]) -> list[dict[str, Any]]:
        """How a server is told of these of its tools."""
        return [self._schema_of(tool) for tool in tools]

    def _schema_of(self, tool: BaseTool) -> dict[str, Any]:
        """Kept for as long as it is the same tool: those of MCP servers come and go."""
        kept = self._schemas.get(tool.name)
        if kept is None or kept[0] is not tool:
            kept = self._schemas[tool.name] = tool, convert_to_openai_tool(tool)
        return kept[1]

    def _bound(self, schemas: list[dict[str, Any]], may_call: bool) -> Runnable[LanguageModelInput, AIMessage]:
        """Cached, because binding costs more than a graph step; without skills there are few combinations."""
        key = (*map(id, schemas), may_call)
        kept = self._bindings.get(key)
        if kept is None:
            if len(self._bindings) >= _MAX_BINDINGS:
                self._bindings.clear()
            kept = self._bindings[key] = schemas, self._bind(schemas, may_call)
        return kept[1]

    def _bind(self, schemas: Sequence[dict[str, Any]], may_call: bool) -> Runnable[LanguageModelInput, AIMessage]:
        if not schemas:
            return self.model
        return self.model.bind_tools(schemas, **({} if may_call else {"tool_choice": "none"}))

    @cached_property
    def _bindings(self) -> dict[tuple[int, ...], tuple[list[dict[str, Any]], Runnable[LanguageModelInput, AIMessage]]]:
        """By the schemas, which are kept with them: so nothing else can have their ids."""
        return {}

    @cached_property
    def _schemas(self) -> dict[str, tuple[BaseTool, dict[str, Any]]]:
        return {}

"""The voice of a soul: a chat model with its tools, under the name that answers carry."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool


@dataclass(frozen=True)
class Voice:
    name: str
    model: BaseChatModel
    tools: Sequence[BaseTool] = ()

    @cached_property
    def with_tools(self) -> Runnable[LanguageModelInput, AIMessage]:
        """Cached, because turning tools into schemas costs more than a whole graph step."""
        return self.model.bind_tools(self.tools) if self.tools else self.model

    @cached_property
    def without_tools(self) -> Runnable[LanguageModelInput, AIMessage]:
        """The model may call no tools. Their schemas are still sent: the history may hold calls of them."""
        return self.model.bind_tools(self.tools, tool_choice="none") if self.tools else self.model

    def with_skills(self, skills: Sequence[dict[str, Any]], may_call: bool) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with a terminal's skills beside the tools; `may_call` says whether it may call any of them."""
        if not skills:
            return self.with_tools if may_call else self.without_tools
        return self.model.bind_tools([*self._schemas, *skills], **({} if may_call else {"tool_choice": "none"}))

    @cached_property
    def _schemas(self) -> list[dict[str, Any]]:
        return [convert_to_openai_tool(tool) for tool in self.tools]

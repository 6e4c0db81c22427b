"""The voice of a soul: a chat model under the name that answers carry."""

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
        """Bound once: turning tools into schemas costs more than a whole graph step."""
        return self.model.bind_tools(self.tools) if self.tools else self.model

    @cached_property
    def without_tools(self) -> Runnable[LanguageModelInput, AIMessage]:
        """The schemas stay, so that earlier tool calls stay legal, but no new ones may be made."""
        return self.model.bind_tools(self.tools, tool_choice="none") if self.tools else self.model

    def offering(self, skills: Sequence[dict[str, Any]], may_call: bool) -> Runnable[LanguageModelInput, AIMessage]:
        """With functions of a terminal's beside the tools, for one turn; `may_call` says whether any may be called."""
        if not skills:
            return self.with_tools if may_call else self.without_tools
        return self.model.bind_tools([*self._schemas, *skills], **({} if may_call else {"tool_choice": "none"}))

    @cached_property
    def _schemas(self) -> list[dict[str, Any]]:
        return [convert_to_openai_tool(tool) for tool in self.tools]

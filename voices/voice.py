"""The voice of a soul: a chat model under the name that answers carry."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool


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

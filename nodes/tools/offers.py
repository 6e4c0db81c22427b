"""Which tools the model is told of in a turn: only those that can serve.

Every schema costs a small model seconds before its first word, and tempts it to talk about tools. Calls are not
judged here: whatever the model calls runs through the gate, offered or not.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from soulgraph.nodes.state import LoopState
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.nodes.tools.skills import OfferedSkill, offered_by
from soulgraph.senses.text import normalise

_MAX_CHARS = 2000
_MEMORY_TOOLS = frozenset(tool.name for tool in TOOLS)


class Offer(NamedTuple):
    """`tools` are the soul's own, `skills` those of its terminal."""

    tools: Sequence[BaseTool]
    skills: Sequence[OfferedSkill]


def offered(state: LoopState, tools: Sequence[BaseTool], weak: bool = False) -> Offer:
    """What of the soul's tools and its terminal's skills can serve in this turn.

    Tools of embedders and MCP servers are always offered, because nobody here knows what they are for. A `weak` model
    does not use its memory by itself: it is told what is recalled, and facts are kept for it afterwards.
    """
    memory = _has_used_tools(state) or (not weak and concerns_memory(state["utterance"]["text"]))
    own = tools if memory else [tool for tool in tools if tool.name not in _MEMORY_TOOLS]
    return Offer(own, _skills(state, tools))


def concerns_memory(text: str) -> bool:
    """Whether the words give the memory tools something to do: keep a fact, take a note, or look something up."""
    return _search(normalise(text[:_MAX_CHARS]).lower())


def _has_used_tools(state: LoopState) -> bool:
    """Then the model may need another call, and its server the schemas of those in the history."""
    return state.get("steps", 0) > 0 or any(isinstance(message, ToolMessage) for message in state["messages"])


def _skills(state: LoopState, tools: Sequence[BaseTool]) -> Sequence[OfferedSkill]:
    """None while the gate is closed: a skill could only be refused."""
    terminal = state.get("terminal")
    if terminal is None or state["gate"].exec_mode != "auto_execute":
        return ()
    return offered_by(terminal, tools)


@lru_cache(maxsize=1024)
def _search(text: str) -> bool:
    words = _words()
    return any(pattern.search(text) for pattern in words.uses) or words.asks_about_own_life(text)


class _Words(NamedTuple):
    uses: list[re.Pattern[str]]
    question: re.Pattern[str]
    own_life: re.Pattern[str]
    other_question: re.Pattern[str]

    def asks_about_own_life(self, text: str) -> bool:
        asked = self.question.search(text) and self.own_life.search(text)
        return bool(asked) and not self.other_question.search(text)


@cache
def _words() -> _Words:
    loaded = yaml.safe_load((files(__package__) / "memory_words.yaml").read_text("utf-8"))
    uses = [re.compile(pattern) for group in loaded["uses"].values() for pattern in group]
    return _Words(uses, *(re.compile(loaded[name]) for name in ("question", "own_life", "other_question")))

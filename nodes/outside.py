"""What came into a turn in words of strangers, against which everything is held that a model wants to keep."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from soulgraph.memory.recall import Recalled
from soulgraph.prompts.persona import Persona
from soulgraph.senses.grounding import sentences_of
from soulgraph.senses.planted import Sources
from soulgraph.soul.own_words import borrowed_words, gives_orders, own_statements
from soulgraph.stores.records import Json, Message

_IMPORTED = "imported"
"""The turn of messages that come from elsewhere."""
_OWN_TOOLS = frozenset({"remember", "recall_memory", "note"})


def outside_of(
    persona: Persona, recalled: Recalled, recent: Iterable[Message], skills: Iterable[Json], tools: Iterable[BaseTool]
) -> list[str]:
    """Lore, how tools and skills describe themselves, what a card orders, and what people quote in the prompt."""
    lines = [message for one in recalled.episodes for message in one.lines]
    described = [tool.description for tool in tools if tool.name not in _OWN_TOOLS]
    ordered = [one for text in (persona.base_persona, persona.inner_state) for one in sentences_of(text)]
    return [
        *(entry.content for entry in persona.lore),
        *(json.dumps(skill, ensure_ascii=False) for skill in skills),
        *described,
        *filter(gives_orders, ordered),
        *strangers_in([*recent, *lines]),
    ]


def strangers_in(messages: Sequence[Message]) -> list[str]:
    """What people have quoted, and what another program once answered them."""
    quoted = [words for one in messages if one.role == "user" for words in borrowed_words(one.content)]
    return quoted + [one.content for one in messages if one.role == "assistant" and one.turn_id == _IMPORTED]


def told_outside(update: Any) -> list[str]:
    """What tools have answered; what the soul's own say is from its memory."""
    update = update.update if isinstance(update, Command) else update
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    return [one.text for one in messages if isinstance(one, ToolMessage) and one.name not in _OWN_TOOLS]


def sources_of(state: Mapping[str, Any], *known: str) -> Sources:
    """What a note of this turn is held against; `known` is what the soul knows of itself.

    In a group every line of the prompt is quoted: only what is said now is one's own.
    """
    text = state["utterance"]["text"]
    heard = [one.text for one in state.get("messages", ()) if isinstance(one, HumanMessage)]
    said = [text, *heard[:-1]]  # the last one is this text, as the prompt has it
    replies = [one.text for one in state.get("messages", ()) if isinstance(one, AIMessage)]
    return Sources([*map(own_statements, said), *known], [*state.get("outside", ()), *borrowed_words(text)], replies)


def sources_in(messages: Sequence[Message], *known: str) -> Sources:
    """The same for a stretch of conversation that is over."""
    said = [one.content for one in messages if one.role == "user"]
    replies = [one.content for one in messages if one.role == "assistant"]
    return Sources([*map(own_statements, said), *known], strangers_in(messages), replies)

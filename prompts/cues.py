"""Machine-readable cues on the first system message, for the offline voice; hosted models never get them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from langchain_core.messages import BaseMessage, SystemMessage

from soulgraph.soul.language import Lang

CUES = "soulgraph"


class GateCue(TypedDict):
    exec_mode: Literal["auto_execute", "blocked"]
    locked: bool


class Cues(TypedDict):
    """The cues of a turn; those of a task are `task`, `lang` and the task's own data."""

    task: Literal["turn"]
    lang: Lang
    soul_name: str
    voice: str
    user_text: str
    user_emotion: dict[str, Any]
    mood: str
    mood_p: float
    mode: str
    gate: GateCue
    blocked_intents: list[str]
    facts: list[str]
    question: NotRequired[str]


def cued(content: str, cues: Mapping[str, Any]) -> SystemMessage:
    """A system message that carries its cues beside the text."""
    return SystemMessage(content=content, additional_kwargs={CUES: dict(cues)})


def cues_of(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """The cues of the first system message; empty when it has none."""
    system = next((m for m in messages if isinstance(m, SystemMessage)), None)
    return dict(system.additional_kwargs.get(CUES, {})) if system else {}

"""Machine-readable cues on a message, for the offline voice; hosted models never get them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from soulgraph.soul.gate import GateReason
from soulgraph.soul.language import Lang

CUES = "soulgraph"


class PlanCues(TypedDict, total=False):
    """What is overdue, what was noted or changed, and whether the soul was asked for just that."""

    first: list[str]
    said: list[str]
    heeded: bool


class Cues(PlanCues):
    """The cues of a turn; those of a task are `task`, `lang` and the task's own data.

    `mood` is the mood in words and `mood_key` its key, `grades` are those of the traits, 1 to 5. `gate_reason` is why
    the soul cannot act, None if it can. `secrets` are texts that no reply may recite. `begun` is what was said
    already of a reply that goes on.
    """

    task: Literal["turn"]
    lang: Lang
    soul_name: str
    voice: str
    user_text: str
    user_emotion: dict[str, Any]
    mood: str
    mood_key: str
    grades: dict[str, int]
    mode: str
    gate_reason: GateReason | None
    blocked_intents: list[str]
    facts: list[str]
    question: NotRequired[str]
    begun: NotRequired[str]
    secrets: NotRequired[list[str]]


def cued(content: str, cues: Mapping[str, Any]) -> SystemMessage:
    """A system message that carries its cues beside the text, as a turn begins."""
    return SystemMessage(content=content, additional_kwargs={CUES: dict(cues)})


def cued_task(content: str, cues: Mapping[str, Any]) -> HumanMessage:
    """The message of a task, which is the only one of its call."""
    return HumanMessage(content=content, additional_kwargs={CUES: dict(cues)})


def cues_of(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """The cues of the first message that has any; empty when none has."""
    return dict(next((m.additional_kwargs[CUES] for m in messages if CUES in m.additional_kwargs), {}))

"""What a turn answers, in the form in which it is sent and stored."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from soulgraph.senses.intents.decision import Action
from soulgraph.soul.emotions import EmotionStateDict
from soulgraph.soul.gate import ExecMode
from soulgraph.soul.gate_words import GateReport
from soulgraph.soul.modes import Mode
from soulgraph.stores.records import Json

UpdateFate = Literal["unchanged", "applied", "pending", "dropped"]


class AppraisalReport(TypedDict):
    """What the words are to the soul, each 0..1, and why."""

    toward: float
    hostility: float
    repair: float
    reasons: list[str]


class UserEmotionReport(TypedDict):
    """What the recogniser found; `unavailable` if it failed or took too long."""

    emotion: str
    p: float
    a: float
    d: float
    intensity: float
    confidence: float | None
    appraisal: AppraisalReport
    unavailable: bool


class IntentDecisionReport(TypedDict):
    action: Action
    reason: str


class MatchedIntentReport(TypedDict):
    intent_id: str
    intent_name: str
    confidence: float
    parameters: Json
    status: Literal["ready", "need_clarification"]
    question: str | None
    why: str


class PersonaReport(TypedDict):
    """What the prompt was built from."""

    mode: Mode
    sources: list[str]
    memory_hits: int
    truncated: bool
    cut: Annotated[list[str], Field(description="the variables that the prompt shows shortened or not at all")]


class TokenUsage(TypedDict):
    calls: int
    input_tokens: int
    output_tokens: int


class Answer(TypedDict):
    """What a turn answers, over HTTP and everywhere else; it is also what is stored of the turn."""

    session_id: str
    turn_id: str
    soul_id: str
    terminal_id: str | None
    replaces: Annotated[int | None, Field(description="the message that was taken back for it, with all after it")]
    reply: str
    stopped: Annotated[bool, Field(description="whether the person stopped the reply before its end")]
    intent_decision: IntentDecisionReport
    intents: list[MatchedIntentReport]
    executed_skills: list[str]
    intent_action_publish_ok: Annotated[bool | None, Field(description="null without a broker or anything to deliver")]
    exec_mode: ExecMode
    exec_probability: float
    gate: Annotated[GateReport, Field(description="why the soul cannot act and what would help; null if it can")]
    user_emotion: UserEmotionReport
    soul_emotion: EmotionStateDict
    persona: PersonaReport
    state_changed: bool
    state_update: Annotated[
        UpdateFate,
        Field(description="`pending`: the model is asked after the reply; `dropped`: what it said could not be used"),
    ]
    voice: str
    usage: Annotated[TokenUsage, Field(description="what the turn's model calls cost")]

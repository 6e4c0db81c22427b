"""The messages sent to terminals, as JSON. `ts` is in epoch seconds, like every time in `soul_emotion`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from soulgraph.errors import SoulgraphError
from soulgraph.soul.gate import ExecMode
from soulgraph.soul.gate_words import GateReport
from soulgraph.terminals.topics import valid_terminal_id

TerminalId = Annotated[str, AfterValidator(valid_terminal_id)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Payload(BaseModel):
    """Validated when it is made, so that serialising it later cannot fail."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def to_json(self) -> str:
        """Fields that are None are left out."""
        return self.model_dump_json(exclude_none=True)


class EmotionUpdate(Payload):
    """`user_emotion` is that of a turn; an update between turns has none."""

    session_id: str
    terminal_id: TerminalId
    soul_id: str
    user_emotion: dict[str, JsonValue] | None = None
    soul_emotion: dict[str, JsonValue]
    exec_probability: Probability
    exec_mode: ExecMode
    gate: GateReport
    ts: float


class Cleared(Payload):
    """Nothing at all, which clears what is retained."""

    def to_json(self) -> str:
        return ""


class IntentCall(Payload):
    """One intent with all the parameters the terminal needs to carry it out."""

    intent_id: str
    intent_name: str
    confidence: Probability
    parameters: dict[str, JsonValue]


class IntentAction(Payload):
    request_id: str
    session_id: str
    terminal_id: TerminalId
    soul_id: str
    intents: list[IntentCall] = Field(min_length=1)
    exec_probability: Probability
    ts: float


class Invoke(Payload):
    """A skill call of the model; the terminal answers on `result/{request_id}`."""

    request_id: str
    skill: str
    arguments: dict[str, JsonValue]


class Problem(Payload):
    code: str
    detail: str

    @classmethod
    def of(cls, error: SoulgraphError) -> Self:
        return cls(code=error.problem_code, detail=error.detail)


class Reply(Payload):
    """The answer to an input: the soul's reply, or the problem that prevented it."""

    input_id: str
    terminal_id: TerminalId
    session_id: str | None = None
    turn_id: str | None = None
    soul_id: str | None = None
    text: str = ""
    exec_mode: ExecMode | None = None
    executed_skills: list[str] = []
    intent_action_publish_ok: bool | None = None
    problem: Problem | None = None
    ts: float

    @classmethod
    def of(cls, input_id: str, terminal_id: str, answer: Mapping[str, Any], ts: float) -> Self:
        """From the answer of a turn; its fields have the same names, but for `reply`."""
        same = {name: answer[name] for name in cls.model_fields.keys() & answer.keys() - {"terminal_id"}}
        return cls(input_id=input_id, terminal_id=terminal_id, text=answer["reply"], ts=ts, **same)


class Proactive(Payload):
    """A message that a soul sends without having been spoken to.

    One with the same `delivery_id` is the same message: it was sent again, because nobody knows whether it arrived.
    """

    session_id: str
    soul_id: str
    text: str
    delivery_id: str
    ts: float


class Status(Payload):
    """What the server knows of a terminal. `problem` is what was wrong with its last message."""

    terminal_id: TerminalId
    server: Literal["ready"] = "ready"
    bound: bool
    soul_id: str | None = None
    soul_name: str | None = None
    skill_version: int
    catalog_version: int
    problem: Problem | None = None
    ts: float

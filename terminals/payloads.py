"""What terminals are sent, as JSON. `ts` is in epoch seconds, like every time in `soul_emotion`."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from soulgraph.soul.gate import ExecMode
from soulgraph.terminals.topics import addressable

TerminalId = Annotated[str, AfterValidator(addressable)]
Share = Annotated[float, Field(ge=0, le=1)]


class Payload(BaseModel):
    """Checked when it is made, so that sending it later cannot fail."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def to_json(self) -> str:
        """What is not known is left out."""
        return self.model_dump_json(exclude_none=True)


class EmotionUpdate(Payload):
    session_id: str
    terminal_id: TerminalId
    soul_id: str
    user_emotion: dict[str, JsonValue] | None = None
    soul_emotion: dict[str, JsonValue]
    exec_probability: Share
    exec_mode: ExecMode
    ts: float


class IntentCall(Payload):
    """One intent with all the parameters the terminal needs to carry it out."""

    intent_id: str
    intent_name: str
    confidence: Share
    parameters: dict[str, JsonValue]


class IntentAction(Payload):
    request_id: str
    session_id: str
    terminal_id: TerminalId
    soul_id: str
    intents: list[IntentCall] = Field(min_length=1)
    exec_probability: Share
    ts: float


class Proactive(Payload):
    """What a soul says of its own accord."""

    session_id: str
    soul_id: str
    text: str
    ts: float

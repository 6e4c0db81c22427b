"""What flows through a turn. Only `persona_state` and `turn` outlive it; the rest is scratch."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from soulgraph.senses.intents import Filtered
from soulgraph.soul.dynamics import EmotionState, UserEmotion
from soulgraph.soul.gate import Gate
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.profile import StateUpdate
from soulgraph.stores.records import Session, Soul

Json = dict[str, Any]


class TurnInput(TypedDict, total=False):
    """`text`, `soul_id`, `session_id`, `input_id` and `turn_id` are needed; the others say where it comes from."""

    text: Annotated[str, UntrackedValue]
    soul_id: Annotated[str, UntrackedValue]
    session_id: Annotated[str, UntrackedValue]
    input_id: Annotated[str, UntrackedValue]
    turn_id: Annotated[str, UntrackedValue]
    user_id: Annotated[str, UntrackedValue]
    terminal_id: Annotated[str | None, UntrackedValue]
    character_id: Annotated[str | None, UntrackedValue]
    background_id: Annotated[str | None, UntrackedValue]
    template_id: Annotated[str | None, UntrackedValue]


class TurnOutput(TypedDict, total=False):
    answer: Annotated[Json, UntrackedValue]


class TurnState(TurnInput, TurnOutput, total=False):
    persona_state: PersonaState
    turn: int

    user_emotion: Annotated[UserEmotion, UntrackedValue]
    emotion_unavailable: Annotated[bool, UntrackedValue]
    heard_at: Annotated[float, UntrackedValue]
    soul: Annotated[Soul, UntrackedValue]
    session: Annotated[Session, UntrackedValue]
    soul_emotion: Annotated[EmotionState, UntrackedValue]
    filtered: Annotated[Filtered, UntrackedValue]
    gate: Annotated[Gate, UntrackedValue]

    executed: Annotated[list[str], UntrackedValue]
    messages: Annotated[list[AnyMessage], UntrackedValue]
    persona: Annotated[Json, UntrackedValue]
    output: Annotated[str, UntrackedValue]
    shown: Annotated[str, UntrackedValue]
    remembered: Annotated[list[str], UntrackedValue]
    problem: Annotated[str, UntrackedValue]

    reply: Annotated[str, UntrackedValue]
    state_update: Annotated[StateUpdate, UntrackedValue]


def _join(old: list[str], new: list[str]) -> list[str]:
    return [*old, *new]


class LoopOutput(TypedDict, total=False):
    """`output` is the model's last answer, `shown` the narrative people have seen while the loop ran."""

    output: str
    shown: str
    remembered: Annotated[list[str], _join]


class LoopState(LoopOutput, total=False):
    soul_id: str
    messages: Annotated[list[AnyMessage], add_messages]
    steps: int

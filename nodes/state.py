"""What flows through the graphs. Of a turn, only `persona_state` and `turn` outlive it; the rest is scratch.

Keys are few and hold whole things, because LangGraph looks at every key at every step.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from typing_extensions import TypedDict

from soulgraph.memory.recall import Recalled
from soulgraph.senses.intents.decision import Filtered
from soulgraph.soul.dynamics import EmotionState, UserEmotion
from soulgraph.soul.gate import Gate
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.preferences import Decision, GuardState, new_guard
from soulgraph.soul.profile import StateUpdate
from soulgraph.stores.records import Session, Soul, Terminal
from soulgraph.voices.tasks import Impulse

Json = dict[str, Any]
T = TypeVar("T")


class Said(TypedDict):
    """What was said to whom, and where. The last three matter only when it begins a session."""

    text: str
    soul_id: str
    session_id: str
    input_id: str
    turn_id: str
    user_id: str
    terminal_id: NotRequired[str | None]
    character_id: NotRequired[str | None]
    background_id: NotRequired[str | None]
    template_id: NotRequired[str | None]


def reply_id(said: Said) -> str:
    """The id of the reply as a message of a parent graph: the same whenever the same is said again."""
    return f"{said['session_id']}:{said['input_id']}"


@dataclass(frozen=True, slots=True)
class Heard:
    """The soul as it is after hearing it, and the conversation it is in."""

    at: float
    turn_id: str
    user_emotion: UserEmotion
    soul: Soul
    soul_emotion: EmotionState
    session: Session
    guard: GuardState = field(default_factory=new_guard)
    decisions: list[Decision] = field(default_factory=list)

    @property
    def question(self) -> Decision | None:
        """What the user is to be asked before it is kept for good."""
        return next((decision for decision in self.decisions if decision.verdict == "ask"), None)


@dataclass(frozen=True, slots=True)
class Result:
    """What comes of it: words, a change in the soul, what was carried out, and whether the broker has it."""

    reply: str
    state_update: StateUpdate = field(default_factory=StateUpdate)
    executed: list[str] = field(default_factory=list)
    delivered: bool | None = None


class TurnInput(TypedDict, total=False):
    said: Annotated[Said, UntrackedValue]


class TurnOutput(TypedDict, total=False):
    answer: Annotated[Json, UntrackedValue]


class TurnState(TurnInput, TurnOutput, total=False):
    persona_state: PersonaState
    turn: int

    recalling: Annotated[asyncio.Task[Recalled] | None, UntrackedValue]
    latency: Annotated[dict[str, float], UntrackedValue]
    user_emotion: Annotated[UserEmotion, UntrackedValue]
    heard: Annotated[Heard, UntrackedValue]
    filtered: Annotated[Filtered, UntrackedValue]
    terminal: Annotated[Terminal | None, UntrackedValue]
    gate: Annotated[Gate, UntrackedValue]
    persona: Annotated[Json, UntrackedValue]
    messages: Annotated[list[AnyMessage], UntrackedValue]
    output: Annotated[str, UntrackedValue]
    shown: Annotated[str, UntrackedValue]
    remembered: Annotated[list[str], UntrackedValue]
    executed: Annotated[list[str], UntrackedValue]
    problem: Annotated[str, UntrackedValue]
    result: Annotated[Result, UntrackedValue]


class Work(TypedDict):
    """What a turn leaves to be done.

    `last_message` is the turn's last one: what was said since then belongs to later jobs. `state_changes` are what the
    turn changed in the soul, `soul_turn` how many inputs it had heard, `labels` what the turn's trace is labelled with.
    """

    last_message: int
    archive_now: bool
    state_changes: list[dict[str, str]]
    soul_turn: int
    labels: NotRequired[dict[str, str]]


class FollowUp(Work):
    """The same, with for whom and after what."""

    soul_id: str
    session_id: str
    turn_id: str


class AfterglowState(TypedDict):
    follow_up: Annotated[FollowUp, UntrackedValue]


def _join(old: list[T], new: list[T]) -> list[T]:
    return [*old, *new]


class LoopOutput(TypedDict, total=False):
    """`output` is the model's last answer, `shown` the narrative people have seen while the loop ran.

    `executed` names the terminal's skills that were used.
    """

    output: str
    shown: str
    remembered: Annotated[list[str], _join]
    executed: Annotated[list[str], _join]


class LoopState(LoopOutput, total=False):
    said: Said
    terminal: Terminal | None
    gate: Gate
    messages: Annotated[list[AnyMessage], _join]
    steps: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A soul that might say something of its own accord, and the conversation it would say it in."""

    at: float
    soul: Soul
    soul_emotion: EmotionState
    session: Session


class ProactiveInput(TypedDict, total=False):
    soul_id: str


class ProactiveState(ProactiveInput, total=False):
    """`silence` is why nothing is said, and empty while something may be; `sources` is what the decision rests on."""

    moment: Moment
    impulse: Impulse
    sources: list[str]
    silence: str

"""What flows through the graphs. Of a turn, only `persona_state` and `turn` outlive it; the rest is scratch.

Keys are few and hold whole things, because LangGraph looks at every key at every step.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from typing_extensions import TypedDict

from soulgraph.memory.recall import Recalled
from soulgraph.nodes.answer import Answer, PersonaReport
from soulgraph.nodes.turn_plans import TurnPlans
from soulgraph.senses.intents.decision import IntentResult
from soulgraph.soul.emotions import EmotionState, EmotionStateDict, UserEmotion
from soulgraph.soul.gate import Gate
from soulgraph.soul.language import Lang, reply_language, third_language
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.preferences import Decision, GuardState, new_guard
from soulgraph.soul.profile import StateUpdate
from soulgraph.soul.scratch import Note
from soulgraph.stores.records import Plan, Relation, Session, Soul, Terminal
from soulgraph.voices.task_outputs import Impulse

T = TypeVar("T")

TurnEventKind = Literal["emotion", "token", "tool", "intent_action", "waiting", "done", "error"]


class TurnEvent(dict[str, Any]):
    """`{"event": …, "data": …}`: what listeners hear while a turn runs; `done` or `error` is the last.

    A type of its own, because tools of others write to the same stream: their dicts are not taken for ours.
    """

    def __init__(self, event: TurnEventKind, data: Any) -> None:
        super().__init__(event=event, data=data)

    @property
    def event(self) -> TurnEventKind:
        kind: TurnEventKind = self["event"]
        return kind

    @property
    def data(self) -> Any:
        return self["data"]


class Utterance(TypedDict):
    """What was said to whom, and where. Character, background and template are read only when it begins a session.

    `replaces` is the message that it takes the place of: that one and all after it count as never said. If they are
    `unsaid`, the soul also feels as if they had not been. `continues` is a reply that goes on where it ended.
    """

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
    replaces: NotRequired[int | None]
    unsaid: NotRequired[bool]
    continues: NotRequired[str]


def reply_id(utterance: Utterance) -> str:
    """The id of the reply as a message of a parent graph: the same whenever the same input is sent again."""
    return f"{utterance['session_id']}:{utterance['input_id']}"


@dataclass(frozen=True, slots=True)
class Impact:
    """What the utterance did to the soul: the soul after it, the session, and what the preference guard decided.

    `preferences` are those that were stored before this turn, `relation` and `names` as in `Person`. The soul's profile
    is what everybody who listens may know of it.

    `soul_emotion` is the soul's emotion as it is published and stored. A turn that is resumed from a checkpoint has to
    read it there: LangGraph brings the traits inside a `Soul` back as plain dicts.

    `regenerated` says that the same input was answered before: nothing of it counts a second time.
    """

    at: float
    turn_id: str
    user_emotion: UserEmotion
    soul: Soul
    soul_emotion: EmotionStateDict
    session: Session
    guard: GuardState = field(default_factory=new_guard)
    decisions: list[Decision] = field(default_factory=list)
    preferences: dict[str, str] = field(default_factory=dict)
    relation: Relation | None = None
    names: dict[str, str] = field(default_factory=dict)
    regenerated: bool = False

    @property
    def wishes(self) -> dict[str, str]:
        """What the user asks for in this session, and in this turn whether or not it is kept."""
        hints = {key: hint["value"] for key, hint in self.guard["hints"].items()}
        return hints | {decided.key: decided.value for decided in self.decisions if decided.verdict != "rejected"}

    def reply_language(self, text: str) -> Lang:
        return reply_language(text, self.preferences, self.wishes)

    def third_language(self, text: str) -> str:
        return third_language(text, self.wishes.get("language") or self.preferences.get("language") or "")

    @property
    def question(self) -> Decision | None:
        """The preference that the user is to be asked about before it is kept for good."""
        return next((decision for decision in self.decisions if decision.verdict == "ask"), None)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The reply, the change in the soul, what was carried out, and whether the broker has it.

    `update_pending`: what has changed is still to be asked for, once the reply is out.
    """

    reply: str
    state_update: StateUpdate = field(default_factory=StateUpdate)
    update_pending: bool = False
    executed: list[str] = field(default_factory=list)
    delivered: bool | None = None


class TurnInput(TypedDict, total=False):
    utterance: Annotated[Utterance, UntrackedValue]


class TurnOutput(TypedDict, total=False):
    answer: Annotated[Answer, UntrackedValue]


class TurnState(TurnInput, TurnOutput, total=False):
    persona_state: PersonaState
    turn: int

    latency: Annotated[dict[str, float], UntrackedValue]
    user_emotion: Annotated[UserEmotion, UntrackedValue]
    impact: Annotated[Impact, UntrackedValue]
    intents: Annotated[IntentResult, UntrackedValue]
    terminal: Annotated[Terminal | None, UntrackedValue]
    gate: Annotated[Gate, UntrackedValue]
    recalled: Annotated[Recalled | None, UntrackedValue]
    persona: Annotated[PersonaReport, UntrackedValue]
    plans: Annotated[TurnPlans, UntrackedValue]
    messages: Annotated[list[AnyMessage], UntrackedValue]
    output: Annotated[str, UntrackedValue]
    shown: Annotated[str, UntrackedValue]
    fault: Annotated[str, UntrackedValue]
    remembered: Annotated[list[str], UntrackedValue]
    notes: Annotated[list[Note], UntrackedValue]
    executed: Annotated[list[str], UntrackedValue]
    outside: Annotated[list[str], UntrackedValue]
    problem: Annotated[str, UntrackedValue]
    result: Annotated[TurnResult, UntrackedValue]


def _join(old: list[T], new: list[T]) -> list[T]:
    return [*old, *new]


class LoopOutput(TypedDict, total=False):
    """`output` is the model's last answer, `shown` the narrative that people have seen while the loop ran.

    `fault` is why nothing could be shown, `executed` names the terminal's skills that were used. `outside` is what the
    prompt and the tools have told in words of strangers.
    """

    output: str
    shown: str
    fault: str
    remembered: Annotated[list[str], _join]
    notes: Annotated[list[Note], _join]
    executed: Annotated[list[str], _join]
    outside: Annotated[list[str], _join]


class LoopState(LoopOutput, total=False):
    utterance: Utterance
    terminal: Terminal | None
    gate: Gate
    messages: Annotated[list[AnyMessage], _join]
    steps: int


class OutboxPayload(TypedDict):
    """What a turn leaves to be done, as it is stored in the outbox.

    `last_message` is the turn's last one: what was said since then belongs to later jobs. `update_pending` says that
    the turn has not told yet what it changed in the soul. `state_changes` are what the turn changed in the soul, as
    `changes_of` tells it; older jobs have `change` in place of `before` and `after`. `soul_turn` is how many inputs it
    had heard, `labels` what the turn's trace is labelled with.
    `user_id` is who spoke; jobs from before people had owners lack it, and are of the session's person.
    """

    last_message: int
    user_id: NotRequired[str]
    update_pending: NotRequired[bool]
    archive_now: bool
    state_changes: list[dict[str, str]]
    soul_turn: int
    labels: NotRequired[dict[str, str]]


class FollowUp(OutboxPayload):
    """The same, with the turn it follows."""

    soul_id: str
    session_id: str
    turn_id: str


class AfterglowState(TypedDict):
    follow_up: Annotated[FollowUp, UntrackedValue]


@dataclass(frozen=True, slots=True)
class Occasion:
    """A soul that might say something of its own accord, how it feels now, and the session it would speak in.

    It would speak to the session's person.
    """

    at: float
    soul: Soul
    emotion: EmotionState
    session: Session


class ProactiveInput(TypedDict, total=False):
    soul_id: str
    user_id: str


class ProactiveState(ProactiveInput, total=False):
    """`silence` is why nothing is said, and empty while something may be; `sources` is what the decision rests on.

    `over` are plans of the person of which nobody has spoken since they were over.

    `silenced_by` is absent if it is a rule of ours; else it is "model", or the code of what went wrong.
    """

    occasion: Occasion
    impulse: Impulse
    over: list[Plan]
    sources: list[str]
    silence: str
    silenced_by: str

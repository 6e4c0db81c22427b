"""The records that repositories return: frozen dataclasses with one field per column."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from typing_extensions import TypedDict

from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import ExecMode
from soulgraph.soul.growth import Dimensions
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.people import DEFAULT_USER, EVERYONE, others
from soulgraph.soul.personality import Traits
from soulgraph.soul.plan_times import PlanGrain, PlanKind, PlanStatus, Recurs
from soulgraph.soul.preferences import GuardState, new_guard
from soulgraph.soul.profile import Profile

Json = dict[str, Any]
Role = Literal["user", "assistant"]
Scope = Literal["owner", "chat", "terminal"]
FactSource = Literal["pattern", "model", "user"]
JobStatus = Literal["pending", "running", "done", "dead"]
UsageKind = Literal["turn", "growth", "archive", "reflect", "life"]


@dataclass(frozen=True, slots=True)
class Soul:
    soul_id: str
    user_id: str
    name: str
    mbti_type: str
    character_id: str | None
    personality_vector: Traits
    emotion_state: EmotionState
    model_version: str
    dynamic_profile: Profile
    inner_state: str
    turns: int
    version: int
    created_at: float
    updated_at: float
    scratch_area: str = ""


@dataclass(frozen=True, slots=True)
class MoodRow:
    """The columns of a soul that a tick reads."""

    soul_id: str
    name: str
    personality_vector: Traits
    emotion_state: EmotionState


@dataclass(frozen=True, slots=True)
class EmotionPoint:
    """A soul's emotion at one moment, and its gate: whether it would have carried out intents."""

    soul_id: str
    at: float
    p: float
    a: float
    d: float
    boredom: float
    shock_load: float
    extreme_memory: float
    exec_probability: float
    exec_mode: ExecMode
    locked: bool
    drift: dict[str, float] | None = None
    """How far each trait has moved; None in points from before it was kept."""


@dataclass(frozen=True, slots=True)
class Terminal:
    terminal_id: str
    soul_id: str | None
    skills: list[Json]
    skill_version: int
    intent_catalog: list[Json]
    catalog_version: int
    updated_at: float
    online: bool = False
    last_seen: float | None = None
    user_id: str = DEFAULT_USER
    """Who usually speaks there."""

    @classmethod
    def unknown(cls, terminal_id: str, now: float) -> "Terminal":
        """A terminal that has reported nothing yet."""
        return cls(terminal_id, None, [], 0, [], 0, now)


@dataclass(frozen=True, slots=True)
class PresenceReport:
    """The last report of a terminal: that it is online, or that it has gone offline."""

    terminal_id: str
    online: bool
    last_seen: float


class CharacterSnapshot(TypedDict):
    """The character as it was when the session began, and the persona it has evolved into since."""

    source_preset: str | None
    snapshot_created_at: str
    base_persona: str
    evolved_persona: str


@dataclass(frozen=True, slots=True)
class Session:
    session_id: str
    soul_id: str
    user_id: str
    title: str
    background_id: str | None
    template_id: str
    character_snapshot: CharacterSnapshot
    persona_state: PersonaState
    turn: int
    continued_from: str | None
    created_at: float
    updated_at: float
    guard: dict[str, GuardState] = field(default_factory=dict)
    """What the preference guard remembers of each person."""
    reflected_to: int = 0
    memory_hint: str = ""
    """Why memory should be updated; empty while it need not."""
    people: tuple[str, ...] = ()
    """Who takes part beside `user_id`: with anybody it is a group."""
    souls: dict[str, CharacterSnapshot] = field(default_factory=dict)
    """The souls that take part beside `soul_id`, each with its character."""
    facts_to: int = 0
    """The message up to which facts were drawn by rules."""
    facts_asked_to: int = 0
    """The message up to which a model was asked for facts."""

    @property
    def audience(self) -> tuple[str, ...]:
        """Everybody who hears what is said here."""
        return self.user_id, *self.people

    @property
    def is_group(self) -> bool:
        return bool(self.people or self.souls)

    def guard_of(self, user_id: str) -> GuardState:
        return self.guard.get(user_id) or new_guard()

    def snapshot_of(self, soul_id: str) -> CharacterSnapshot:
        return self.souls.get(soul_id, self.character_snapshot)


@dataclass(frozen=True, slots=True)
class Message:
    """`user_id` and `soul_id` are who spoke and to whom, `people` and `souls` who else was present."""

    message_id: int
    session_id: str
    turn_id: str
    role: Role
    content: str
    archived: bool
    input_id: str | None
    created_at: float
    proactive: bool = False
    user_id: str = ""
    soul_id: str = ""
    people: tuple[str, ...] = ()
    souls: tuple[str, ...] = ()

    @property
    def original(self) -> tuple[str, float]:
        """What a message and its copies in forks of the session have in common."""
        return self.content, self.created_at

    @property
    def witnesses(self) -> tuple[str, ...]:
        """The souls that were present."""
        return self.soul_id, *others(self.soul_id, self.souls)

    @property
    def hearers(self) -> frozenset[str]:
        """The people who were present, who spoke among them."""
        return frozenset({self.user_id, *self.people})

    def heard_by(self, audience: Iterable[str], soul_id: str) -> bool:
        """Whether all these people and this soul were present."""
        return self.hearers.issuperset(audience) and soul_id in (self.soul_id, *self.souls)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that is not stored yet, so it has no id and no session.

    `shared_with` are people who may know of it beside those who were present; `terms` what it is found by, if that was
    computed already.
    """

    turn_id: str
    role: Role
    content: str
    created_at: float
    user_id: str
    soul_id: str
    people: tuple[str, ...] = ()
    souls: tuple[str, ...] = ()
    archived: bool = False
    input_id: str | None = None
    proactive: bool = False
    shared_with: tuple[str, ...] = ()
    indexed: Json | None = None

    @classmethod
    def said_in(
        cls, session: Session, turn_id: str, role: Role, content: str, created_at: float, **fields: Any
    ) -> "NewMessage":
        """A message by or to the session's own person and soul, if `fields` do not say who; all others hear it."""
        user_id = fields.pop("user_id", session.user_id)
        soul_id = fields.pop("soul_id", session.soul_id)
        people = others(user_id, session.audience)
        souls = others(soul_id, (session.soul_id, *session.souls))
        return cls(turn_id, role, content, created_at, user_id, soul_id, people, souls, **fields)


@dataclass(frozen=True, slots=True)
class Episode:
    """The search index row of a message. `vector` is that of the embedding model in use, None if not computed yet."""

    message_id: int
    previous_id: int | None
    by_user: bool
    at: float
    terms: bytes
    user_id: str = ""
    shared_with: tuple[str, ...] = ()
    size: int = 0
    asks: bool = False
    dated: bool = False
    vector: bytes | None = None


@dataclass(frozen=True, slots=True)
class EpisodeUse:
    message_id: int
    recalled: int
    useful: int
    last_recalled_at: float | None


@dataclass(frozen=True, slots=True)
class EpisodeVector:
    """The embedding of a message by one model."""

    message_id: int
    soul_id: str
    model: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class PersonaVersion:
    session_id: str
    n: int
    evolved_persona: str
    source: str
    created_at: float
    dimensions: Dimensions | None = None
    """None for a text that was not written in dimensions."""


@dataclass(frozen=True, slots=True)
class EventUse:
    """The catalogue row of an event: how often it was recalled, used and merged with near-duplicates."""

    event_id: str
    recalled: int
    useful: int
    last_recalled_at: float | None
    merged: int
    created_at: float
    audience: str | None = EVERYONE
    """Who may recall it, as `memory.events.audience_of` writes it; None if that is not in Chroma yet."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The messages of one session that an event was made from."""

    event_id: str
    session_id: str
    soul_id: str
    message_ids: list[int]
    created_at: float


@dataclass(frozen=True, slots=True)
class Turn:
    session_id: str
    input_id: str
    turn_id: str
    soul_id: str
    user_emotion: Json
    answer: Json | None
    created_at: float


@dataclass(frozen=True, slots=True)
class Preset:
    """A character, background or template of the library."""

    id: str
    name: str
    data: Json
    created_at: float
    updated_at: float

    @property
    def summary_of(self) -> Json:
        """Session, soul and people of the conversation that a background summarises; else empty."""
        origin = self.data.get("extensions", {}).get("summary_of")
        return origin if isinstance(origin, dict) else {}

    @property
    def summary_people(self) -> list[Any]:
        """Those who had that conversation."""
        people = self.summary_of.get("people")
        return [self.summary_of.get("user_id"), *(people if isinstance(people, list) else [])]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a character: its `avatar`, which is also that of its card, or an expression of its face."""

    character_id: str
    name: str
    content_type: str
    content: bytes
    updated_at: float


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """What there is to know of a picture without reading it."""

    character_id: str
    name: str
    content_type: str
    size: int
    updated_at: float


@dataclass(frozen=True, slots=True)
class Preference:
    soul_id: str
    user_id: str
    key: str
    value: str
    confidence: float
    source: str
    evidence: list[Any]
    updated_at: float
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slot:
    soul_id: str
    user_id: str
    n: int
    content: str
    updated_at: float
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """What a person has told. `subject` is whom it is about, `self` for the person, `attribute` what it says of them.

    `valid_from` and `valid_to` are when it began and ceased to hold, as far as that is known; `superseded_by` is the
    fact that holds in its place.
    """

    soul_id: str
    fact_id: str
    user_id: str
    subject: str
    attribute: str
    value: str
    content: str
    message_ids: list[int]
    said_at: float
    valid_from: float | None
    valid_to: float | None
    superseded_by: str | None
    source: FactSource
    updated_at: float
    shared_with: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return self.valid_to is None


@dataclass(frozen=True, slots=True)
class Relation:
    """What a soul and a person are to each other.

    `inner_state` is what the soul understands and feels about the person, `scratch_area` its working notes about them.
    """

    soul_id: str
    user_id: str
    bond: str
    inner_state: str
    scratch_area: str
    since: float
    updated_at: float

    @classmethod
    def new(cls, soul_id: str, user_id: str, now: float) -> "Relation":
        """Of two who have just met."""
        return cls(soul_id, user_id, "", "", "", now, now)


@dataclass(frozen=True, slots=True)
class Job:
    job_id: int
    kind: str
    soul_id: str
    session_id: str
    turn_id: str
    payload: Json
    status: JobStatus
    attempts: int
    run_at: float
    created_at: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class MonologueVersion:
    """`user_id` is the person it is about; empty for the soul's monologue about itself."""

    soul_id: str
    user_id: str
    n: int
    inner_state: str
    source: str
    created_at: float


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """The model calls of one kind for a soul on one day, and their tokens."""

    soul_id: str
    day: str
    kind: UsageKind
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ProactiveSchedule:
    """When a soul may next speak to a person on its own, and how often it did so on `day`."""

    soul_id: str
    user_id: str
    due_at: float
    day: str
    spoken: int

    def spoken_on(self, day: str) -> int:
        return self.spoken if day == self.day else 0


@dataclass(frozen=True, slots=True)
class ChatImport:
    """How many lines of a conversation of another program were imported; without a session they went into slots."""

    soul_id: str
    user_id: str
    program: str
    conversation_id: str
    session_id: str | None
    lines: int
    updated_at: float


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`user_id` is the person it belongs to, None if it is nobody's; `soul_ids` its souls, empty for all."""

    key_id: str
    name: str
    scope: Scope
    created_at: float
    revoked_at: float | None
    user_id: str | None = None
    soul_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Something to be reminded of, something ahead of a person, or something a soul has promised them.

    `due` is when it begins or is to be said, `ends` when it is over: None if no time is known. `local_due` is the wall
    time in `zone` as it was said; an empty zone is the server's. `next_at` is when a server looks at it next, and
    `follow_up_at` when the soul may ask how it went, both None if never. `delivery_id` is that of the last message.
    """

    soul_id: str
    plan_id: str
    user_id: str
    kind: PlanKind
    content: str
    status: PlanStatus
    due: float | None
    ends: float | None
    local_due: str
    zone: str
    grain: PlanGrain
    recurs: Recurs
    source: str
    session_id: str
    evidence: list[int]
    next_at: float | None
    follow_up_at: float | None
    delivered_at: float | None
    delivery_id: str
    created_at: float
    updated_at: float
    shared_with: tuple[str, ...] = ()

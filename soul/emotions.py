"""The emotions a user can show, and the emotional state of a soul."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeAlias, cast

from typing_extensions import TypedDict

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import Constants
from soulgraph.soul.personality import Five, N, Three, Traits, c01, clip, number_in

Six: TypeAlias = tuple[N, N, N, N, N, N]

PROTOTYPES: dict[str, Three[float]] = {
    "neutral": (0.0, 0.05, 0.0),
    "joy": (0.70, 0.55, 0.20),
    "surprise": (0.10, 0.75, -0.05),
    "sadness": (-0.65, -0.15, -0.35),
    "fear": (-0.70, 0.70, -0.60),
    "anger": (-0.60, 0.75, 0.25),
    "disgust": (-0.55, 0.35, 0.10),
    "calm": (0.20, -0.35, 0.15),
    "relief": (0.50, -0.20, 0.30),
    "gratitude": (0.60, 0.20, 0.35),
    "excitement": (0.78, 0.82, 0.30),
    "anxiety": (-0.62, 0.72, -0.48),
    "frustration": (-0.52, 0.58, -0.08),
    "disappointment": (-0.58, -0.08, -0.28),
    "boredom": (-0.20, -0.45, -0.15),
}
EMOTIONS = tuple(PROTOTYPES)

SOOTHING = frozenset({"joy", "gratitude", "relief", "calm"})
POSITIVE = SOOTHING | {"excitement"}
NEGATIVE = frozenset({"anger", "anxiety", "fear", "frustration", "disgust", "sadness", "disappointment", "boredom"})

_TIME_SPAN = (-1e12, 1e12)


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What the user's words are to the soul itself, each 0..1; `reasons` are the words and rules that say so.

    `toward`: how much they speak to it or about it. `hostility`: insult, contempt, rejection, threat aimed at it.
    `repair`: apology, comfort, patience, praise, thanks, affection, which make good with it.
    """

    toward: float = 0.0
    hostility: float = 0.0
    repair: float = 0.0
    reasons: tuple[str, ...] = ()

    def sane(self) -> "Appraisal":
        """A copy with every number clipped to its range and NaN replaced by 0."""
        toward, hostility, repair = (_bounded(v, 0.0) for v in (self.toward, self.hostility, self.repair))
        return Appraisal(toward, hostility, repair, self.reasons)


_ASSUMED_HOSTILE = frozenset({"anger", "disgust"})
_ASSUMED_HOSTILITY = 0.5


@dataclass(frozen=True, slots=True)
class UserEmotion:
    """The emotion a recogniser found in a text; `confidence` and `appraisal` are None when it gives none."""

    emotion: str
    p: float
    a: float
    d: float
    intensity: float
    confidence: float | None = None
    appraisal: Appraisal | None = None

    @property
    def appraised(self) -> Appraisal:
        """The appraisal; for a recogniser that gives none, half of all anger is taken to be meant for the soul."""
        if self.appraisal is not None:
            return self.appraisal
        hostility = _ASSUMED_HOSTILITY if self.emotion in _ASSUMED_HOSTILE else 0.0
        return Appraisal(toward=hostility, hostility=hostility)

    def to_dict(self) -> dict[str, Any]:
        """The emotion as JSON, with the assumed appraisal where the recogniser gave none."""
        appraised = self.appraised
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}  # `asdict` would copy every number
        reasons = {name: getattr(appraised, name) for name in appraised.__dataclass_fields__}
        return own | {"appraisal": reasons | {"reasons": list(appraised.reasons)}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "UserEmotion":
        """An emotion as `to_dict` gave it; one stored before there were appraisals has none."""
        given = data.get("appraisal")
        appraisal = Appraisal(**{**given, "reasons": tuple(given["reasons"])}) if given else None
        return cls(**{**data, "appraisal": appraisal})

    def sane(self) -> "UserEmotion":
        """A copy with every number clipped to its range and NaN replaced by 0."""
        return UserEmotion(
            self.emotion,
            _bounded(self.p, -1.0),
            _bounded(self.a, -1.0),
            _bounded(self.d, -1.0),
            _bounded(self.intensity, 0.0),
            None if self.confidence is None else _bounded(self.confidence, 0.0),
            None if self.appraisal is None else self.appraisal.sane(),
        )


def _bounded(value: float, low: float) -> float:
    return clip(value, low, 1.0) if value == value else 0.0


def polarity(emotion: UserEmotion, c: Constants) -> tuple[float, float]:
    """(neg, pos): how negative and how positive the user's emotion is, each 0..1."""
    neg = pos = 0.0
    if emotion.p < 0:
        neg = c01(c.neg_p * -emotion.p + c.neg_a * max(0.0, emotion.a) + c.neg_d * max(0.0, -emotion.d))
    if emotion.p > 0:
        pos = c01(c.pos_p * emotion.p + c.pos_a * max(0.0, -emotion.a) + c.pos_d * max(0.0, emotion.d))
    neg += c.neg_label if emotion.emotion in NEGATIVE else 0.0
    pos += c.pos_label if emotion.emotion in POSITIVE else 0.0
    return c01(neg) * emotion.intensity, c01(pos) * emotion.intensity


def checked_time(now: float) -> float:
    """`now` as a float; raises InvalidInput unless it is a finite number of epoch seconds."""
    return number_in(now, "now", *_TIME_SPAN)


class Impressions(NamedTuple, Generic[N]):
    """What lately happened, each 0..1: moods that lie close together in PAD are told apart by it.

    `hurt`: attacks on the soul. `sorrow` and `worry`: suffering shared with the user. `warmth`: joy and kindness.
    """

    hurt: N
    sorrow: N
    worry: N
    warmth: N


class Vitals(NamedTuple, Generic[N]):
    """The part of the state that changes with time alone; `long` is mu_p, mu_a, mu_d, volatility, shock, extreme."""

    x: Three[N]
    boredom: N
    shock_load: N
    extreme_memory: N
    impressions: Impressions[N]
    long: Six[N]
    drift: Five[N]


class EmotionStateDict(TypedDict):
    """An `EmotionState` as JSON: how it is stored, published and answered."""

    p: float
    a: float
    d: float
    boredom: float
    shock_load: float
    extreme_memory: float
    hurt: float
    sorrow: float
    worry: float
    warmth: float
    long_mu_p: float
    long_mu_a: float
    long_mu_d: float
    long_volatility: float
    long_shock: float
    long_extreme: float
    drift: dict[str, float]
    lock_until: float | None
    last_interaction_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class EmotionState:
    """A soul's emotion as it is stored and published; times are epoch seconds."""

    p: float
    a: float
    d: float
    boredom: float
    shock_load: float
    extreme_memory: float
    hurt: float
    sorrow: float
    worry: float
    warmth: float
    long_mu_p: float
    long_mu_a: float
    long_mu_d: float
    long_volatility: float
    long_shock: float
    long_extreme: float
    drift: Traits
    lock_until: float | None
    last_interaction_at: float
    updated_at: float

    @property
    def x(self) -> Three[float]:
        return self.p, self.a, self.d

    @property
    def vitals(self) -> Vitals[float]:
        mu = self.long_mu_p, self.long_mu_a, self.long_mu_d
        long = (*mu, self.long_volatility, self.long_shock, self.long_extreme)
        return Vitals(self.x, self.boredom, self.shock_load, self.extreme_memory, self.impressions, long, self.drift)

    @property
    def impressions(self) -> Impressions[float]:
        return Impressions(self.hurt, self.sorrow, self.worry, self.warmth)

    @classmethod
    def of(cls, vitals: Vitals[float], lock_until: float | None, interacted: float, now: float) -> "EmotionState":
        x, boredom, shock_load, memory, impressions, long, drift = vitals
        return cls(*x, boredom, shock_load, memory, *impressions, *long, Traits(*drift), lock_until, interacted, now)

    def to_dict(self) -> EmotionStateDict:
        values = {f.name: getattr(self, f.name) for f in fields(self)} | {"drift": self.drift.to_dict()}
        return cast(EmotionStateDict, values)

    @classmethod
    def from_dict(cls, data: Any) -> "EmotionState":
        """The state as stored; raises InvalidInput for a missing, unknown, non-finite or out-of-range entry."""
        names = [f.name for f in fields(cls)]
        if isinstance(data, Mapping):
            data = {**_BEFORE_IMPRESSIONS, **data}
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise InvalidInput(f"an emotion state has exactly {', '.join(names)}")
        values = {name: number_in(data[name], name, *span) for name, span in _SPANS.items()}
        until = data["lock_until"]
        return cls(
            drift=Traits.from_dict(data["drift"], -1.0, 1.0),
            lock_until=None if until is None else number_in(until, "lock_until", *_TIME_SPAN),
            **values,
        )


_BEFORE_IMPRESSIONS = dict.fromkeys(Impressions._fields, 0.0)  # in states of persona-pad-v2, which had none
_SPANS = {
    **dict.fromkeys(("p", "a", "d", "long_mu_p", "long_mu_a", "long_mu_d"), (-1.0, 1.0)),
    **dict.fromkeys(("boredom", "shock_load", "extreme_memory", *Impressions._fields), (0.0, 1.0)),
    **dict.fromkeys(("long_volatility", "long_shock", "long_extreme"), (0.0, 1.0)),
    **dict.fromkeys(("last_interaction_at", "updated_at"), _TIME_SPAN),
}

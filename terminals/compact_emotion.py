"""How a soul feels, for controllers that take MQTT packets of 256 bytes, and when that is worth telling them."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EMOTIONS, EmotionState
from soulgraph.soul.gate import Gate, GateReason
from soulgraph.soul.mood import Mood, mood_of, mood_words, strength_of
from soulgraph.stores.terminals import MAX_TERMINALS
from soulgraph.terminals.payloads import Payload, Probability

MAX_PACKET_BYTES = 255
"""Of a whole packet with its header and topic: one of 256 is the most that small clients take."""
MAX_ID_LENGTH = 48
"""The longest terminal id with which every packet is that small. With longer ones the payload still is."""

Hundredths = Annotated[float, Field(ge=-1, le=1)]


@dataclass(frozen=True, slots=True)
class Feeling:
    """How a soul feels and whether it would act, as it is now; `user_emotion` is that of a turn."""

    soul_id: str
    emotion: EmotionState
    gate: Gate
    at: float
    constants: Constants = DEFAULT
    user_emotion: str | None = None


class CompactEmotion(Payload):
    """The names are one letter long, as each byte counts."""

    p: Hundredths
    a: Hundredths
    d: Hundredths
    m: Mood
    s: Literal[0, 1, 2, 3]
    z: str
    g: Literal[0, 1]
    w: GateReason | None = None
    x: Probability
    l: int = Field(ge=0)  # noqa: E741
    u: str | None = None
    t: int

    @classmethod
    def of(cls, feeling: Feeling) -> Self:
        emotion, gate, constants = feeling.emotion, feeling.gate, feeling.constants
        mood = mood_of(emotion, constants)
        return cls(
            **{name: round(value, 2) + 0.0 for name, value in zip("pad", emotion.x, strict=True)},  # no -0.0
            m=mood,
            s=strength_of(mood, emotion, constants),
            z=mood_words(mood, emotion, "zh", constants),
            g=int(gate.exec_mode == "auto_execute"),
            w=gate.reason,
            x=round(gate.exec_probability, 2),
            l=round(gate.lock_remaining_s),
            u=feeling.user_emotion if feeling.user_emotion in EMOTIONS else None,
            t=int(feeling.at),
        )


class _Seen(NamedTuple):
    """What of a feeling can be seen, rounded; a lock by its end, so that its passing is no news."""

    soul_id: str
    pad: tuple[int, ...]
    causes: tuple[int, ...]
    acts: str
    reason: str | None
    percent: int
    locked_until: int

    @classmethod
    def of(cls, feeling: Feeling) -> Self:
        emotion, gate = feeling.emotion, feeling.gate
        return cls(
            feeling.soul_id,
            tuple(round(100 * value) for value in emotion.x),
            # They decide between moods that lie close together.
            tuple(round(20 * value) for value in (*emotion.impressions, emotion.boredom, emotion.shock_load)),
            gate.exec_mode,
            gate.reason,
            round(100 * gate.exec_probability),
            round((feeling.at + gate.lock_remaining_s) / 2) if gate.locked else 0,
        )


class Told(NamedTuple):
    seen: _Seen
    updated_at: float


class ToldEmotions:
    """What each terminal was told last, by this server."""

    def __init__(self) -> None:
        self._told: dict[str, Told] = {}

    def is_news(self, terminal_id: str, feeling: Feeling, previous_at: float | None) -> bool:
        """Whether to tell a terminal how its soul feels; it then counts as told.

        `previous_at` is the time of the state from which time alone has led to this one; None if more has happened.
        If it is not the one that was told here, a turn or another server has changed it in between.
        """
        told = self._told.pop(terminal_id, None)
        seen = _Seen.of(feeling)
        self._told[terminal_id] = Told(seen, feeling.emotion.updated_at)
        if len(self._told) > MAX_TERMINALS:
            del self._told[next(iter(self._told))]
        return told is None or told.updated_at != previous_at or told.seen != seen

    def forget(self, terminal_id: str) -> None:
        self._told.pop(terminal_id, None)

    def forget_all(self) -> None:
        """When the broker may have lost what it retained."""
        self._told.clear()

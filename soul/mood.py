"""The mood in the words people use, for prompts and pages, which must not need its numbers.

A mood is the nearest of some points in PAD, and what lately happened decides between those that lie close together:
sorrow and boredom are almost the same point, but only one of them follows bad news.
"""

from typing import Literal, NamedTuple

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang
from soulgraph.soul.personality import Three, extremity

Mood = Literal[
    "calm", "content", "cheerful", "elated", "excited", "proud", "tender", "moved",
    "sad", "worried", "afraid", "hurt", "angry", "sulky", "bored", "tired",
]  # fmt: skip
Cause = Literal["hurt", "sorrow", "worry", "warmth", "boredom", "shock_load"]


class _Point(NamedTuple):
    """Where a mood lies in PAD, the part of the state that speaks for it, and its words."""

    x: Three[float]
    cause: Cause | None
    en: str
    zh: str


_POINTS: dict[Mood, _Point] = {
    "calm": _Point((0.0, 0.0, 0.0), None, "calm", "平静"),
    "content": _Point((0.30, -0.05, 0.05), None, "content", "满足"),
    "cheerful": _Point((0.45, 0.30, 0.15), "warmth", "cheerful", "开心"),
    "elated": _Point((0.75, 0.55, 0.25), "warmth", "elated", "兴高采烈"),
    "excited": _Point((0.40, 0.75, 0.15), None, "excited", "激动"),
    "proud": _Point((0.45, 0.15, 0.60), "warmth", "proud", "自豪"),
    "tender": _Point((0.25, -0.10, -0.15), "warmth", "tender", "心里柔软"),
    "moved": _Point((-0.08, 0.05, -0.10), "sorrow", "moved", "触动"),
    "sad": _Point((-0.34, -0.12, -0.24), "sorrow", "sad", "难过"),
    "worried": _Point((-0.30, 0.25, -0.20), "worry", "worried", "担心"),
    "afraid": _Point((-0.55, 0.55, -0.50), "worry", "afraid", "害怕"),
    "hurt": _Point((-0.65, 0.35, -0.35), "hurt", "hurt", "受伤"),
    "angry": _Point((-0.65, 0.60, 0.35), "hurt", "angry", "生气"),
    "sulky": _Point((-0.35, -0.05, 0.10), "hurt", "sulky", "赌气"),
    "bored": _Point((-0.30, -0.40, -0.12), "boredom", "bored", "无聊"),
    "tired": _Point((-0.15, -0.55, -0.20), "shock_load", "tired", "疲惫"),
}
_STRENGTHS: dict[Lang, tuple[str, str, str]] = {
    "en": ("slightly ", "clearly ", "strongly "),
    "zh": ("有些", "明显", "非常"),
}


def mood_of(state: EmotionState, constants: Constants = DEFAULT) -> Mood:
    """The mood whose point is nearest, with what speaks for it counted in."""
    return min(_POINTS, key=lambda mood: _distance(state, _POINTS[mood], constants))


def describe(state: EmotionState, lang: Lang, constants: Constants = DEFAULT) -> str:
    """Strength and mood, like "clearly sad"; calm has no strength."""
    return mood_words(mood_of(state, constants), state, lang, constants)


def mood_words(mood: Mood, state: EmotionState, lang: Lang, constants: Constants = DEFAULT) -> str:
    """`describe` for a mood that is known: finding it takes longer than all the rest."""
    word = _POINTS[mood].zh if lang == "zh" else _POINTS[mood].en
    strength = strength_of(mood, state, constants)
    return _STRENGTHS[lang][strength - 1] + word if strength else word


def strength_of(mood: Mood, state: EmotionState, constants: Constants = DEFAULT) -> int:
    """From 1, slightly, to 3, strongly; 0 for calm, which has none."""
    if mood == "calm":
        return 0
    z = extremity(state.x)
    return 1 + (z >= constants.mood_clearly) + (z >= constants.mood_strongly)


def _distance(state: EmotionState, point: _Point, c: Constants) -> float:
    apart = sum((at - there) ** 2 for at, there in zip(state.x, point.x, strict=True))
    if point.cause is None:
        return apart
    share: float = getattr(state, point.cause)
    return apart + c.mood_unexplained - c.mood_impression * share

"""Describes a mood in words, for prompts, which must not contain its numbers."""

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang
from soulgraph.soul.personality import extremity

# Signs of pleasure, arousal and dominance; "0" stands for an axis in the middle zone.
_WORDS: dict[str, dict[Lang, str]] = {
    "+++": {"en": "exuberant", "zh": "欢欣"},
    "++-": {"en": "dependent", "zh": "依恋"},
    "+-+": {"en": "relaxed", "zh": "放松"},
    "+--": {"en": "docile", "zh": "温顺"},
    "-++": {"en": "hostile", "zh": "敌对"},
    "-+-": {"en": "anxious", "zh": "焦虑"},
    "--+": {"en": "disdainful", "zh": "轻蔑"},
    "---": {"en": "bored", "zh": "无聊"},
    "+00": {"en": "pleased", "zh": "愉快"},
    "-00": {"en": "displeased", "zh": "不快"},
    "0+0": {"en": "stirred", "zh": "激动"},
    "0-0": {"en": "subdued", "zh": "低沉"},
    "00+": {"en": "assured", "zh": "笃定"},
    "00-": {"en": "unsure", "zh": "没底"},
}
_EVEN: dict[Lang, str] = {"en": "even", "zh": "平静"}
_SLIGHTLY: dict[Lang, str] = {"en": "slightly ", "zh": "有些"}
_CLEARLY: dict[Lang, str] = {"en": "clearly ", "zh": "明显"}
_STRONGLY: dict[Lang, str] = {"en": "strongly ", "zh": "非常"}


def describe(state: EmotionState, lang: Lang, constants: Constants = DEFAULT) -> str:
    """Strength and octant, like "clearly relaxed"; "even" when every axis is in the middle zone."""
    outside = [abs(v) >= constants.mood_even for v in state.x]
    if not any(outside):
        return _EVEN[lang]
    # With one axis alone the signs of the other two are noise, so they must not choose an octant.
    alone = sum(outside) == 1
    signs = ("0" if alone and not out else "+" if v >= 0 else "-" for v, out in zip(state.x, outside, strict=True))
    return _strength(extremity(state.x), constants)[lang] + _WORDS["".join(signs)][lang]


def _strength(z: float, c: Constants) -> dict[Lang, str]:
    if z < c.mood_clearly:
        return _SLIGHTLY
    return _CLEARLY if z < c.mood_strongly else _STRONGLY


def mood_of(state: EmotionState) -> str:
    """The key of the mood, like `sad` or `cheerful`."""
    p, a, d = state.x
    if p <= -0.15:
        if a >= 0.15:
            return "angry" if d >= 0.0 else "hurt"
        return "sad"
    if p >= 0.15:
        return "elated" if a >= 0.5 else "cheerful" if a >= 0.15 else "content"
    return "calm"

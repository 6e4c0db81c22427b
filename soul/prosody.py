"""How a mood sounds: the rate, pitch, volume and range of a voice, from PAD, as numbers and in words."""

from dataclasses import dataclass

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.mood import describe
from soulgraph.soul.personality import Three, clip

RATE = (0.75, 1.35)
PITCH = (0.78, 1.35)
VOLUME = (0.75, 1.25)
RANGE = (0.6, 1.5)
"""Within these a voice is still understood, and still the same one's."""
_RATE_OF = (0.10, 0.25, 0.0)
_PITCH_OF = (0.12, 0.20, -0.08)
_VOLUME_OF = (0.0, 0.20, 0.10)
_RANGE_OF = (0.20, 0.30, 0.0)
"""By how much pleasure, arousal and dominance move each."""
_AUDIBLE = 0.05


@dataclass(frozen=True, slots=True)
class Prosody:
    """Factors of the voice's own; `range` is how much its melody moves."""

    rate: float = 1.0
    pitch: float = 1.0
    volume: float = 1.0
    range: float = 1.0


NEUTRAL = Prosody()
_WORDS: dict[Lang, dict[str, tuple[str, str]]] = {
    "en": {
        "rate": ("slowly", "quickly"),
        "pitch": ("in a low voice", "in a high voice"),
        "volume": ("softly", "loudly"),
        "range": ("with a flat melody", "with a lively melody"),
    },
    "zh": {
        "rate": ("语速慢", "语速快"),
        "pitch": ("声音低", "声音高"),
        "volume": ("轻声", "响亮"),
        "range": ("语调平缓", "语调起伏"),
    },
}


def prosody_of(x: Three[float]) -> Prosody:
    """A soul that feels nothing in particular, (0, 0, 0), speaks with its voice as it is: every factor is 1."""
    return Prosody(
        _factor(x, _RATE_OF, RATE),
        _factor(x, _PITCH_OF, PITCH),
        _factor(x, _VOLUME_OF, VOLUME),
        _factor(x, _RANGE_OF, RANGE),
    )


def _factor(x: Three[float], weights: Three[float], bounds: tuple[float, float]) -> float:
    moved = sum(at * weight for at, weight in zip(x, weights, strict=True))
    return round(clip(1.0 + moved, *bounds), 3)


def in_words(prosody: Prosody, mood: str, lang: Lang) -> str:
    """An instruction for a voice that takes words; empty for one that is as it always is."""
    if prosody == NEUTRAL:
        return ""
    heard = [word for name in _WORDS[lang] if (word := _word(prosody, name, lang))]
    if lang == "zh":
        return f"用{mood}的语气说" + "".join(f"，{word}" for word in heard) + "。"
    return f"Sound {mood}" + ("; speak " + ", ".join(heard) if heard else "") + "."


def _word(prosody: Prosody, name: str, lang: Lang) -> str:
    moved = float(getattr(prosody, name)) - 1.0
    low, high = _WORDS[lang][name]
    return (low if moved < 0 else high) if abs(moved) > _AUDIBLE else ""


def manner_of(emotion: EmotionState, text: str, constants: Constants = DEFAULT) -> tuple[Prosody, str]:
    """How a soul that feels like this says a text: in numbers, and in words of the text's language."""
    prosody = prosody_of(emotion.x)
    lang = lang_of(text)
    return prosody, in_words(prosody, describe(emotion, lang, constants), lang)

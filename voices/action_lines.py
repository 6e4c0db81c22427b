"""The prepared lines a soul says when it carries out an intent, without a model call."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from zlib import crc32

import yaml

from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang

_WARM, _COLD = 0.15, -0.15  # pleasure above and below which the tone changes


def action_line(intents: Sequence[MatchedIntent], reached: bool, feeling: EmotionState, text: str, lang: Lang) -> str:
    """A line that names what is done, in the tone of the mood, and then the questions for missing parameters.

    `reached` is false when the terminal could not be reached: then the line says that nothing was done.
    """
    done = ("、" if lang == "zh" else ", ").join(i.intent_name for i in intents if i.status == "ready")
    tone = _tone(feeling) if reached else "unreached"
    parts = [_line(done, tone, text, lang)] if done else []
    return " ".join([*parts, *(intent.question for intent in intents if intent.question)])


def _tone(feeling: EmotionState) -> str:
    return "warm" if feeling.p > _WARM else "cold" if feeling.p < _COLD else "even"


def _line(done: str, tone: str, text: str, lang: Lang) -> str:
    """One of the lines of this tone, always the same for the same text."""
    lines = _lines()[lang][tone]
    return lines[crc32(text.encode()) % len(lines)].format(done=done)


@cache
def _lines() -> dict[str, dict[str, list[str]]]:
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (files(__package__) / "action_lines.yaml").read_text("utf-8")
    )
    return loaded

"""What a prompt says of what a soul cannot do or does not know, in the language of the reply."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from soulgraph.soul.gate import GateReason
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.language import Lang


def gate_lines(reason: GateReason | None, intents: Sequence[str], lang: Lang) -> list[str]:
    """That the soul cannot act, why and what would help; and what it was asked for and has not done."""
    lines = _lines()[lang]
    closed = [lines["closed"].format(**gate_words(reason, lang), manner=lines["manner"][reason])] if reason else []
    refused = [lines["refused"].format(intents="、".join(intents))] if intents else []
    return [*closed, *refused]


def no_device_line(lang: Lang) -> str:
    """For a soul that is asked for something for which it has no device at all."""
    return str(_lines()[lang]["no_device"])


def nothing_known_line(lang: Lang) -> str:
    """For a soul that is asked for what it was never told."""
    return str(_lines()[lang]["nothing_known"])


def go_on_line(lang: Lang) -> str:
    """For a reply that goes on where it ended."""
    return str(_lines()[lang]["go_on"])


@cache
def _lines() -> dict[str, Any]:
    return dict(yaml.load((files(__package__) / "gate_lines.yaml").read_text("utf-8"), yaml.CSafeLoader))

"""What a prompt says of a closed gate, in the language of the reply."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from soulgraph.soul.gate import GateReason
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.language import Lang


def gate_lines(reason: GateReason | None, intents: Sequence[str], no_device: bool, lang: Lang) -> list[str]:
    """That the soul cannot act, why and what would help; and what it was asked for and has not done.

    `no_device`: it is asked for something for which it has no device at all.
    """
    lines = _lines()[lang]
    closed = [lines["closed"].format(**gate_words(reason, lang), manner=lines["manner"][reason])] if reason else []
    refused = [lines["refused"].format(intents="、".join(intents))] if intents else []
    return [*closed, *refused, *([lines["no_device"]] if no_device else [])]


@cache
def _lines() -> dict[str, Any]:
    return dict(yaml.safe_load((files(__package__) / "gate_lines.yaml").read_text("utf-8")))

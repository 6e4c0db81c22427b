"""The patterns of `words.yaml`, by language and by what they tell of a clause."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from soulgraph.soul.language import Lang


class Patterns(dict[str, re.Pattern[str]]):
    """Those of a language. There is one of each, so that what was found by it can be remembered."""

    __hash__ = object.__hash__  # type: ignore[assignment]


@cache
def patterns(lang: Lang | Literal["both"]) -> Patterns:
    """For each name one pattern that finds any of its entries."""
    loaded = yaml.load((files(__package__) / "words.yaml").read_text("utf-8"), yaml.CSafeLoader)[lang]
    parts = _expanded(loaded.pop("parts"))
    return Patterns(
        (name, re.compile("|".join(f"(?:{_filled(one, parts)})" for one in some), re.IGNORECASE))
        for name, some in loaded.items()
    )


def _expanded(parts: dict[str, str]) -> dict[str, str]:
    """The parts, of which each may name those before it."""
    done: dict[str, str] = {}
    for name, part in parts.items():
        done[name] = f"(?:{_filled(part, done)})"
    return done


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern

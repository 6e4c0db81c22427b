"""Describes a personality in words, for prompts, which must show neither its numbers nor the letters of its type."""

from bisect import bisect
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from soulgraph.soul.language import Lang
from soulgraph.soul.personality import Five, Traits, effective


def describe_personality(base: Traits, drift: Traits, lang: Lang) -> str:
    """How warm, touchy, steady, open and blunt a soul is now, and what of that has changed since its birth."""
    words = _words()[lang]
    grades = grades_of(effective(base, drift))
    present = [words["grades"][trait][grade - 1] + words["end"] for trait, grade in grades.items()]
    changes = words["joint"].join(_changes(drift, words["changes"]))
    changed = words["changed"].format(changes=changes) if changes else ""
    return ("".join(present) + changed).strip()


def grades_of(traits: Five[float]) -> dict[str, int]:
    """The grade of each trait, from 1 (low) to 5 (high)."""
    edges = _words()["edges"]
    return {trait: 1 + bisect(edges[trait], value) for trait, value in zip(Traits._fields, traits, strict=True)}


def _changes(drift: Traits, words: dict[str, list[str]]) -> list[str]:
    """The largest noticeable changes, the largest first."""
    data = _words()
    noticeable = [trait for trait, shift in drift.to_dict().items() if abs(shift) >= data["noticeable_drift"]]
    largest = sorted(noticeable, key=lambda trait: -abs(getattr(drift, trait)))[: data["most_changes"]]
    return [words[trait][getattr(drift, trait) > 0] for trait in largest]


@cache
def _words() -> dict[str, Any]:
    return dict(yaml.load((files(__package__) / "character_words.yaml").read_text("utf-8"), yaml.CSafeLoader))

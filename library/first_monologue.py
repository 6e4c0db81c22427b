"""The inner monologue that a soul is born with, and its first thought about a person."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from soulgraph.soul.language import lang_of

_SENTENCE = re.compile(r".*?(?:[。！？!?]|\.(?=\s|$)|\n|$)", re.DOTALL)
_MAX_PERSONA, _MAX_GOAL = 300, 200


def first_monologue(name: str, character: Mapping[str, Any]) -> str:
    """The character's own, or one about who the soul is and what it wants to be, in the character's language."""
    if own := character.get("inner_state"):
        return str(own)
    persona = _first_sentence(_persona(character))
    goal = str(character.get("initial_profile", {}).get("core_identity", {}).get("core_goal", ""))[:_MAX_GOAL]
    lines = _lines()[lang_of(name + persona + goal)]
    wanted = {"name": name, "persona": persona, "goal": goal, "anybody": True, "care": True}
    return "\n".join(lines[part].format(**wanted) for part, value in wanted.items() if value)


def first_thought_about(person: str, own_words: str) -> str:
    """What a soul feels about somebody whose name it has just learnt, in the language of its own words."""
    return _lines()[lang_of(own_words)]["person"].format(person=person)


def _persona(character: Mapping[str, Any]) -> str:
    return str(character.get("base_persona") or character.get("description") or "")


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text.strip())
    return found[0].strip()[:_MAX_PERSONA] if found else ""


@cache
def _lines() -> dict[str, dict[str, str]]:
    lines: dict[str, dict[str, str]] = yaml.load(
        (files(__package__) / "first_monologues.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return lines

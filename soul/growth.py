"""The evolved persona in its dimensions."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import yaml

from soulgraph.soul.language import lang_of

Dimension = Literal["beliefs", "behaviour", "relationship", "feeling"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
Dimensions = dict[str, str]
"""A text without numbers for each dimension; one in which nothing has changed is empty."""


def persona_text(dimensions: Mapping[str, str]) -> str:
    """The dimensions as the prompt says them: one paragraph each, with its title."""
    titles = _titles()[lang_of("".join(dimensions.values()))]
    return "\n".join(f"{titles[name]}: {dimensions[name]}" for name in DIMENSIONS if dimensions.get(name))


@cache
def _titles() -> dict[str, dict[str, str]]:
    titles: dict[str, dict[str, str]] = yaml.load(
        (files(__package__) / "growth.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return titles

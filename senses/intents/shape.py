"""The shape of a clause: a plain request, or a question, a report, a complaint, a refusal, and so on.

An intent that is asked for is asked for by a clause of the shape of its examples: 先别扫了 does not mean 扫个地吧, and
你刚才为什么开灯 does not mean 开灯. The patterns of the shapes are in `shapes.yaml`.
"""

import re
from collections.abc import Sequence
from importlib.resources import files

import yaml

from soulgraph.senses.intents.opposites import STOPPING
from soulgraph.soul.patterns import lazy_pattern
from soulgraph.soul.short_texts import remembers_short

Shape = frozenset[str]
"""Empty for a plain request."""

TELLING = Shape(
    ["past", "wonder", "complaint", "third_person", "own_doing", "hypothetical", "idiom", "quotation", "description"]
)
"""Shapes that ask for no act, whatever the clause names."""


def _patterns() -> dict[str, re.Pattern[str]]:
    loaded: dict[str, list[str]] = yaml.load((files(__package__) / "shapes.yaml").read_text("utf-8"), yaml.CSafeLoader)
    return {name: lazy_pattern("|".join(words), re.IGNORECASE) for name, words in loaded.items()}


_WORDS = _patterns()
_POLITE = _WORDS.pop("polite")
_STOPPING = lazy_pattern(STOPPING)


def shape_of(clauses: Sequence[str]) -> Shape:
    """The shapes of all clauses; "state" only if every clause has it, as a request may come with a description."""
    shapes = [_shape(clause) for clause in clauses]
    return frozenset.union(*shapes) - ({"state"} - frozenset.intersection(*shapes))


@remembers_short(512)
def _shape(clause: str) -> Shape:
    shape = Shape(name for name, words in _WORDS.items() if words.search(clause))
    return shape - {"wonder"} if _POLITE.search(clause) else shape


def refuses(shape: Shape) -> bool:
    return "refusal" in shape


def refuses_act(clause: str) -> bool:
    """Whether a clause refuses something and does not only ask to stop it: 别开, but not 别吹了."""
    return refuses(_shape(clause)) and not _STOPPING.search(clause)


def is_supposed(clause: str, at: int) -> bool:
    """Whether what stands at this place of a clause is only supposed: 要是 or "if" stands before it."""
    found = _WORDS["hypothetical"].search(clause)
    return found is not None and found.start() <= at

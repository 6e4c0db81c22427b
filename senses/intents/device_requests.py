"""Whether words ask to operate a device or to do something with a body, whatever is connected.

Without a terminal the soul can do neither, and should say so instead of pretending. There is no catalog to compare
with here, so what people speak of (`concepts`) and how they say it (`shape`) decide alone.
"""

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from soulgraph.senses.intents.concepts import THINGS, Concepts, asks, concepts_in, requests, states
from soulgraph.senses.intents.opposites import names_side
from soulgraph.senses.intents.shape import TELLING, refuses_act, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance

_NO_REQUEST = TELLING | {"prohibition"}
_SETTINGS = Concepts(["level", "degrees", "gear", "next", "pause", "colour"])
_SERVICES = Concepts(["reminder", "timer"])
"""To name them with a verb is to ask for them: remind me at six."""


class _Words(NamedTuple):
    devices: Concepts
    operates: re.Pattern[str]
    body: re.Pattern[str]
    imagined: re.Pattern[str]
    about: re.Pattern[str]
    happened: re.Pattern[str]


def asks_for_device(text: str) -> bool:
    """Not by stories, questions about devices, refusals, reports of what was, or what somebody else does."""
    utterance = ParsedUtterance.of(text)
    if not utterance.text or _words().imagined.search(utterance.text):
        return False
    clauses = [utterance.without_quotations(span).strip() for span in utterance.clauses]
    named = concepts_in(" ".join(clauses))
    return any(_asks(clause, named) for clause in clauses)


@lru_cache(maxsize=1024)
def _asks(clause: str, named: Concepts) -> bool:
    """`named` is what the whole text speaks of: in "the door is open, go and shut it" the request names no thing."""
    words, shape = _words(), shape_of([clause])
    if shape & _NO_REQUEST or refuses_act(clause) or words.about.search(clause) or words.happened.search(clause):
        return False
    if "state" in shape and not requests(clause):
        return False
    return words.body.search(clause) is not None or _operates(clause, named)


def _operates(clause: str, named: Concepts) -> bool:
    words, here, has_side = _words(), concepts_in(clause), names_side(clause)
    things = here & words.devices or (named & words.devices if has_side or requests(clause) else Concepts())
    if not things or states(clause) or not words.operates.search(clause):
        return False
    return has_side or asks(clause) or bool(here & (_SETTINGS | _SERVICES))


@cache
def _words() -> _Words:
    loaded = yaml.load((files(__package__) / "device_words.yaml").read_text("utf-8"), yaml.CSafeLoader)
    body = "|".join(loaded["body"]).replace("OPENING", loaded["opening"])
    patterns = (
        loaded["operates"].replace("\n", "").replace(" |", "|"),
        body,
        *(loaded[name] for name in ("imagined", "about", "happened")),
    )
    return _Words(
        THINGS - Concepts(loaded["words_only"]), *(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    )

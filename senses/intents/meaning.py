"""Finds intents by concepts: a clause that names all that an intent is about asks for it, in whatever words."""

from collections.abc import Iterator
from typing import NamedTuple

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.concepts import THINGS, Concepts, asks, concepts_in, states
from soulgraph.senses.intents.opposites import first_sides, opposed
from soulgraph.senses.intents.shape import shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, Span

_UNASKED = {"praise"}


class Meaning(NamedTuple):
    """A clause, the intent it has all concepts of, and those."""

    intent: Intent
    span: Span
    concepts: Concepts

    @property
    def confidence(self) -> float:
        return 1 - 0.5 ** (1 + len(self.concepts))


def meanings_in(utterance: ParsedUtterance, catalog: CompiledCatalog) -> Iterator[Meaning]:
    """For each clause the intent with most concepts, if no other has as many.

    A clause that names an act and no thing is about the thing that was named last: 窗帘还开着呢，帮我拉上.
    """
    things = Concepts()
    for clause in utterance.clauses:
        words = utterance.without_quotations(clause)
        named = concepts_in(words)
        if "off" in named:
            named |= {"cancelled"}  # an alarm is turned off
        if "unlocked" in named:
            named |= {"on"}  # 开锁
        things = named & THINGS or things
        sides = first_sides([utterance.sides_within(clause)])
        possible = [intent for intent in catalog.intents if not opposed(catalog.sides(intent), sides)]
        if found := _meant(named | things, words, possible, catalog):
            yield Meaning(found, clause, catalog.profile(found).core)


def _meant(named: Concepts, words: str, possible: list[Intent], catalog: CompiledCatalog) -> Intent | None:
    fitting = [intent for intent in possible if _fits(intent, named, words, catalog)]
    sizes = {intent.id: len(catalog.profile(intent).core) for intent in fitting}
    best = [intent for intent in fitting if sizes[intent.id] == max(sizes.values())]
    return best[0] if len(best) == 1 else None


def _fits(intent: Intent, named: Concepts, words: str, catalog: CompiledCatalog) -> bool:
    """Whether an intent with examples is meant in other words.

    One concept alone is only named without a word of asking, or the question that the intent is for.
    """
    core = catalog.profile(intent).core
    if not intent.match.examples or not catalog.profile(intent).subjects or not core <= named:
        return False
    if states(words) or (shape_of([words]) & _UNASKED) - catalog.shapes(intent):
        return False
    asked = asks(words) or "wonder" in catalog.shapes(intent) & shape_of([words])
    return len(core) > 1 or (asked and core <= concepts_in(words))

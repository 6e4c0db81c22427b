"""How large a catalog may be. It is counted before anything of it is checked: checking a pattern compiles it."""

from collections.abc import Iterable
from typing import Any

from pydantic_core import PydanticCustomError

MAX_TEXTS_OF_INTENT = 500
"""Of each kind: examples, keywords of each list, values of a slot."""
MAX_PATTERNS_OF_INTENT = 100
MAX_SLOTS_OF_INTENT = 50
MAX_INTENTS = 1000
MAX_IN_ALL = {
    "intents": MAX_INTENTS,
    "examples": 10_000,
    "keywords": 10_000,
    "patterns": 1000,
    "slots": 2000,
    "values of slots": 10_000,
    "characters": 500_000,
}


def refuse_oversized(catalog: Any) -> Any:
    """Raises PydanticCustomError if a catalog has more than it may; gives it back, whatever it is, to be checked."""
    for what, size in _sizes(catalog).items():
        if size > MAX_IN_ALL[what]:
            raise PydanticCustomError(
                "catalog_too_large",
                "the catalog has {size} {what}, at most {most} are taken: leave some out",
                {"size": size, "what": what, "most": MAX_IN_ALL[what]},
            )
    return catalog


def _sizes(catalog: Any) -> dict[str, int]:
    intents = catalog if isinstance(catalog, list) else []
    matches = [intent.get("match") for intent in intents if isinstance(intent, dict)]
    slots = _items(intents, "slots")
    regexes = [slot["regex"] for slot in slots if isinstance(slot, dict) and slot.get("regex") is not None]
    texts = {
        "examples": _items(matches, "examples"),
        "keywords": _items(matches, "keywords_any", "keywords_all", "negative_keywords"),
        "patterns": [*_items(matches, "regex_any", "regex_all"), *regexes],
        "values of slots": _items(slots, "values"),
    }
    characters = sum(len(text) for each in texts.values() for text in each if isinstance(text, str))
    counts = {what: len(each) for what, each in texts.items()}
    return {"intents": len(intents), "slots": len(slots), **counts, "characters": characters}


def _items(parts: Iterable[Any], *names: str) -> list[Any]:
    """What is in the lists of these names, as far as they are lists, and in objects."""
    lists = (part.get(name) for part in parts if isinstance(part, dict) for name in names)
    return [item for each in lists if isinstance(each, list) for item in each]

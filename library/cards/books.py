"""Finds the lorebook in a file of any program: alone, in a card, in a story or in a scenario."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from soulgraph.library.cards import agnai
from soulgraph.library.cards.lenient import Json

LOREBOOK_V3 = "lorebook_v3"
_STORY_MARKS = frozenset({"lorebookVersion", "scenarioVersion", "storyContainerVersion", "worldinfo", "worldinfo_v2"})
"""Of NovelAI and of KoboldAI."""
_PLACES: tuple[tuple[str, ...], ...] = (
    ("character_book",),
    ("characterBook",),
    ("lorebook",),
    ("content", "lorebook"),
    ("module", "lorebook"),
    ("worldinfo_v2",),
    ("worldinfo",),
)
"""Where programs keep a book, other than in the data of a card."""
_CARD_TEXTS = ("first_mes", "personality", "scenario", "mes_example", "greeting", "persona")


class Book(NamedTuple):
    """A lorebook: the object that it is, its entries, and the path to them."""

    fields: Json
    entries: dict[str, Any] | list[Any]
    place: str


def is_lorebook(given: Json) -> bool:
    """Whether a file is a lorebook, or a story with one, and no character."""
    if agnai.is_book(given) or given.get("spec") == LOREBOOK_V3 or _is_risu(given):
        return True
    if _STORY_MARKS & given.keys():
        return True
    entries = given.get("entries")
    return isinstance(entries, dict | list) and "data" not in given and not any(map(given.get, _CARD_TEXTS))


def find_book(data: Any) -> Book | None:
    """The first lorebook in the JSON of a file that is no card; None if there is none."""
    if isinstance(data, list) and data and all(isinstance(entry, dict) for entry in data):
        return Book({}, data, "entries")
    if not isinstance(data, dict):
        return None
    if _is_risu(data):
        return Book(data, data["data"], "data")
    return next(filter(None, (_book(book, path) for book, path in _candidates(data))), None)


def _candidates(data: Json) -> Iterator[tuple[Any, tuple[str, ...]]]:
    if "entries" in data:
        yield data, ()
        return
    if data.get("spec") == LOREBOOK_V3 or "spec" not in data:
        yield data.get("data"), ("data",)
    for path in _PLACES:
        inside: Any = data
        for name in path:
            inside = inside.get(name) if isinstance(inside, dict) else None
        yield inside, path


def _book(found: Any, path: tuple[str, ...]) -> Book | None:
    if isinstance(found, list) and path:
        return Book({}, found, ".".join(path))
    entries = found.get("entries") if isinstance(found, dict) else None
    return Book(found, entries, ".".join((*path, "entries"))) if isinstance(entries, dict | list) else None


def _is_risu(given: Json) -> bool:
    return given.get("type") == "risu" and isinstance(given.get("data"), list)

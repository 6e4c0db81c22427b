"""Reads lorebooks of other programs, alone or inside of their card: world info, memory books, `character_book`s."""

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from soulgraph.errors import InvalidInput
from soulgraph.library.cards import agnai, backyard
from soulgraph.library.cards.books import Book, find_book
from soulgraph.library.cards.cutting import Cutter
from soulgraph.library.cards.effects import EntryNotes, ReadEntry, book_fields
from soulgraph.library.cards.entries import read_entry
from soulgraph.library.cards.kinds import as_card
from soulgraph.library.cards.lenient import Json, Oddities
from soulgraph.library.cards.limits import MAX_LORE
from soulgraph.library.cards.lore import ID, FlawOf, lore_entry, no_flaw
from soulgraph.library.cards.macros import macro_notes
from soulgraph.library.cards.spec import OURS, Entry
from soulgraph.soul.language import lang_of

_MAX_TITLE = 60
_MAX_ENTRIES = 2 * MAX_LORE
"""How many are read: some may be there already, or have no content."""
_OF_MODULES = ("regex", "trigger", "assets", "backgroundEmbedding", "cjs")
_CHARACTER = {"zh": "角色", "en": "the character"}


class FoundEntry(NamedTuple):
    """An entry as our lore, and where it is in the file, with its title."""

    place: str
    lore: Json


class Lorebook(NamedTuple):
    entries: list[FoundEntry]
    notes: list[str]


def read_lorebook(data: Any, char: str | None, flaw_of: FlawOf = no_flaw) -> Lorebook:
    """The entries of a lorebook; `char` is the character's name, None for a world that any character may live in.

    Raises InvalidInput if there are none. The notes say what is not kept, or means something else here.
    """
    book = _find(data)
    reading = _Reading(char, flaw_of, _disabled_categories(book), notes=_beside(data))
    numbered = book.entries.items() if isinstance(book.entries, dict) else enumerate(book.entries)
    for n, (key, given) in enumerate(reading.cutter.first([*numbered], _MAX_ENTRIES, "entries")):
        reading.take(f"{book.place}.{key}", given, n)
    return Lorebook(reading.found, reading.all_notes(book))


@dataclass(slots=True)
class _Reading:
    """The entries of a lorebook that were read, and what is to be said of them."""

    char: str | None
    flaw_of: FlawOf
    disabled: Set[str]
    """The categories whose entries are switched off together."""
    found: list[FoundEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: list[ReadEntry] = field(default_factory=list)
    oddities: Oddities = field(default_factory=Oddities)
    cutter: Cutter = field(default_factory=Cutter)

    def take(self, where: str, given: Any, n: int) -> None:
        raw = agnai.card_entry(given)
        place = _titled(where, raw)
        if not isinstance(raw, dict):
            self.notes.append(f"{place}: left out, because it is no entry")
            return
        entry = read_entry(raw, self.oddities)
        if str(raw.get("category")) in self.disabled:
            entry = entry.model_copy(update={"enabled": False})
        own = self.char or _CHARACTER[lang_of(entry.content)]
        lore = lore_entry(entry, _entry_id(entry, raw, n), own, place, self.cutter, self.flaw_of)
        if lore is None:
            what = "it is a folder" if raw.get("mode") == "folder" else "it has no content"
            self.notes.append(f"{place}: left out, because {what}")
            return
        self.seen.append(ReadEntry(raw, entry))
        self.found.append(FoundEntry(place, lore))

    def all_notes(self, book: Book) -> list[str]:
        told = EntryNotes.of(self.seen)
        listed = [*told.ignored, *book_fields(book.fields)]
        lost = [f"not kept: {', '.join(listed)}"] if listed else []
        macros = macro_notes(read.entry.content for read in self.seen)
        return [*self.notes, *self.cutter.notes, *self.oddities.notes(), *macros, *told.otherwise, *lost]


def _find(data: Any) -> Book:
    """The book in a file, which may be a card; raises InvalidInput if there is none, or an empty one."""
    book = find_book(data)
    if book is None and isinstance(data, dict) and isinstance(data.get("data"), dict):
        fields = as_card(data)["data"]
        book = find_book({"character_book": fields.get("character_book")})
        book = book and book._replace(place=f"data.{book.place}")
    elif book is None and isinstance(data, dict) and backyard.is_character(data):
        book = find_book(as_card(data)["data"])
    if book is None:
        raise InvalidInput(
            "the file has no lore `entries`: send SillyTavern's world info, a `character_book`, or a card that has one"
        )
    if not book.entries:
        raise InvalidInput("the lorebook is empty: there is nothing to import")
    return book


def _beside(data: Any) -> list[str]:
    """A note on what else a module of RisuAI has."""
    is_module = isinstance(data, dict) and data.get("type") == "risuModule"
    names = [name for name in _OF_MODULES if data.get(name)] if is_module else []
    return [f"not kept, beside the lorebook: {', '.join(names)}"] if names else []


def _disabled_categories(book: Book) -> Set[str]:
    """The ids of the categories that are switched off, as NovelAI has them."""
    given = book.fields.get("categories")
    categories = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    return {str(one.get("id")) for one in categories if one.get("enabled") is False}


def _title(raw: Any) -> str:
    titles = (raw.get(name) for name in ("comment", "name", "displayName")) if isinstance(raw, dict) else ()
    return next((title.strip()[:_MAX_TITLE] for title in titles if isinstance(title, str) and title.strip()), "")


def _titled(place: str, raw: Any) -> str:
    title = _title(raw)
    return f"{place} ({title})" if title else place


def _entry_id(entry: Entry, raw: Json, n: int) -> str:
    """The id that we gave an entry which comes back, else one that is made from its title."""
    ours = entry.extensions.get(OURS)
    given = ours.get("id") if isinstance(ours, dict) else None
    if isinstance(given, str) and ID.fullmatch(given):
        return given
    letters = (letter if letter.isalpha() or letter in "0123456789.-" else " " for letter in _title(raw))
    return "_".join("".join(letters).split()) or f"lore.{n}"

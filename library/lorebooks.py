"""Reads lorebooks of other programs, alone or inside of their card: world info, memory books, `character_book`s."""

from typing import Any, NamedTuple

from pydantic import BaseModel

from soulgraph.errors import InvalidInput
from soulgraph.library.cards import agnai
from soulgraph.library.cards.cutting import Cutter
from soulgraph.library.cards.effects import ReadEntry, entry_notes
from soulgraph.library.cards.kinds import as_card
from soulgraph.library.cards.lenient import Flag, FlagOn, Json, Keys, Number, Oddities, Text
from soulgraph.library.cards.limits import MAX_LORE
from soulgraph.library.cards.lore import ID, FlawOf, lore_entry, no_flaw
from soulgraph.library.cards.spec import OURS, Entry
from soulgraph.soul.language import lang_of

_V3 = "lorebook_v3"
_MAX_TITLE = 60
_MAX_ENTRIES = 2 * MAX_LORE
"""How many are read: some may be there already, or have no content."""
_CHARACTER = {"zh": "角色", "en": "the character"}


class WorldEntry(BaseModel):
    """An entry of SillyTavern's world info, as far as it means something here."""

    key: Keys = []
    keysecondary: Keys = []
    content: Text = ""
    constant: Flag = False
    disable: Flag = False
    selective: FlagOn = True
    order: Number = None

    def as_book_entry(self, logic: Any) -> Entry:
        return Entry(
            keys=self.key,
            secondary_keys=self.keysecondary,
            content=self.content,
            enabled=not self.disable,
            selective=self.selective,
            constant=self.constant,
            insertion_order=self.order,
            extensions={"selectiveLogic": logic},
        )


class RisuEntry(BaseModel):
    """An entry of a lorebook that RisuAI exports, as far as it means something here."""

    key: Keys = []
    secondkey: Keys = []
    content: Text = ""
    alwaysActive: Flag = False  # noqa: N815 (its name in the file)
    selective: Flag = False
    useRegex: Flag = False  # noqa: N815
    insertorder: Number = None

    def as_book_entry(self) -> Entry:
        return Entry(
            keys=self.key,
            secondary_keys=self.secondkey,
            content=self.content,
            selective=self.selective,
            constant=self.alwaysActive,
            use_regex=self.useRegex,
            insertion_order=self.insertorder,
        )


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
    found: list[FoundEntry] = []
    notes: list[str] = []
    seen: list[ReadEntry] = []
    oddities = Oddities()
    cutter = Cutter()
    raw_entries = cutter.first([*_raw_entries(data).items()], _MAX_ENTRIES, "entries")
    for n, (place, given) in enumerate(raw_entries):
        raw = agnai.card_entry(given)
        place = _titled(place, raw)
        if not isinstance(raw, dict):
            notes.append(f"{place}: left out, because it is no entry")
            continue
        entry = _entry(raw, oddities)
        own = char or _CHARACTER[lang_of(entry.content)]
        lore = lore_entry(entry, _entry_id(entry, raw, n), own, place, cutter, flaw_of)
        if lore is None:
            notes.append(f"{place}: left out, because it has no content")
            continue
        seen.append(ReadEntry(raw, entry))
        found.append(FoundEntry(place, lore))
    return Lorebook(found, [*notes, *cutter.notes, *oddities.notes(), *entry_notes(seen)])


def _raw_entries(data: Any) -> dict[str, Any]:
    """The entries as they are in the file, by their place in it."""
    book, within = _book(data)
    name = "entries"
    entries = book.get(name) if isinstance(book, dict) else None
    if isinstance(data, dict) and data.get("type") == "risu" and isinstance(data.get("data"), list):
        name, entries = "data", data["data"]
    if not isinstance(entries, dict | list):
        raise InvalidInput(
            "the file has no lore `entries`: send SillyTavern's world info, a `character_book`, or a card that has one"
        )
    if not entries:
        raise InvalidInput("the lorebook is empty: there is nothing to import")
    numbered = entries.items() if isinstance(entries, dict) else enumerate(entries)
    return {f"{within}{name}.{n}": raw for n, raw in numbered}


def _book(data: Any) -> tuple[Any, str]:
    """The object with the entries, and the path to it."""
    if not isinstance(data, dict) or "entries" in data or data.get("type") == "risu":
        return data, ""
    if data.get("spec") == _V3:
        return data.get("data"), "data."
    for name in ("character_book", "characterBook"):
        if isinstance(data.get(name), dict):
            return data[name], f"{name}."
    inside = data.get("data")
    if "spec" not in data and isinstance(inside, dict) and "entries" in inside:
        return inside, "data."
    fields = as_card(data).get("data") if isinstance(inside, dict) else None
    return (fields.get("character_book") if isinstance(fields, dict) else None), "data.character_book."


def _entry(raw: Json, oddities: Oddities) -> Entry:
    if "alwaysActive" in raw or "insertorder" in raw:
        return RisuEntry.model_validate(raw, context=oddities).as_book_entry()
    if "key" in raw and "keys" not in raw:
        return WorldEntry.model_validate(raw, context=oddities).as_book_entry(raw.get("selectiveLogic"))
    return Entry.model_validate(raw, context=oddities)


def _title(raw: Any) -> str:
    titles = (raw.get(name) for name in ("comment", "name")) if isinstance(raw, dict) else ()
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

"""Reads lorebooks: SillyTavern's world info, and the `character_book` of a card, alone or inside of its card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.reading import lore_entry
from soulgraph.library.cards.spec import AND_ALL, EXCLUDING, OURS, Entry, Flag, Json, Text, Texts, as_card, or_default
from soulgraph.soul.language import lang_of
from soulgraph.soul.validation import explain

_V3 = "lorebook_v3"
_MAX_TITLE = 60
_CHARACTER = {"zh": "角色", "en": "the character"}


class WorldEntry(BaseModel):
    """An entry of SillyTavern's world info, as far as it means something here."""

    key: Texts = []
    keysecondary: Texts = []
    content: Text = ""
    constant: Flag = False
    disable: Flag = False
    selective: Annotated[bool, or_default(True)] = True
    order: float | None = Field(None, allow_inf_nan=False)

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


class FoundEntry(NamedTuple):
    """An entry as our lore, and where it is in the file, with its title."""

    place: str
    lore: Json


class Lorebook(NamedTuple):
    entries: list[FoundEntry]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry as it is in the file, and what was read of it."""

    raw: Json
    entry: Entry

    def value(self, name: str) -> Any:
        """A field of SillyTavern's; cards have it among the extensions, some under another name."""
        if name in self.raw:
            return self.raw[name]
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
        return self.entry.extensions.get(name, self.entry.extensions.get(snake))


def read_lorebook(data: Any, char: str | None) -> Lorebook:
    """The entries of a lorebook; `char` is the character's name, None for a world that any character may live in.

    Raises InvalidInput if there are none. The notes say what is not kept, or means something else here.
    """
    found: list[FoundEntry] = []
    notes: list[str] = []
    seen: list[_Read] = []
    for n, (place, raw) in enumerate(_raw_entries(data).items()):
        place = _titled(place, raw)
        try:
            entry = _entry(raw)
        except ValidationError as error:
            notes.append(f"{place}: left out, because {explain(error)}")
            continue
        lore = lore_entry(entry, n, char or _CHARACTER[lang_of(entry.content)])
        if lore is None:
            notes.append(f"{place}: left out, because it has no content")
            continue
        seen.append(_Read(raw, entry))
        found.append(FoundEntry(place, lore | {"id": _entry_id(entry, raw, n)}))
    return Lorebook(found, [*notes, *_notes(seen)])


def _raw_entries(data: Any) -> dict[str, Any]:
    """The entries as they are in the file, by their place in it."""
    book, within = _book(data)
    entries = book.get("entries") if isinstance(book, dict) else None
    if not isinstance(entries, dict | list):
        raise InvalidInput(
            "the file has no lore `entries`: send SillyTavern's world info, a `character_book`, or a card that has one"
        )
    if not entries:
        raise InvalidInput("the lorebook is empty: there is nothing to import")
    numbered = entries.items() if isinstance(entries, dict) else enumerate(entries)
    return {f"{within}entries.{n}": raw for n, raw in numbered}


def _book(data: Any) -> tuple[Any, str]:
    """The object with the entries, and the path to it."""
    if not isinstance(data, dict) or "entries" in data:
        return data, ""
    if data.get("spec") == _V3:
        return data.get("data"), "data."
    if "character_book" in data:
        return data["character_book"], "character_book."
    fields = as_card(data).get("data")
    return (fields.get("character_book") if isinstance(fields, dict) else None), "data.character_book."


def _entry(raw: Any) -> Entry:
    if isinstance(raw, dict) and "key" in raw and "keys" not in raw:
        return WorldEntry.model_validate(raw).as_book_entry(raw.get("selectiveLogic"))
    return Entry.model_validate(raw)


def _title(raw: Any) -> str:
    titles = (raw.get(name) for name in ("comment", "name")) if isinstance(raw, dict) else ()
    return next((title.strip()[:_MAX_TITLE] for title in titles if isinstance(title, str) and title.strip()), "")


def _titled(place: str, raw: Any) -> str:
    title = _title(raw)
    return f"{place} ({title})" if title else place


def _entry_id(entry: Entry, raw: Json, n: int) -> str:
    """The id that we gave an entry which comes back, else one that is made from its title."""
    ours = entry.extensions.get(OURS)
    if isinstance(ours, dict) and isinstance(ours.get("id"), str):
        return str(ours["id"])
    letters = (letter if letter.isalpha() or letter in "0123456789.-" else " " for letter in _title(raw))
    return "_".join("".join(letters).split()) or f"lore.{n}"


_MEANT_OTHERWISE: Mapping[str, Callable[[_Read], bool]] = {
    "no keys: never told until it gets some, or becomes constant": (
        lambda read: not read.entry.constant and not any(key.strip() for key in read.entry.keys)
    ),
    "secondary keys that keep an entry out: here it is told whenever one of its keys is said": (
        lambda read: read.entry.selective and read.entry.logic in EXCLUDING and bool(read.entry.secondary_keys)
    ),
    "all secondary keys are asked for: here one of them is enough": (
        lambda read: read.entry.selective and read.entry.logic == AND_ALL and len(read.entry.secondary_keys) > 1
    ),
    "a probability: here the entry is always told": (
        lambda read: read.value("useProbability") is not False and read.value("probability") not in (None, 100)
    ),
}
# What has no effect here, and the values that say nothing.
_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "position": (None, 0, 1, "before_char", "after_char", ""),
    "outletName": (None, ""),
    "scanDepth": (None,),
    "caseSensitive": (None, False),
    "group": (None, ""),
    "sticky": (None, 0),
    "cooldown": (None, 0),
    "delay": (None, 0),
    "delayUntilRecursion": (None, 0, False),
    "triggers": (None, []),
    "automationId": (None, ""),
}


def _notes(entries: list[_Read]) -> list[str]:
    """What is not as the file says, with how many entries each concerns."""
    counts = {sentence: sum(map(applies, entries)) for sentence, applies in _MEANT_OTHERWISE.items()}
    ignored = {
        name: sum(read.value(name) not in defaults for read in entries) for name, defaults in _WITHOUT_EFFECT.items()
    }
    ignored["characterFilter"] = sum(_is_filtered(read.value("characterFilter")) for read in entries)
    listed = ", ".join(_counted(name, n) for name, n in ignored.items() if n)
    notes = [_counted(sentence, n) for sentence, n in counts.items() if n]
    return [*notes, *([f"not kept: {listed}"] if listed else [])]


def _counted(what: str, n: int) -> str:
    return f"{what} (entries: {n})"


def _is_filtered(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("names") or value.get("tags"))

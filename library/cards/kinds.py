"""Finds out what program wrote a card, and makes a card of the common format of it."""

import reprlib
from typing import Any, NamedTuple

from soulgraph.errors import InvalidInput
from soulgraph.library.cards import agnai, backyard, textgen
from soulgraph.library.cards.books import is_lorebook
from soulgraph.library.cards.entries import card_entry
from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.spec import V1_FIELDS, V2, V3, VERSIONS, Data

_FIELDS = frozenset(V1_FIELDS)
_TRIVIAL: tuple[object, ...] = (None, "", "none", False, [], {})
_BESIDE = frozenset({"spec", "spec_version", "data", "nickname"})
_OUTSIDE = ("spec", "spec_version", "nickname")
_STRAYED = ("character_book", "alternate_greetings", "system_prompt", "post_history_instructions", "assets", *V1_FIELDS)
"""Fields that converters leave beside the data; they count if the data has none of that name."""
_MAX_NOTED = 10
_REPEATED_AS = {"creatorcomment": "creator_notes"}


class Recognised(NamedTuple):
    """A card as `spec`, `spec_version` and `data`, and notes on what of the file is not in it."""

    card: Json
    notes: list[str]


def recognise(given: Any) -> Recognised:
    """The card in the JSON of a file; raises InvalidInput when it has none."""
    if not isinstance(given, dict):
        raise InvalidInput("the file is no card, for its JSON is no object: send a character card of V1, V2 or V3")
    if is_lorebook(given):
        raise InvalidInput("the file is a lorebook and no card: import it into the lore of a character or background")
    for program in (agnai, backyard):
        if program.is_character(given):
            return _noted(*program.card_of_character(given))
    if "spec" not in given and "data" not in given:
        return _without_spec(given)
    card, notes = _known_version(given)
    return _noted(card, [*notes, *_beside_data(given, card["data"])])


def as_card(given: Any) -> Json:
    """The card alone."""
    return recognise(given).card


def _noted(card: Json, notes: list[str]) -> Recognised:
    return Recognised(_mended(card), [*notes, *_no_entries(card["data"])])


def _no_entries(data: Json) -> list[str]:
    """Notes on what stands among the entries of the lorebook and is none."""
    book = data.get("character_book")
    entries = book.get("entries") if isinstance(book, dict) else None
    wrong = [n for n, entry in enumerate(entries) if not isinstance(entry, dict)] if isinstance(entries, list) else []
    return [f"data.character_book.entries.{n}: left out, because it is no entry" for n in wrong[:_MAX_NOTED]]


def _without_spec(given: Json) -> Recognised:
    inner = given.get("character")
    if isinstance(inner, dict) and not _FIELDS & given.keys():  # as programs that save a character.ai dump have it
        return recognise(inner)
    if textgen.is_character(given):
        return _noted(*textgen.card_of_character(given))
    if not _FIELDS & given.keys():
        wanted = ", ".join(V1_FIELDS)
        raise InvalidInput(f"the file is no card: it has none of the fields {wanted}: send a card of V1, V2 or V3")
    fields = {field: given[field] for field in Data.model_fields if field in given}
    if not any(given.get(field) for field in _FIELDS - {"name"}) and (others := _dropped(given, {*fields})):
        # Presets of other things have a name as well.
        raise InvalidInput(f"the file is no card: it has a name and no words of a character ({others[0]})")
    return _noted({"spec": V2, "data": fields}, _dropped(given, {*fields}))


def _known_version(given: Json) -> tuple[Json, list[str]]:
    """The card with a version we know; one that is unknown, but has the fields of a card, is read as V3."""
    spec = given.get("spec")
    if isinstance(spec, str) and spec in VERSIONS:
        fields, notes = _data(given, spec)
        return {**{key: given[key] for key in _OUTSIDE if key in given}, "data": fields}, notes
    data = given.get("data")
    if not isinstance(data, dict) or not _FIELDS & data.keys():
        raise InvalidInput(f"spec: is {reprlib.repr(spec)}, expected one of {', '.join(VERSIONS)}, or a V1 card")
    return {"spec": V3, "data": data}, [f"spec: is {reprlib.repr(spec)}, and was read as {V3}"]


def _data(given: Json, spec: str) -> tuple[Json, list[str]]:
    """The fields of a card, those too that a program has put beside them; a note tells which."""
    data = given.get("data")
    if not isinstance(data, dict):
        if data is not None or not _FIELDS & given.keys():
            raise InvalidInput(f"data: a card of {spec} has its fields in it: send the whole card")
        return {name: value for name, value in given.items() if name not in _BESIDE}, [
            "data: is not there, and its fields were read from beside it"
        ]
    silent = not any(data.get(name) for name in V1_FIELDS)
    strayed = {
        name: given[name]
        for name in _STRAYED
        if (silent or _is_missing(data, name)) and given.get(name) not in _TRIVIAL
    }
    return {**data, **strayed}, [f"{name}: was read from beside the data" for name in strayed]


def _is_missing(data: Json, name: str) -> bool:
    value = data.get(name)
    return value is None or (name == "character_book" and not (isinstance(value, dict) and value.get("entries")))


def _beside_data(given: Json, data: Json) -> list[str]:
    """A note on fields beside `data`, unless they repeat what is in it."""
    extensions = data.get("extensions")
    inside = {**(extensions if isinstance(extensions, dict) else {}), **data}
    repeated = {
        name
        for name, value in given.items()
        if inside.get(_REPEATED_AS.get(name, name), _BESIDE) in (value, str(value))
    }
    missing: set[str] = set() if isinstance(given.get("data"), dict) else {*data}
    return _dropped(given, {*_BESIDE, *V1_FIELDS, *repeated, *missing})


def _dropped(given: Json, known: set[str]) -> list[str]:
    names = [name for name, value in given.items() if name not in known and value not in _TRIVIAL]
    return [f"not kept: {listed(names)}"] if names else []


def listed(names: list[str]) -> str:
    """The names of fields in one line, however many and long they are."""
    shown = ", ".join(name[:40] for name in names[:12])
    return f"{shown} and {len(names) - 12} more" if len(names) > 12 else shown


def _mended(card: Json) -> Json:
    """The card with objects and lists where the rest of the code looks into them."""
    data = dict(card["data"])
    if "extensions" in data and not isinstance(data["extensions"], dict):
        data["extensions"] = {}
    if "assets" in data:
        data["assets"] = _objects(data["assets"])
    book = data.get("character_book")
    if isinstance(book, dict) and "entries" in book:
        data["character_book"] = {**book, "entries": [card_entry(entry) for entry in _objects(book["entries"])]}
    elif book is not None and not isinstance(book, dict):
        data["character_book"] = None
    return {**card, "data": data}


def _objects(value: Any) -> list[Json]:
    items = [*value.values()] if isinstance(value, dict) else value
    return [item if isinstance(item, dict) else {} for item in items] if isinstance(items, list) else []

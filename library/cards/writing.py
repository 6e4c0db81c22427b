"""A character as a card. What came from a card and was not edited since goes back word for word."""

from collections.abc import Mapping, Sequence
from typing import Any

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.reading import OWN, character_of, lore_id
from soulgraph.library.cards.spec import NEW_IN_V3, OURS, V3, VERSIONS, Json, as_card, blank, checked
from soulgraph.library.cards.words import undecorated

_RULES = ("keys", "secondary_keys", "use_regex", "content", "enabled", "priority", "constant")


def card_of(name: str, character: Json, spec: str) -> Json:
    """The card of this version. The card it came from is changed only where the character was."""
    extensions = character.get("extensions", {})
    origin = _origin(extensions["card"]) if "card" in extensions else blank(name)
    derived = character_of(origin).character
    now = {**character, "name": name, "extensions": {key: kept for key, kept in extensions.items() if key != "card"}}
    edited = {field for field in derived if now.get(field, type(derived[field])()) != derived[field]}
    data = {**_empty(origin["spec"]), **origin["data"], **_rewritten(now, edited)}
    if "lore" in edited:
        data["character_book"] = _book(origin, now.get("lore", []), derived["lore"])
    own = {field: now[field] for field in OWN if _says(now.get(field)) and now[field] != derived.get(field)}
    if own:
        data["extensions"] = {**(data["extensions"] or {}), OURS: own}
    version = origin.get("spec_version") if origin["spec"] == spec else None
    return {"spec": spec, "spec_version": version or VERSIONS[spec], "data": _converted(data, origin["spec"], spec)}


def _origin(kept: Any) -> Json:
    try:
        card = as_card(kept)
        checked(card)
    except InvalidInput as error:
        raise InvalidInput(f"extensions.card of the character is no card any more: {error}") from error
    return card


def _empty(spec: str) -> Json:
    return {field: value for field, value in blank("")["data"].items() if spec == V3 or field not in NEW_IN_V3}


def _says(value: Any) -> bool:
    return any(map(_says, value.values())) if isinstance(value, dict) else bool(value)


def _rewritten(now: Json, edited: set[str]) -> Json:
    """The fields of a card that say what was edited; a persona that was edited is one text."""
    fields: Json = {}
    if "name" in edited:
        fields["name"] = now["name"]
    if "base_persona" in edited:
        others = ("personality", "scenario", "system_prompt", "post_history_instructions")
        fields |= {"description": now["base_persona"], **dict.fromkeys(others, "")}
    if "greetings" in edited:
        fields["first_mes"], *fields["alternate_greetings"] = now["greetings"] or [""]
    if "style_examples" in edited:
        fields["mes_example"] = "\n".join(f"<START>\n{example}" for example in now["style_examples"])
    return fields


def _book(origin: Json, lore: Sequence[Json], derived: Sequence[Json]) -> Json:
    """The lorebook with its entries as they are now, in the order they are now; silent ones stay at its end."""
    book = origin["data"].get("character_book") or {"extensions": {}}
    entries = checked(origin).character_book.entries
    written = {lore_id(entry, n): book["entries"][n] for n, entry in enumerate(entries)}
    before = {entry["id"]: entry for entry in derived}
    now = [_entry(entry, written.get(entry["id"]), before.get(entry["id"], {})) for entry in lore]
    silent = [entry for entry_id, entry in written.items() if entry_id not in before]
    return {**book, "entries": [*now, *silent]}


def _entry(entry: Json, written: Json | None, before: Mapping[str, Any]) -> Json:
    """As it was written, with what has changed; decorators would switch it back, so they go when it was switched."""
    changes = {rule: entry[rule] for rule in _RULES if rule in entry and entry[rule] != before.get(rule)}
    if "priority" in changes:
        changes["insertion_order"] = changes["priority"]
    if "secondary_keys" in changes:
        changes["selective"] = bool(changes["secondary_keys"])
    if written is not None:
        switched = {"enabled", "constant"} & changes.keys() and undecorated(written.get("content") or "").decorators
        return {**written, **changes, **({"content": entry["content"]} if switched else {})}
    return {"extensions": {OURS: {"id": entry["id"]}}, **changes}


def _converted(data: Json, origin: str, spec: str) -> Json:
    """The data in the words of another version of the format."""
    if origin == spec:
        return data
    if spec == V3:
        data, rewrite = {"group_only_greetings": [], **data}, _as_v3
    else:
        data, rewrite = {field: value for field, value in data.items() if field not in NEW_IN_V3}, _as_v2
    book = data.get("character_book")
    if not book:
        return data
    return {**data, "character_book": {**book, "entries": [rewrite(entry) for entry in book.get("entries") or []]}}


def _as_v2(entry: Json) -> Json:
    """A pattern stays one: without `use_regex` it would be words that nobody says."""
    kept = {field: value for field, value in entry.items() if field != "use_regex" or value}
    return {**kept, "content": undecorated(entry.get("content") or "").text}


def _as_v3(entry: Json) -> Json:
    return {"use_regex": False, **entry}

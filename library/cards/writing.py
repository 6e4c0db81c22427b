"""Converts a character to a card. Fields that came from a card and were not edited are exported unchanged."""

from collections.abc import Mapping, Sequence
from typing import Any

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.kinds import as_card
from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.lore import FlawOf, lore_ids, no_flaw, obey_decorators
from soulgraph.library.cards.reading import OWN_FIELDS, character_of
from soulgraph.library.cards.spec import NEW_IN_V3, OURS, V3, VERSIONS, Entry, blank_card, validate_card
from soulgraph.library.cards.words import split_decorators

_LORE_FIELDS = ("keys", "secondary_keys", "use_regex", "content", "enabled", "priority", "constant")
_SWITCHES = frozenset({"enabled", "constant", "secondary_keys"})
"""What decorators change."""


def card_of(name: str, character: Json, spec: str, flaw_of: FlawOf = no_flaw) -> Json:
    """The card of a character in version `spec`; the card it came from is changed only in edited fields.

    `flaw_of` is the one it was read with: what was left out then has not been edited.
    """
    extensions = character.get("extensions", {})
    origin = _stored_card(extensions["card"]) if "card" in extensions else blank_card(name)
    derived = character_of(origin, flaw_of).character
    now = {**character, "name": name, "extensions": {key: kept for key, kept in extensions.items() if key != "card"}}
    edited = {field for field in derived if now.get(field, type(derived[field])()) != derived[field]}
    data = {**_empty_fields(origin["spec"]), **origin["data"], **_edited_fields(now, edited)}
    if "lore" in edited:
        data["character_book"] = _edited_book(origin, now.get("lore", []), derived["lore"])
    own = {
        field: now[field] for field in OWN_FIELDS if _has_content(now.get(field)) and now[field] != derived.get(field)
    }
    if own:
        data["extensions"] = {**(data["extensions"] or {}), OURS: own}
    version = origin.get("spec_version") if origin["spec"] == spec else None
    card = {"spec": spec, "spec_version": version or VERSIONS[spec], "data": _convert(data, origin["spec"], spec)}
    return _with_nickname(card, data.get("nickname") or origin.get("nickname"))


def _with_nickname(card: Json, nickname: Any) -> Json:
    """The card with the nickname where its version has a place for it: V2 has none in its data."""
    if not nickname or card["data"].get("nickname"):
        return card
    if card["spec"] == V3:
        return {**card, "data": {**card["data"], "nickname": nickname}}
    return {**card, "nickname": nickname}


def _stored_card(kept: Any) -> Json:
    try:
        card = as_card(kept)
        validate_card(card)
    except InvalidInput as error:
        raise InvalidInput(f"extensions.card of the character is no card any more: {error}") from error
    return card


def _empty_fields(spec: str) -> Json:
    return {field: value for field, value in blank_card("")["data"].items() if spec == V3 or field not in NEW_IN_V3}


def _has_content(value: Any) -> bool:
    """Whether a value, or any value in a nested dict, is not empty."""
    return any(map(_has_content, value.values())) if isinstance(value, dict) else bool(value)


def _edited_fields(now: Json, edited: set[str]) -> Json:
    """The card fields for edited fields of the character; an edited persona goes into the description as a whole."""
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


def _edited_book(origin: Json, lore: Sequence[Json], derived: Sequence[Json]) -> Json:
    """The lorebook with its current entries in their current order; entries without content stay at the end."""
    book = origin["data"].get("character_book") or {"extensions": {}}
    entries = validate_card(origin).character_book.entries
    originals = dict(zip(lore_ids(entries), book.get("entries") or [], strict=True))
    before = {entry["id"]: entry for entry in derived}
    current = [_edited_entry(entry, originals.get(entry["id"]), before.get(entry["id"], {})) for entry in lore]
    without_content = [entry for entry_id, entry in originals.items() if entry_id not in before]
    return {**book, "entries": [*current, *without_content]}


def _edited_entry(entry: Json, original: Json | None, before: Mapping[str, Any]) -> Json:
    """The card's entry with the changed fields.

    Decorators override `enabled`, `constant` and `secondary_keys`, so they are dropped when one of these was changed.
    """
    changes = {field: entry[field] for field in _LORE_FIELDS if field in entry and entry[field] != before.get(field)}
    if "priority" in changes:
        changes["insertion_order"] = changes["priority"]
    if "secondary_keys" in changes:
        changes["selective"] = bool(changes["secondary_keys"])
    if original is None:
        return {"extensions": {OURS: {"id": entry["id"]}}, **changes}
    plain = Entry.model_validate(original)
    if _SWITCHES & changes.keys() and split_decorators(plain.content).decorators:
        own = {field: entry[field] for field in _SWITCHES & entry.keys() if entry[field] != getattr(plain, field)}
        return {**original, **changes, **own, "content": entry["content"]}
    return {**original, **changes}


def _convert(data: Json, origin: str, spec: str) -> Json:
    """The data of a card in version `spec` of the format."""
    if origin == spec:
        return data
    if spec == V3:
        data = {"group_only_greetings": [], **data}
        convert_entry = _as_v3
    else:
        data = {field: value for field, value in data.items() if field not in NEW_IN_V3}
        convert_entry = _as_v2
    book = data.get("character_book")
    if not book:
        return data
    return {
        **data,
        "character_book": {**book, "entries": [convert_entry(entry) for entry in book.get("entries") or []]},
    }


def _as_v2(entry: Json) -> Json:
    """Without decorators, whose effects become fields; `use_regex` is kept when it is true, or the pattern would be
    read as plain words.
    """
    kept = {field: value for field, value in entry.items() if field != "use_regex" or value}
    before = Entry.model_validate(entry)
    after = obey_decorators(before)
    changed = {
        field: value
        for field in ("selective", *_SWITCHES)
        if (value := getattr(after, field)) != getattr(before, field)
    }
    return {**kept, **changed, "content": after.content}


def _as_v3(entry: Json) -> Json:
    return {"use_regex": False, **entry}

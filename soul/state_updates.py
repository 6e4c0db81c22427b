"""Reads a state update as a model wrote it, and tells what it changes.

What is meant is taken, what cannot be meant is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from soulgraph.errors import ContractBroken
from soulgraph.soul.profile import (
    BOOKKEEPING_KEYS,
    KEYS,
    Addition,
    Item,
    Profile,
    Reprioritised,
    StateUpdate,
    fold,
    item_id,
    rank,
)
from soulgraph.soul.validation import explain

DEFAULT_PRIORITY = 5
_OPERATIONS = {"add": "priority", "update_priority": "new_priority"}
_BLANK = re.compile(r"[\s.…·*_<>{}\[\]\-—]*|<[^<>]{1,40}>|\.{3}.*|…+.*|string|content|words?|text|n/?a|none|null", re.I)
"""What a model writes where it has nothing to say: dots, brackets, the name of the key."""
_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")


def strict_update(raw: Any, profile: Profile) -> StateUpdate:
    """The update as it must be to the letter; raises ContractBroken with what is wrong."""
    try:
        update = StateUpdate.model_validate(raw)
    except ValidationError as error:
        raise ContractBroken(explain(error, root="state_update_json", limit=3)) from error
    if unknown := update.unknown_fields(profile):
        raise ContractBroken(f"state_update_json has unknown fields: {', '.join(unknown)}")
    return update


def lenient_update(raw: Mapping[str, Any], profile: Profile) -> StateUpdate:
    """The update with what can be understood of it.

    Fields without their wrapping, single items, plain words and missing priorities are put into form; unknown fields
    and keys, items without words and items that the profile has already are left out. Raises ContractBroken if
    something was written and nothing of it can be used.
    """
    fields = raw.get("dynamic_state", raw)
    if not isinstance(fields, dict):
        raise ContractBroken("dynamic_state must be an object of fields")
    known = KEYS.keys() | profile.get("dynamic_state", {}).keys()
    written = [name for name, value in fields.items() if value]
    readable = {name: change for name in written if name in known and (change := _operations(name, fields[name]))}
    if not readable and any(name not in known or _says_something(fields[name]) for name in written):
        raise ContractBroken("state_update_json names no change that can be read")
    return without_known(StateUpdate.model_validate({"dynamic_state": readable}), profile)


def without_known(update: StateUpdate, profile: Profile) -> StateUpdate:
    """The update without items that the profile has already at that priority, and each of the others once."""
    state = {}
    for field, change in update.dynamic_state.items():
        items = profile.get("dynamic_state", {}).get(field, {}).get("items", [])
        had = {item_id(field, _unowned(item)): item["priority"] for item in items}
        new: dict[str, Addition] = {}
        for entry in sorted(change.add, key=lambda entry: entry.priority):
            key = item_id(field, entry.words())
            if entry.priority > had.get(key, 0):
                new[key] = entry
        state[field] = change.model_copy(update={"add": [*new.values()]})
    return StateUpdate(dynamic_state=state)


def without_items(update: StateUpdate, is_refused: Callable[[str], bool]) -> tuple[StateUpdate, int]:
    """The update without new items whose words are refused, and how many those are."""
    state, refused = {}, 0
    for field, change in update.dynamic_state.items():
        kept = [entry for entry in change.add if not is_refused("; ".join(entry.words().values()))]
        refused += len(change.add) - len(kept)
        state[field] = change.model_copy(update={"add": kept})
    return StateUpdate(dynamic_state=state), refused


def changes_of(profile: Profile, update: StateUpdate) -> list[dict[str, str]]:
    """What the update changes in this profile: the field of each change, and its words `before` and `after`.

    `before` is empty for something new. A relationship was what the profile last said of the same entity.
    """
    fields = profile.get("dynamic_state", {})
    changes = []
    for field, operations in update.dynamic_state.items():
        items = fields.get(field, {}).get("items", [])
        told = [_addition(field, items, entry.words()) for entry in operations.add]
        told += [_new_priority(items, entry) for entry in operations.update_priority]
        changes += [{"field": field, "before": before, "after": after} for before, after in told]
    return changes


def _addition(field: str, items: Sequence[Item], words: Mapping[str, str]) -> tuple[str, str]:
    earlier = [item for item in items if field == "relationships" and _agree(item, words, ["entity"])]
    before = max(earlier, key=rank) if earlier else {}
    return _in_words(before), _in_words(words)


def _new_priority(items: Sequence[Item], entry: Reprioritised) -> tuple[str, str]:
    words = entry.words()
    before = next((item for item in items if _agree(item, words, words)), None)
    after = f"{_in_words(words)}, priority {entry.new_priority}"
    return f"{_in_words(before)}, priority {before['priority']}" if before else "", after


def _agree(item: Item, words: Mapping[str, str], keys: Iterable[str]) -> bool:
    return all(fold(str(item.get(key, ""))) == fold(words.get(key, "")) for key in keys)


def _in_words(item: Mapping[str, Any]) -> str:
    return ", ".join(value for key, value in item.items() if key not in BOOKKEEPING_KEYS)


def _unowned(item: Item) -> Item:
    return {key: value for key, value in item.items() if key != "user_id"}


def _operations(field: str, value: Any) -> dict[str, list[dict[str, Any]]]:
    """The changes of one field by operation; a bare item or list of items is an addition."""
    given = value if isinstance(value, dict) and value.keys() & _OPERATIONS.keys() else {"add": value}
    items = {name: list(_items(field, given.get(name), priority)) for name, priority in _OPERATIONS.items()}
    return {name: entries for name, entries in items.items() if entries}


def _items(field: str, given: Any, priority_key: str) -> Iterator[dict[str, Any]]:
    given = given.get("items", given) if isinstance(given, dict) else given
    for entry in given if isinstance(given, list) else [given]:
        item = _item(field, entry, priority_key)
        if item and _is_valid(field, item, "add" if priority_key == "priority" else "update_priority"):
            yield item


def _item(field: str, entry: Any, priority_key: str) -> dict[str, Any] | None:
    keys = KEYS.get(field, ())
    if isinstance(entry, str):
        entry = {keys[-1] if field == "relationships" else keys[0]: entry, "entity": "user"} if keys else {}
    if not isinstance(entry, dict):
        return None
    words = {
        key: value.strip()
        for key, value in entry.items()
        if (key in keys if keys else not key.endswith("priority")) and isinstance(value, str) and not _is_blank(value)
    }
    return {**words, priority_key: _priority(entry)} if words else None


def _priority(entry: Mapping[str, Any]) -> int:
    for key in ("priority", "new_priority"):
        value = entry.get(key)
        if isinstance(value, int | str) and _NUMBER.fullmatch(str(value)):
            return min(10, max(1, int(value)))
    return DEFAULT_PRIORITY


def _is_valid(field: str, item: Mapping[str, Any], operation: str) -> bool:
    try:
        StateUpdate.model_validate({"dynamic_state": {field: {operation: [item]}}})
    except ValidationError:
        return False
    return True


def _is_blank(text: str) -> bool:
    return _BLANK.fullmatch(text.strip()) is not None


def _says_something(value: Any) -> bool:
    """Whether there are words in it other than placeholders."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str) and not _is_blank(part):
            return True
        pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return False

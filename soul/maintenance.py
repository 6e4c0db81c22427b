"""Maintenance of a dynamic profile: merges equal items, ages old ones and retires those below a minimum priority.

Retired items are kept under `profile["retired"]`, can be restored, and are never shown to the model.
"""

from soulgraph.errors import NotFound
from soulgraph.soul.profile import Item, Profile, by_rank, item_id, merge_equal
from soulgraph.soul.timestamps import epoch

MIN_PRIORITY = 3  # an item below it is retired
_DAY_S = 86400.0
_OLD_AFTER_S = 7 * _DAY_S


def maintain(profile: Profile, now: str) -> Profile:
    """A new profile with equal items merged, old ones one priority lower, and those below the minimum retired.

    An item older than 7 days loses at most 1 a day, however often this runs: `aged_at` holds the last time it did.
    """
    state, newly_retired = {}, []
    for field, value in profile.get("dynamic_state", {}).items():
        items = [_aged(item, now) for item in merge_equal(_with_timestamp(item, now) for item in value["items"])]
        state[field] = {"items": by_rank(item for item in items if item["priority"] >= MIN_PRIORITY)}
        newly_retired += [_retired_entry(field, item, now) for item in items if item["priority"] < MIN_PRIORITY]
    present = {item_id(field, item) for field, value in state.items() for item in value["items"]}
    retired = {entry["id"]: entry for entry in [*profile.get("retired", []), *newly_retired]}
    # An item that came back since it was retired must not be restored a second time.
    still_retired = [entry for key, entry in retired.items() if key not in present]
    return {**profile, "dynamic_state": state, "retired": still_retired}


def restore(profile: Profile, retired_id: str, now: str) -> Profile:
    """A new profile with a retired item back in its field, dated `now` and at least at the minimum priority."""
    retired = profile.get("retired", [])
    entry = next((entry for entry in retired if entry["id"] == retired_id), None)
    if entry is None:
        raise NotFound("retired item", retired_id)
    field, item = entry["field"], entry["item"]
    unaged = {key: value for key, value in item.items() if key != "aged_at"}
    restored = {**unaged, "priority": max(MIN_PRIORITY, item["priority"]), "timestamp": now}
    present = profile["dynamic_state"].get(field, {"items": []})["items"]
    state = {**profile["dynamic_state"], field: {"items": by_rank(merge_equal([*present, restored]))}}
    return {**profile, "dynamic_state": state, "retired": [other for other in retired if other is not entry]}


def _with_timestamp(item: Item, now: str) -> Item:
    """The item, dated `now` if its timestamp is missing or unreadable, as in a hand-written profile."""
    try:
        epoch(item["timestamp"])
    except (KeyError, TypeError, ValueError):
        return {**item, "timestamp": now}
    return item


def _aged(item: Item, now: str) -> Item:
    is_old = epoch(now) - epoch(item["timestamp"]) > _OLD_AFTER_S
    day_passed = "aged_at" not in item or epoch(now) - epoch(item["aged_at"]) >= _DAY_S
    return {**item, "priority": item["priority"] - 1, "aged_at": now} if is_old and day_passed else item


def _retired_entry(field: str, item: Item, now: str) -> Item:
    return {"id": item_id(field, item), "field": field, "item": item, "retired_at": now}


def without_owner(profile: Profile, user_id: str) -> Profile:
    """A new profile without the items that belong to this person, retired ones included."""
    state = {
        field: {"items": [item for item in value["items"] if item.get("user_id") != user_id]}
        for field, value in profile.get("dynamic_state", {}).items()
    }
    retired = [entry for entry in profile.get("retired", []) if entry.get("item", {}).get("user_id") != user_id]
    return {**profile, "dynamic_state": state} | ({"retired": retired} if "retired" in profile else {})

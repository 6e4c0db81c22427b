"""Upkeep of a dynamic profile: what is said twice becomes one, what is old fades, what has faded is retired.

The retired are kept under `profile["retired"]`, can be restored, and are never shown to the model.
"""

from soulgraph.errors import NotFound
from soulgraph.soul.profile import Item, Profile, item_id, merged, ordered
from soulgraph.soul.timestamps import epoch

FLOOR = 3  # the lowest priority that stays in the profile
_DAY = 86400.0
_OLD = 7 * _DAY


def maintain(profile: Profile, now: str) -> Profile:
    """A new profile: equal items merged, old ones a priority lower, those under the floor retired.

    An item older than 7 days loses 1 a day at most, however often this runs: `aged_at` remembers the last time.
    """
    state, leaving = {}, []
    for field, value in profile.get("dynamic_state", {}).items():
        items = [_aged(item, now) for item in merged(_dated(item, now) for item in value["items"])]
        state[field] = {"items": ordered(item for item in items if item["priority"] >= FLOOR)}
        leaving += [_retired(field, item, now) for item in items if item["priority"] < FLOOR]
    present = {item_id(field, item) for field, value in state.items() for item in value["items"]}
    retired = {entry["id"]: entry for entry in [*profile.get("retired", []), *leaving]}
    gone = [entry for key, entry in retired.items() if key not in present]
    return {**profile, "dynamic_state": state, "retired": gone}


def restore(profile: Profile, retired_id: str, now: str) -> Profile:
    """A new profile with a retired item back in its field: young again, at least at the floor."""
    retired = profile.get("retired", [])
    entry = next((entry for entry in retired if entry["id"] == retired_id), None)
    if entry is None:
        raise NotFound("retired item", retired_id)
    field, item = entry["field"], entry["item"]
    words = {key: value for key, value in item.items() if key != "aged_at"}
    back = {**words, "priority": max(FLOOR, item["priority"]), "timestamp": now}
    present = profile["dynamic_state"].get(field, {"items": []})["items"]
    state = {**profile["dynamic_state"], field: {"items": ordered(merged([*present, back]))}}
    return {**profile, "dynamic_state": state, "retired": [other for other in retired if other is not entry]}


def _dated(item: Item, now: str) -> Item:
    """A hand-written item may carry no readable time: it begins now."""
    try:
        epoch(item["timestamp"])
    except (KeyError, TypeError, ValueError):
        return {**item, "timestamp": now}
    return item


def _aged(item: Item, now: str) -> Item:
    old = epoch(now) - epoch(item["timestamp"]) > _OLD
    due = "aged_at" not in item or epoch(now) - epoch(item["aged_at"]) >= _DAY
    return {**item, "priority": item["priority"] - 1, "aged_at": now} if old and due else item


def _retired(field: str, item: Item, now: str) -> Item:
    return {"id": item_id(field, item), "field": field, "item": item, "retired_at": now}

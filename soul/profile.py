"""The dynamic profile: items in words per field, ordered by priority.

The model may add items and change their priority; only the user may delete them. An item that a turn has added belongs
to the person of that turn (`user_id`); one without an owner is the soul's own.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from heapq import nlargest
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from soulgraph.errors import InvalidInput
from soulgraph.soul.people import may_know
from soulgraph.soul.timestamps import epoch
from soulgraph.soul.validation import NUMBER, STORABLE_TEXT, explain

Profile = dict[str, Any]
Item = dict[str, Any]

KEYS: Mapping[str, tuple[str, ...]] = {
    "emotions": ("content",),
    "physical_condition": ("content",),
    "short_term_goals": ("goal", "reason"),
    "relationships": ("entity", "status"),
    "learned_patterns": ("pattern",),
}
_OPTIONAL_KEYS = {"reason"}
_OWNER_KEYS = {"user_id", "shared_with"}
_HIDDEN_KEYS = {"aged_at", *_OWNER_KEYS}
BOOKKEEPING_KEYS = {"priority", "timestamp", *_HIDDEN_KEYS}
_NUMERIC_RATING = re.compile(
    r"(?<![\d/])\d+(\.\d+)?\s*/\s*(5|10|100)(?![\d/])"  # 9/10, but not a date
    r"|\d\s*([%％]|分(?!钟|之)|out of)"
    r"|\b\w*_level\b"
    r"|(?<!\d)[:：=]\s*\d+(\.\d+)?\s*\Z"  # anger: 9, but not 10:30
    r"|\A\s*\d+(\.\d+)?\s*\Z",
    re.IGNORECASE,
)


def empty_profile() -> Profile:
    return {"core_identity": {}, "dynamic_state": {field: {"items": []} for field in KEYS}}


def _valid_timestamp(timestamp: str) -> str:
    epoch(timestamp)
    return timestamp


def _qualitative(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMERIC_RATING.search(value)):
        raise ValueError(f"feelings are words, never numbers: {value!r}")
    return value


Text = Annotated[str, Field(min_length=1, max_length=500), STORABLE_TEXT]


def _no_placeholder(timestamp: Any) -> Any:
    """None for a time that is left open, as in `"timestamp": "..."`."""
    return None if isinstance(timestamp, str) and not timestamp.strip(" .…") else timestamp


QUALITATIVE = BeforeValidator(_qualitative)
QualitativeText = Annotated[Text, QUALITATIVE]
Timestamp = Annotated[str, Field(max_length=40), AfterValidator(_valid_timestamp)]
OpenTimestamp = Annotated[Timestamp | None, BeforeValidator(_no_placeholder)]
Priority = Annotated[int, Field(ge=1, le=10)]


class _Entry(BaseModel):
    """One item as the model writes it: texts under the keys of its field, and a priority."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, QualitativeText]

    def words(self) -> dict[str, str]:
        """Nobody's words can say whose they are, or how old."""
        return {key: text for key, text in self.__pydantic_extra__.items() if key not in BOOKKEEPING_KEYS}


class Addition(_Entry):
    priority: Priority


class Reprioritised(_Entry):
    new_priority: Priority


class Operations(BaseModel):
    model_config = ConfigDict(extra="forbid")

    add: list[Addition] = []
    update_priority: list[Reprioritised] = []


class StateUpdate(BaseModel):
    """The changes a turn makes to a profile; usually none (`{}`)."""

    model_config = ConfigDict(extra="forbid")

    dynamic_state: dict[str, Operations] = {}

    @model_validator(mode="after")
    def _items_have_their_keys(self) -> "StateUpdate":
        for field, operations in self.dynamic_state.items():
            for entry in [*operations.add, *operations.update_priority]:
                _check_keys(field, entry.words())
        return self

    @property
    def is_empty(self) -> bool:
        return not any(change.add or change.update_priority for change in self.dynamic_state.values())

    def in_words(self) -> list[dict[str, str]]:
        """Each change as the name of its field and the text of its item."""
        return [
            {"field": field, "change": ", ".join(entry.words().values())}
            for field, change in self.dynamic_state.items()
            for entry in [*change.add, *change.update_priority]
        ]

    def unknown_fields(self, profile: Profile) -> list[str]:
        """The update's fields that are neither built in nor already in the profile."""
        return sorted(self.dynamic_state.keys() - KEYS.keys() - profile.get("dynamic_state", {}).keys())


class EditedItem(_Entry):
    priority: Annotated[Priority, NUMBER]
    timestamp: OpenTimestamp = None
    aged_at: Timestamp | None = None
    user_id: Annotated[str, Field(max_length=128)] | None = None
    shared_with: list[Annotated[str, Field(min_length=1, max_length=128)]] | None = None

    def stored(self, now: str) -> Item:
        """The item as it is stored; one without a timestamp gets `now`."""
        age = {"aged_at": self.aged_at} if self.aged_at else {}
        owner = {} if self.user_id is None else owned_by(self.user_id, self.shared_with or ())
        return {**self.words(), "priority": self.priority, "timestamp": self.timestamp or now, **age, **owner}


class EditedField(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[EditedItem]


class Kept(BaseModel):
    """A retired item that the user keeps, by its id."""

    id: str


class Edit(BaseModel):
    """A profile as its user edits it."""

    model_config = ConfigDict(extra="forbid")

    dynamic_state: dict[str, EditedField]
    core_identity: dict[Text, Text | list[Text]] | None = None
    retired: list[Kept] | None = None

    @model_validator(mode="after")
    def _items_have_their_keys(self) -> "Edit":
        for field, edited in self.dynamic_state.items():
            for item in edited.items:
                _check_keys(field, item.words())
        return self


def _check_keys(field: str, words: Mapping[str, str]) -> None:
    if not words:
        raise ValueError(f"{field}: an item needs words")
    if field not in KEYS:
        return
    if unknown := words.keys() - set(KEYS[field]):
        raise ValueError(f"{field}: unknown keys {sorted(unknown)}, expected {list(KEYS[field])}")
    if missing := set(KEYS[field]) - words.keys() - _OPTIONAL_KEYS:
        raise ValueError(f"{field}: missing keys {sorted(missing)}")


def owned_by(user_id: str, shared_with: Iterable[str] = ()) -> dict[str, Any]:
    """What marks an item as this person's."""
    shared = sorted(shared_with)
    return {"user_id": user_id, "shared_with": shared} if shared else {"user_id": user_id}


def unowned(item: Item) -> Item:
    """The item as the soul's own."""
    return {key: value for key, value in item.items() if key not in _OWNER_KEYS}


def known_to(profile: Profile, audience: Collection[str]) -> Profile:
    """The profile without the items of which not all of the audience may know; what has retired is left out too."""
    fields = profile.get("dynamic_state", {})
    state = {
        name: {**field, "items": [item for item in field["items"] if _is_known(item, audience)]}
        for name, field in fields.items()
    }
    return {key: value for key, value in profile.items() if key != "retired"} | {"dynamic_state": state}


def _is_known(item: Item, audience: Collection[str]) -> bool:
    return "user_id" not in item or may_know(audience, item["user_id"], item.get("shared_with", ()))


def apply(
    profile: Profile, update: StateUpdate, timestamp: str, audience: Collection[str] = (), owner: Item | None = None
) -> Profile:
    """A new profile with the update applied, each field sorted by priority, newest first among equals.

    `owner`, as `owned_by` makes it, goes on every new item. Only items that the audience may know are reprioritised.
    """
    state = {field: {"items": list(value["items"])} for field, value in profile["dynamic_state"].items()}
    for field, operations in update.dynamic_state.items():
        items = state.setdefault(field, {"items": []})["items"]
        for change in operations.update_priority:
            items[:] = [_reprioritise(item, change) if _is_known(item, audience) else item for item in items]
        new = {"timestamp": timestamp, **(owner or {})}
        items += [{**entry.words(), "priority": entry.priority, **new} for entry in operations.add]
        items.sort(key=rank, reverse=True)
    return {**profile, "dynamic_state": state}


def top(profile: Profile, count: int) -> dict[str, list[Item]]:
    """The `count` most important items of each field, as a prompt shows them; built-in fields come first."""
    fields = profile.get("dynamic_state", {})
    names = [*(name for name in KEYS if name in fields), *sorted(fields.keys() - KEYS.keys())]
    return {name: [_shown(item) for item in nlargest(count, fields[name]["items"], key=rank)] for name in names}


def _shown(item: Item) -> Item:
    return {key: value for key, value in item.items() if key not in _HIDDEN_KEYS}


def rank(item: Item) -> tuple[int, str]:
    return item["priority"], item.get("timestamp", "")


def replace(profile: Profile, edited: Any, now: str) -> Profile:
    """The profile as its user edited it, checked by the same rules as the model's updates.

    Items that are left out are deleted. `core_identity` and `retired` stay when they are not given;
    entries of `retired` can be dropped but not added.
    """
    edit = _validated_edit(edited, profile)
    fields = {field: [item.stored(now) for item in given.items] for field, given in edit.dynamic_state.items()}
    names = [*KEYS, *(fields.keys() - KEYS.keys())]
    state = {name: {"items": by_rank(merge_equal(fields.get(name, [])))} for name in names}
    kept = {entry.id for entry in edit.retired or []}
    retired = [entry for entry in profile.get("retired", []) if edit.retired is None or entry["id"] in kept]
    identity = profile.get("core_identity", {}) if edit.core_identity is None else edit.core_identity
    return {**profile, "core_identity": identity, "dynamic_state": state, "retired": retired}


def item_id(field: str, item: Item) -> str:
    """A hash that is equal for items of a field and an owner whose texts differ only in case and spacing."""
    words = sorted((key, fold(str(value))) for key, value in item.items() if key not in BOOKKEEPING_KEYS)
    owner = (item["user_id"],) if "user_id" in item else ()
    return blake2b(repr((field, words, *owner)).encode(), digest_size=8).hexdigest()


def _validated_edit(edited: Any, profile: Profile) -> Edit:
    try:
        edit = Edit.model_validate(edited)
    except ValidationError as error:
        raise InvalidInput(explain(error, root="profile")) from error
    known = KEYS.keys() | profile.get("dynamic_state", {}).keys()
    if unknown := sorted(edit.dynamic_state.keys() - known):
        raise InvalidInput(f"dynamic_state: unknown fields {unknown}, expected {sorted(known)}")
    return edit


def by_rank(items: Iterable[Item]) -> list[Item]:
    """The items, the highest rank first."""
    return sorted(items, key=rank, reverse=True)


def merge_equal(items: Iterable[Item]) -> list[Item]:
    """One item for all with the same text: the one of the highest rank, with the newest times."""
    by_id: dict[str, Item] = {}
    for item in items:
        key = item_id("", item)
        by_id[key] = _merge_two(by_id[key], item) if key in by_id else item
    return list(by_id.values())


def _merge_two(one: Item, other: Item) -> Item:
    times = {key: max(one.get(key, ""), other.get(key, "")) for key in ("timestamp", "aged_at")}
    best = one if rank(one) >= rank(other) else other
    return {**best, **{key: time for key, time in times.items() if time}}


def _reprioritise(item: Item, change: Reprioritised) -> Item:
    wanted = {key: fold(value) for key, value in change.words().items()}
    matches = all(fold(str(item.get(key, ""))) == value for key, value in wanted.items())
    return {**item, "priority": change.new_priority} if matches else item


def fold(text: str) -> str:
    """The text without differences of case and spacing."""
    return " ".join(text.split()).casefold()

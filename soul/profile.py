"""The dynamic profile: qualitative items per field, by priority. The model adds and reorders, only its user deletes."""

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from heapq import nlargest
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from soulgraph.errors import InvalidInput
from soulgraph.soul.timestamps import epoch
from soulgraph.soul.validation import NO_NUL, explain

Profile = dict[str, Any]
Item = dict[str, Any]

KEYS: Mapping[str, tuple[str, ...]] = {
    "emotions": ("content",),
    "physical_condition": ("content",),
    "short_term_goals": ("goal", "reason"),
    "relationships": ("entity", "status"),
    "learned_patterns": ("pattern",),
}
_OPTIONAL = {"reason"}
_BOOKKEEPING = {"priority", "timestamp", "aged_at"}
_MEASURED = re.compile(
    r"(?<![\d/])\d+(\.\d+)?\s*/\s*(5|10|100)(?![\d/])"  # 9/10, but not a date
    r"|\d\s*([%％]|分(?!钟|之)|out of)"
    r"|\b\w*_level\b"
    r"|(?<!\d)[:：=]\s*\d+(\.\d+)?\s*\Z"  # anger: 9, but not 10:30
    r"|\A\s*\d+(\.\d+)?\s*\Z",
    re.IGNORECASE,
)


def empty_profile() -> Profile:
    return {"core_identity": {}, "dynamic_state": {field: {"items": []} for field in KEYS}}


def _moment(timestamp: str) -> str:
    epoch(timestamp)
    return timestamp


def _qualitative(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _MEASURED.search(value)):
        raise ValueError(f"feelings are words, never numbers: {value!r}")
    return value


Text = Annotated[str, Field(min_length=1, max_length=500), NO_NUL]
Words = Annotated[Text, BeforeValidator(_qualitative)]
Moment = Annotated[str, Field(max_length=40), AfterValidator(_moment)]
Priority = Annotated[int, Field(ge=1, le=10)]


class _Entry(BaseModel):
    """One item as the model writes it: words under the field's own keys, and a priority."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Words]

    def words(self) -> dict[str, str]:
        return dict(self.__pydantic_extra__)


class Addition(_Entry):
    priority: Priority


class Reprioritised(_Entry):
    new_priority: Priority


class Operations(BaseModel):
    model_config = ConfigDict(extra="forbid")

    add: list[Addition] = []
    update_priority: list[Reprioritised] = []


class StateUpdate(BaseModel):
    """What a surprise changed. `{}` is the normal case: nothing did."""

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
        """Each change as its field and what it says now."""
        return [
            {"field": field, "change": ", ".join(entry.words().values())}
            for field, change in self.dynamic_state.items()
            for entry in [*change.add, *change.update_priority]
        ]

    def unknown_fields(self, profile: Profile) -> list[str]:
        """Fields that are neither ours nor the profile's own."""
        return sorted(self.dynamic_state.keys() - KEYS.keys() - profile.get("dynamic_state", {}).keys())


class EditedItem(_Entry):
    priority: Priority
    timestamp: Moment | None = None
    aged_at: Moment | None = None

    def stored(self, now: str) -> Item:
        """One without a time begins now."""
        age = {"aged_at": self.aged_at} if self.aged_at else {}
        return {**self.words(), "priority": self.priority, "timestamp": self.timestamp or now, **age}


class EditedField(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[EditedItem]


class Kept(BaseModel):
    """A retired item the user leaves where it is."""

    id: str


class Edit(BaseModel):
    """A profile as its user writes it."""

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
    if missing := set(KEYS[field]) - words.keys() - _OPTIONAL:
        raise ValueError(f"{field}: missing keys {sorted(missing)}")


def apply(profile: Profile, update: StateUpdate, timestamp: str) -> Profile:
    """A new profile with the update's items, each field sorted by priority, then newest."""
    state = {field: {"items": list(value["items"])} for field, value in profile["dynamic_state"].items()}
    for field, operations in update.dynamic_state.items():
        items = state.setdefault(field, {"items": []})["items"]
        for change in operations.update_priority:
            items[:] = [_reprioritise(item, change) for item in items]
        items += [{**entry.words(), "priority": entry.priority, "timestamp": timestamp} for entry in operations.add]
        items.sort(key=rank, reverse=True)
    return {**profile, "dynamic_state": state}


def top(profile: Profile, count: int) -> dict[str, list[Item]]:
    """The most important items of each field: what a prompt shows. Our own fields come first, in their order."""
    fields = profile.get("dynamic_state", {})
    names = [*(name for name in KEYS if name in fields), *sorted(fields.keys() - KEYS.keys())]
    return {name: [_shown(item) for item in nlargest(count, fields[name]["items"], key=rank)] for name in names}


def _shown(item: Item) -> Item:
    return {key: value for key, value in item.items() if key != "aged_at"}


def rank(item: Item) -> tuple[int, str]:
    return item["priority"], item.get("timestamp", "")


def replace(profile: Profile, edited: Any, now: str) -> Profile:
    """The profile as its user wrote it, held to the rules of the model's updates. State left out is gone.

    `core_identity` and `retired` stay when they are not given; of `retired`, entries can be dropped but not made up.
    """
    edit = _checked(edited, profile)
    fields = {field: [item.stored(now) for item in given.items] for field, given in edit.dynamic_state.items()}
    state = {
        field: {"items": ordered(merged(fields.get(field, [])))} for field in [*KEYS, *(fields.keys() - KEYS.keys())]
    }
    kept = {entry.id for entry in edit.retired or []}
    retired = [entry for entry in profile.get("retired", []) if edit.retired is None or entry["id"] in kept]
    identity = profile.get("core_identity", {}) if edit.core_identity is None else edit.core_identity
    return {**profile, "core_identity": identity, "dynamic_state": state, "retired": retired}


def item_id(field: str, item: Item) -> str:
    """The same for items of a field that say the same, whatever their case and spacing."""
    words = sorted((key, _fold(str(value))) for key, value in item.items() if key not in _BOOKKEEPING)
    return blake2b(repr((field, words)).encode(), digest_size=8).hexdigest()


def _checked(edited: Any, profile: Profile) -> Edit:
    try:
        edit = Edit.model_validate(edited)
    except ValidationError as error:
        raise InvalidInput(explain(error, root="profile")) from error
    known = KEYS.keys() | profile.get("dynamic_state", {}).keys()
    if unknown := sorted(edit.dynamic_state.keys() - known):
        raise InvalidInput(f"dynamic_state: unknown fields {unknown}, expected {sorted(known)}")
    return edit


def ordered(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=rank, reverse=True)


def merged(items: Iterable[Item]) -> list[Item]:
    """One item for all that say the same: the most important one, with the newest times."""
    one: dict[str, Item] = {}
    for item in items:
        key = item_id("", item)
        one[key] = _joined(one[key], item) if key in one else item
    return list(one.values())


def _joined(one: Item, other: Item) -> Item:
    times = {key: max(one.get(key, ""), other.get(key, "")) for key in ("timestamp", "aged_at")}
    best = one if rank(one) >= rank(other) else other
    return {**best, **{key: time for key, time in times.items() if time}}


def _reprioritise(item: Item, change: Reprioritised) -> Item:
    wanted = {key: _fold(value) for key, value in change.words().items()}
    matches = all(_fold(str(item.get(key, ""))) == value for key, value in wanted.items())
    return {**item, "priority": change.new_priority} if matches else item


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()

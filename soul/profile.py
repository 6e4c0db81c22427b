"""The dynamic profile: qualitative items per field, by priority. The model adds and reorders, never deletes."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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


def _qualitative(value: Any) -> Any:
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("text must not contain NUL characters")
    if isinstance(value, int | float) or (isinstance(value, str) and _MEASURED.search(value)):
        raise ValueError(f"feelings are words, never numbers: {value!r}")
    return value


Words = Annotated[str, Field(min_length=1, max_length=500), BeforeValidator(_qualitative)]
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

    def unknown_fields(self, profile: Profile) -> list[str]:
        """Fields that are neither ours nor the profile's own."""
        return sorted(self.dynamic_state.keys() - KEYS.keys() - profile.get("dynamic_state", {}).keys())


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
    return {name: sorted(fields[name]["items"], key=rank, reverse=True)[:count] for name in names}


def rank(item: Item) -> tuple[int, str]:
    return item["priority"], item.get("timestamp", "")


def _reprioritise(item: Item, change: Reprioritised) -> Item:
    wanted = {key: _fold(value) for key, value in change.words().items()}
    matches = all(_fold(str(item.get(key, ""))) == value for key, value in wanted.items())
    return {**item, "priority": change.new_priority} if matches else item


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()

"""Entries of lorebooks as other programs write them, understood as entries of a card's lorebook."""

from typing import Any

from pydantic import BaseModel

from soulgraph.library.cards import agnai
from soulgraph.library.cards.lenient import Extensions, Flag, FlagOn, Json, Keys, Number, Oddities, Text
from soulgraph.library.cards.spec import Entry

_MADE = ("keys", "secondary_keys", "content", "enabled", "selective", "constant", "use_regex", "insertion_order")


class WorldEntry(BaseModel):
    """An entry of SillyTavern's world info, or of KoboldAI's, as far as it means something here."""

    key: Keys = []
    keysecondary: Keys = []
    content: Text = ""
    constant: Flag = False
    disable: Flag = False
    widisabled: Flag = False
    selective: FlagOn = True
    order: Number = None

    def as_book_entry(self, raw: Json) -> Entry:
        return Entry(
            keys=self.key,
            secondary_keys=self.keysecondary,
            content=self.content,
            enabled=not (self.disable or self.widisabled),
            selective=self.selective,
            constant=self.constant,
            insertion_order=self.order,
            extensions={"selectiveLogic": raw.get("selectiveLogic")},
        )


class RisuEntry(BaseModel):
    """An entry of a lorebook that RisuAI exports, as far as it means something here."""

    key: Keys = []
    secondkey: Keys = []
    content: Text = ""
    mode: Text = ""
    alwaysActive: Flag = False  # noqa: N815 (its name in the file)
    selective: Flag = False
    useRegex: Flag = False  # noqa: N815
    insertorder: Number = None

    def as_book_entry(self, _: Json) -> Entry:
        return Entry(
            keys=self.key,
            secondary_keys=self.secondkey,
            content=self.content,
            selective=self.selective,
            constant=self.alwaysActive or self.mode == "constant",
            use_regex=self.useRegex,
            insertion_order=self.insertorder,
        )


class NovelEntry(BaseModel):
    """An entry of a lorebook of NovelAI, as far as it means something here; keys between slashes are patterns."""

    text: Text = ""
    keys: Keys = []
    enabled: FlagOn = True
    forceActivation: Flag = False  # noqa: N815
    contextConfig: Extensions = {}  # noqa: N815

    def as_book_entry(self, raw: Json) -> Entry:
        first, *others = _said_together(self.keys)
        oddities = Oddities()
        budget = _Budget.model_validate(self.contextConfig, context=oddities)
        return Entry(
            keys=first,
            secondary_keys=[key for keys in others for key in keys],
            content=self.text,
            enabled=self.enabled,
            selective=bool(others),
            constant=self.forceActivation,
            insertion_order=budget.budgetPriority,
            extensions={"selectiveLogic": None},
        )


class _Budget(BaseModel):
    budgetPriority: Number = None  # noqa: N815


def _said_together(keys: list[str]) -> list[list[str]]:
    """The keys, and those that must be said with them: a single key may be several, joined by &."""
    parts = [part.strip() for part in keys[0].split("&")] if len(keys) == 1 and keys[0][:1] != "/" else []
    joined = [[part] for part in parts if part]
    return joined if len(joined) > 1 else [[part.strip() for key in keys for part in _alternatives(key)]]


def _alternatives(key: str) -> list[str]:
    return [key] if key.startswith("/") else key.split("&")


def read_entry(raw: Json, oddities: Oddities | None = None) -> Entry:
    """An entry of any program; `oddities` are told of values that are not what they should be."""
    kind = _kind(raw)
    if kind is None:
        return Entry.model_validate(raw, context=oddities)
    return kind.model_validate(raw, context=oddities).as_book_entry(raw)


def card_entry(given: Any) -> Any:
    """An entry with the fields that those of a card have; what a program has besides is kept."""
    raw = agnai.card_entry(given)
    if not isinstance(raw, dict) or _kind(raw) is None:
        return raw
    made = read_entry(raw).model_dump(include={*_MADE}, exclude_none=True)
    return {"extensions": {}, **raw, **made}


def _kind(raw: Json) -> type[WorldEntry] | type[RisuEntry] | type[NovelEntry] | None:
    """What kind of entry it is; None for one of a card."""
    if "alwaysActive" in raw or "insertorder" in raw:
        return RisuEntry
    if "key" in raw and "keys" not in raw:
        return WorldEntry
    if "text" in raw and "content" not in raw:
        return NovelEntry
    return None

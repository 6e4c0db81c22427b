"""The intents a terminal offers, as pydantic models of its report."""

import math
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)
from pydantic_core import PydanticCustomError

from soulgraph.senses.intents.catalog_limits import (
    MAX_INTENTS,
    MAX_PATTERNS_OF_INTENT,
    MAX_SLOTS_OF_INTENT,
    MAX_TEXTS_OF_INTENT,
    refuse_oversized,
)
from soulgraph.senses.intents.patterns import UnsafePattern, compiled
from soulgraph.soul.validation import NOT_BLANK

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), NOT_BLANK]
Regex = Annotated[str, StringConstraints(min_length=1, max_length=500)]
# Not of both: pydantic would ask the integer, too, which may be too large for a float.
Finite = int | Annotated[float, Field(allow_inf_nan=False)]
Words = Annotated[list[Word], Field(max_length=MAX_TEXTS_OF_INTENT)]
Regexes = Annotated[list[Regex], Field(max_length=MAX_PATTERNS_OF_INTENT)]
Scalar = str | int | float | bool
SlotType = Literal["text", "number", "percent", "duration", "time"]

_BOUNDS = {"percent": (0, 100), "duration": (0, math.inf)}


class _Reported(BaseModel):
    """Unknown fields of a report are ignored, known ones are checked strictly."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Slot(_Reported):
    """A parameter of an intent: captured by `regex`, or one of `values`, or read by its `type`, or the `default`.

    A number outside `min` and `max` counts as not said. A duration is in seconds; a time is local, in ISO 8601.
    """

    name: Word
    type: SlotType = "text"
    required: bool = False
    regex: Regex | None = None
    values: Words = []
    min: Finite | None = None
    max: Finite | None = None
    default: Scalar | None = None
    question: Word | None = None

    @property
    def is_counted(self) -> bool:
        return self.type in ("number", "percent", "duration")

    def allows(self, value: float) -> bool:
        lowest, highest = _BOUNDS.get(self.type, (-math.inf, math.inf))
        within = (self.min is None or value >= self.min) and (self.max is None or value <= self.max)
        return within and lowest <= value <= highest

    def problem(self) -> str | None:
        """What in this slot contradicts its type; None if nothing does."""
        if self.values and self.type != "text":
            return f"values are for text, not for a {self.type}"
        if not self.is_counted and (self.min is not None or self.max is not None):
            return f"a {self.type} has no min or max"
        if self.min is not None and self.max is not None and self.min > self.max:
            return "its min is above its max"
        if self.default is not None and not self._fits(self.default):
            return f"its default {self.default!r} is no {self.type} it allows"
        return None

    def _fits(self, default: Scalar) -> bool:
        if isinstance(default, float) and not math.isfinite(default):  # JSON has no such number
            return False
        if not self.is_counted:
            return self.type == "text" or (isinstance(default, str) and _is_time(default))
        if isinstance(default, bool | str):
            return False
        return self.allows(default)


class Match(_Reported):
    """When an intent is meant: any of the `any` lists, all of the `all` lists, none of the negative keywords."""

    keywords_any: Words = []
    keywords_all: Words = []
    negative_keywords: Words = []
    regex_any: Regexes = []
    regex_all: Regexes = []
    examples: Words = []
    min_confidence: float = Field(default=0.5, ge=0, le=1)


class Intent(_Reported):
    id: Word
    name: Word
    priority: int = 0
    match: Match
    slots: Annotated[list[Slot], Field(max_length=MAX_SLOTS_OF_INTENT)] = []

    @model_validator(mode="after")
    def _patterns_are_safe(self) -> Self:
        for source in self.patterns():
            try:
                compiled(source)
            except UnsafePattern as error:
                raise PydanticCustomError(
                    "intent_regex",
                    "intent {intent}: the pattern {pattern} {problem}",
                    {"intent": self.id, "pattern": source, "problem": str(error)},
                ) from error
        return self

    @model_validator(mode="after")
    def _slots_agree_with_their_types(self) -> Self:
        for slot in self.slots:
            if problem := slot.problem():
                raise PydanticCustomError(
                    "intent_slot",
                    "intent {intent}, slot {slot}: {problem}",
                    {"intent": self.id, "slot": slot.name, "problem": problem},
                )
        return self

    def patterns(self) -> Iterator[str]:
        yield from self.match.regex_any
        yield from self.match.regex_all
        yield from (slot.regex for slot in self.slots if slot.regex)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _with_unique_ids(intents: list[Intent]) -> list[Intent]:
    counts = Counter(intent.id for intent in intents)
    if twice := sorted(intent_id for intent_id, count in counts.items() if count > 1):
        raise PydanticCustomError("intent_twice", "intents given twice: {ids}", {"ids": ", ".join(twice)})
    return intents


Catalog = Annotated[
    list[Intent], Field(max_length=MAX_INTENTS), AfterValidator(_with_unique_ids), BeforeValidator(refuse_oversized)
]
CATALOG = TypeAdapter(Catalog)

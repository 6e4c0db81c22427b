"""The intents a terminal offers, as it reports them."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from soulgraph.senses.intents.patterns import UnsafePattern, compiled

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Regex = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Scalar = str | int | float | bool


class _Reported(BaseModel):
    """Terminals may say more than we read, but what we read has the right type."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Slot(_Reported):
    """A parameter of an intent: captured by `regex`, or one of `values`, or the `default`."""

    name: Word
    required: bool = False
    regex: Regex | None = None
    values: list[Word] = []
    default: Scalar | None = None


class Match(_Reported):
    """When an intent is meant: any of the `any` lists, all of the `all` lists, none of the negative keywords."""

    keywords_any: list[Word] = []
    keywords_all: list[Word] = []
    negative_keywords: list[Word] = []
    regex_any: list[Regex] = []
    regex_all: list[Regex] = []
    examples: list[Word] = []
    min_confidence: float = Field(default=0.5, ge=0, le=1)


class Intent(_Reported):
    id: Word
    name: Word
    priority: int = 0
    match: Match
    slots: list[Slot] = []

    @model_validator(mode="after")
    def _patterns_are_safe(self) -> Self:
        for source in self._patterns():
            try:
                compiled(source)
            except UnsafePattern as error:
                raise PydanticCustomError(
                    "intent_regex",
                    "intent {intent}: the pattern {pattern} {problem}",
                    {"intent": self.id, "pattern": source, "problem": str(error)},
                ) from error
        return self

    def _patterns(self) -> Iterator[str]:
        yield from self.match.regex_any
        yield from self.match.regex_all
        yield from (slot.regex for slot in self.slots if slot.regex)


def _with_unique_ids(intents: list[Intent]) -> list[Intent]:
    ids = [intent.id for intent in intents]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise PydanticCustomError("intent_twice", "intents given twice: {ids}", {"ids": ", ".join(twice)})
    return intents


Catalog = Annotated[list[Intent], AfterValidator(_with_unique_ids)]

"""What the structured tasks give: one class for each, validated, and read from whatever surrounds it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from soulgraph.senses.grounding import copied_share
from soulgraph.soul.validation import DROP_NUL
from soulgraph.voices.names import replace_names_in

INNER_STATE_LIMIT = 1200
MAX_BOND = 80
_MOSTLY_COPIED = 0.5
MAX_SLOTS = 3
"""Slots that a model is asked for at a time."""

_FEELING = "anger|joy|trust|fear|love|affection|sadness|mood|intensity|level|priority"
_FEELING_ZH = "愤怒|信任|好感|快乐|悲伤|恐惧|喜爱|亲密|情绪|心情|强度|优先级"
SCORE = re.compile(
    r"(?<![\d/])\d+(?:\.\d+)?\s*(?:/\s*(?:5|10|100)(?![\d/])|[%％])"
    r"|\b[a-z]+_level\b"
    rf"|\b(?:{_FEELING})\s*(?:[:=]|is(?: at)?\s)\s*[-+]?\d+(?:\.\d+)?"
    rf"|(?:{_FEELING_ZH})[度值]?\s*(?:[:：=]|[为是]|达到)\s*[-+]?\d+(?:\.\d+)?",
    re.IGNORECASE,
)


def _refuse_scores(text: str) -> str:
    """Refuse a text that gives a feeling as a number."""
    if found := SCORE.search(text):
        raise PydanticCustomError(
            "numeric_feeling", "describe it in words, never as a number ({found})", {"found": found[0]}
        )
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), DROP_NUL]
Qualitative = Annotated[Text, AfterValidator(_refuse_scores)]
QualitativeOrEmpty = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_refuse_scores), DROP_NUL]


_MAX_TRIES = 200  # braces that begin no object: each may take until the end of the answer


def json_objects_in(answer: str) -> Iterator[str]:
    """Every JSON object in an answer, whatever surrounds it: prose, code fences, other braces."""
    decoder = json.JSONDecoder()
    at, tries = answer.find("{"), _MAX_TRIES
    while at >= 0 and tries:
        try:
            _, end = decoder.raw_decode(answer, at)
            yield answer[at:end]
        except (json.JSONDecodeError, RecursionError):  # a model may nest without end
            end = at + 1
            tries -= 1
        at = answer.find("{", end)


class TaskOutput(BaseModel):
    """The result of a task."""

    @classmethod
    def read(cls, answer: str, context: Mapping[str, Any]) -> Self:
        """Parse a model's answer: its longest JSON object. ValidationError if that does not fit."""
        return cls.model_validate_json(max(json_objects_in(answer), key=len, default=answer), context=dict(context))

    @classmethod
    def schema_for(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON schema of an answer to this data."""
        return _json_schema(cls)


@cache
def _json_schema(kind: type[TaskOutput]) -> dict[str, Any]:
    """Written once: pydantic would do it anew for every call."""
    return kind.model_json_schema()


class StateChange(BaseModel):
    """What a field of the profile held before, empty for nothing, and holds now."""

    field: Text
    before: QualitativeOrEmpty = ""
    after: Qualitative

    @model_validator(mode="before")
    @classmethod
    def _from_one_text(cls, change: Any) -> Any:
        """Jobs of before told a change as one text."""
        return {"field": change["field"], "after": change["change"]} if _is_one_text(change) else change


def _is_one_text(change: Any) -> bool:
    return isinstance(change, dict) and "change" in change and "after" not in change


class EventPattern(BaseModel):
    precondition: Qualitative
    trigger: Qualitative
    reaction: Qualitative
    impact: Qualitative


class EventImpact(BaseModel):
    state_changes: list[StateChange] = Field(default_factory=list)


class EventExtract(TaskOutput):
    """An abstract experience: roles instead of names, words instead of numbers.

    `names` are those that the model found in the conversation. They and the names known before are replaced in all
    other fields. The state changes are those of the task's data: they are known, so no model is asked to repeat them.
    """

    names: list[str] = Field(default_factory=list, exclude=True, json_schema_extra={"maxItems": 8})
    summary: Qualitative
    pattern: EventPattern
    impact: EventImpact = Field(default_factory=EventImpact)
    narrative_fragment: Qualitative

    @classmethod
    def schema_for(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        schema = super().schema_for(data)
        return schema | {"properties": {name: one for name, one in schema["properties"].items() if name != "impact"}}

    @model_validator(mode="before")
    @classmethod
    def _replace_names(cls, answer: Any, info: ValidationInfo) -> Any:
        if not isinstance(answer, dict):
            return answer
        context = info.context or {}
        if (changes := context.get("state_changes")) is not None:
            told = [change for change in map(_without_score, changes) if change.get("after", change.get("change"))]
            answer = answer | {"impact": {"state_changes": told}}
        found = answer.get("names") or []
        # A single character is no name worth replacing: it would match all over the text.
        names = [*context.get("names", ()), *(name for name in found if isinstance(name, str) and len(name) > 1)]
        return replace_names_in(answer, names, context.get("lang", "en")) | {"names": []}


def _without_score(change: Mapping[str, str]) -> dict[str, str]:
    return {key: text if key == "field" else SCORE.sub("", text).strip() for key, text in change.items()}


class Slot(BaseModel):
    n: int = Field(ge=0, le=99)
    content: Annotated[Text, StringConstraints(max_length=500)]


class Reflection(TaskOutput):
    """`inner_state` is about the person, `about_itself` is what the soul thinks of itself, `bond` what the two are."""

    slots: list[Slot] = Field(default_factory=list, json_schema_extra={"maxItems": MAX_SLOTS})
    inner_state: Annotated[Text, StringConstraints(max_length=INNER_STATE_LIMIT)]
    about_itself: Annotated[str, StringConstraints(strip_whitespace=True, max_length=INNER_STATE_LIMIT), DROP_NUL] = ""
    bond: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_BOND), DROP_NUL] = ""


class EvolvedPersona(TaskOutput):
    """What a character has become, by dimension; one in which nothing has changed is empty."""

    beliefs: QualitativeOrEmpty = ""
    behaviour: QualitativeOrEmpty = ""
    relationship: QualitativeOrEmpty = ""
    feeling: QualitativeOrEmpty = ""

    @classmethod
    def read(cls, answer: str, context: Mapping[str, Any]) -> Self:
        """A model that answers in plain text describes how the character has come to behave."""
        if any(json_objects_in(answer)):
            return super().read(answer, context)
        return cls.model_validate({"behaviour": answer}, context=dict(context))

    @model_validator(mode="after")
    def _copies_nothing(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        sources = [context.get("base_persona", ""), *(message["content"] for message in context.get("messages", ()))]
        for dimension, text in self.model_dump().items():
            if copied_share(text, sources) >= _MOSTLY_COPIED:
                message = "{dimension} repeats the base persona or a message: say what has changed in your own words"
                raise PydanticCustomError("copied", message, {"dimension": dimension})
        return self

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any(self.model_dump().values()):
            raise PydanticCustomError("no_growth", "describe at least one of beliefs, behaviour, relationship, feeling")
        return self


class Summary(TaskOutput):
    title: Annotated[Text, StringConstraints(max_length=80)]
    summary: Text


class Impulse(TaskOutput):
    """Whether a soul speaks up without having been spoken to, what it says, and the reason for either choice."""

    reason: Text  # first, because a model decides better after it has said why
    speak: bool
    text: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), DROP_NUL] = ""

    @model_validator(mode="after")
    def _text_if_speaking(self) -> Self:
        if self.speak and not self.text:
            raise PydanticCustomError("no_words", "to speak, say what in `text`; to be silent, set `speak` to false")
        return self


class Spoken(TaskOutput):
    """What a soul says when something is due."""

    text: Annotated[Text, StringConstraints(max_length=400)]

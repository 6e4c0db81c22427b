"""Structured calls to a chat model: a prompt file and data in, a validated output out, with at most one repair."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Self, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from soulgraph.errors import ModelError, ModelUnavailable
from soulgraph.prompts.cues import cued
from soulgraph.prompts.render import load, render
from soulgraph.soul.language import Lang
from soulgraph.soul.validation import DROP_NUL, explain
from soulgraph.voices.names import replace_names_in
from soulgraph.voices.speech import translate_model_errors

INNER_STATE_LIMIT = 1200
LANGUAGE = {"zh": "Simplified Chinese", "en": "English"}
BEGIN = "Do this now."
INNER = "soulgraph:inner"
"""The tag of calls whose output the user never sees."""

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


def json_objects_in(answer: str) -> Iterator[str]:
    """Every JSON object in an answer, whatever surrounds it: prose, code fences, other braces."""
    decoder = json.JSONDecoder()
    at = answer.find("{")
    while at >= 0:
        try:
            _, end = decoder.raw_decode(answer, at)
            yield answer[at:end]
        except (json.JSONDecodeError, RecursionError):  # a model may nest without end
            end = at + 1
        at = answer.find("{", end)


class TaskOutput(BaseModel):
    """The result of a task."""

    @classmethod
    def read(cls, answer: str, context: Mapping[str, Any]) -> Self:
        """Parse a model's answer: its longest JSON object. ValidationError if that does not fit."""
        return cls.model_validate_json(max(json_objects_in(answer), key=len, default=answer), context=dict(context))


class StateChange(BaseModel):
    field: Text
    change: Qualitative


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
    other fields.
    """

    names: list[str] = Field(default_factory=list, exclude=True)
    summary: Qualitative
    pattern: EventPattern
    impact: EventImpact
    narrative_fragment: Qualitative

    @model_validator(mode="before")
    @classmethod
    def _replace_names(cls, answer: Any, info: ValidationInfo) -> Any:
        if not isinstance(answer, dict):
            return answer
        context = info.context or {}
        found = answer.get("names") or []
        # A single character is no name worth replacing: it would match all over the text.
        names = [*context.get("names", ()), *(name for name in found if isinstance(name, str) and len(name) > 1)]
        return replace_names_in(answer, names, context.get("lang", "en")) | {"names": []}


class Slot(BaseModel):
    n: int = Field(ge=0, le=99)
    content: Annotated[Text, StringConstraints(max_length=500)]


class Reflection(TaskOutput):
    inner_state: Annotated[Text, StringConstraints(max_length=INNER_STATE_LIMIT)]
    slots: list[Slot] = Field(default_factory=list)


QualitativeOrEmpty = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_refuse_scores), DROP_NUL]


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
    def _says_something(self) -> Self:
        if not any(self.model_dump().values()):
            raise PydanticCustomError("no_growth", "describe at least one of beliefs, behaviour, relationship, feeling")
        return self


class Summary(TaskOutput):
    title: Annotated[Text, StringConstraints(max_length=80)]
    summary: Text


class Impulse(TaskOutput):
    """Whether a soul speaks up without having been spoken to, what it says, and the reason for either choice."""

    speak: bool
    text: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), DROP_NUL] = ""
    reason: Text

    @model_validator(mode="after")
    def _text_if_speaking(self) -> Self:
        if self.speak and not self.text:
            raise PydanticCustomError("no_words", "to speak, say what in `text`; to be silent, set `speak` to false")
        return self


T = TypeVar("T", bound=TaskOutput)


@dataclass(frozen=True)
class Task(Generic[T]):
    """A structured call. Its prompt file is `task_{name}`; `defaults` are the data a caller may leave out."""

    name: str
    output: type[T]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        return f"task_{self.name}"


EXTRACT_EVENT = Task("extract_event", EventExtract, {"names": [], "remembered": []})
_NOBODY = {"name": "", "persona": [], "soul_file": "", "user_file": ""}
REFLECT = Task("reflect", Reflection, {"slots": [], **_NOBODY})
UPDATE_MEMORY = Task("update_memory", EvolvedPersona)
SUMMARIZE = Task("summarize", Summary)
PROACTIVE = Task("proactive", Impulse, _NOBODY)


async def run_task(model: BaseChatModel, task: Task[T], lang: Lang, **data: Any) -> T:
    """Ask the model. If its answer is invalid, show it the error and ask once more, then raise ModelError."""
    data = {**task.defaults, **data}
    context = {**data, "lang": lang}
    # `nostream`: the tokens of this call must not join the reply that is being streamed.
    config = RunnableConfig(run_name=task.name, tags=["nostream", INNER, task.name], metadata={"inner_call": task.name})
    messages = task_messages(task, lang, data)
    answer = await _call_model(model, messages, config)
    try:
        return task.output.read(answer, context)
    except ValidationError as error:
        repair = HumanMessage(render(load("task_repair"), problem=explain(error, root="answer", limit=8)))
    answer = await _call_model(model, [*messages, AIMessage(answer), repair], config)
    try:
        return task.output.read(answer, context)
    except ValidationError as error:
        detail = f"the model's answer to {task.name} was unusable twice: {explain(error, root='answer', limit=8)}"
        raise ModelError(detail, task=task.name) from error


async def _call_model(model: BaseChatModel, messages: Sequence[BaseMessage], config: RunnableConfig) -> str:
    with translate_model_errors():
        try:
            return (await model.ainvoke(list(messages), config)).text
        except (TypeError, LookupError) as error:  # how ChatOpenAI fails on a completion without choices
            raise ModelUnavailable(f"the model's server answered no completion: {error}") from error


def task_messages(task: Task[Any], lang: Lang, data: Mapping[str, Any]) -> list[BaseMessage]:
    """The messages of a task: its prompt, with the data as JSON and as cues, and the order to begin."""
    shown = {name: as_data([*map(_spoken, value)] if name == "messages" else value) for name, value in data.items()}
    prompt = render(load(task.prompt), language=LANGUAGE[lang], **shown)
    return [cued(prompt, {"task": task.name, "lang": lang, **data}), HumanMessage(BEGIN)]


def _spoken(message: Mapping[str, Any]) -> Any:
    """A message whose speaker is known as a line, like "Lin said: …"; any other as it is."""
    if "speaker" not in message:
        return message
    mark = " (unprompted)" if message.get("unprompted") else ""
    return f"{message['speaker']}{mark}: {message['content']}"


def as_data(value: Any) -> str:
    """A value as JSON without angle brackets, so that no text in it can close the tag around it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")

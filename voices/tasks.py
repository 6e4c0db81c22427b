"""Structured calls to a chat model: a prompt file and data in, a validated output out, with at most one repair."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from pydantic import ValidationError

from soulgraph.errors import ModelError
from soulgraph.prompts.cues import cued_task
from soulgraph.prompts.quotation import quoted
from soulgraph.prompts.render import load, render
from soulgraph.soul.language import Lang
from soulgraph.soul.validation import explain
from soulgraph.voices.echo import refuse_echo
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.structured import MAX_TOKENS, Answer, Form, ask_in_form
from soulgraph.voices.task_outputs import (
    EventExtract,
    EvolvedPersona,
    Impulse,
    Reflection,
    Spoken,
    Summary,
    TaskOutput,
    json_objects_in,
)

INNER = "soulgraph:inner"
"""The tag of calls whose output the user never sees."""

_REPAIR_TEMPERATURE = 0.6  # an answer that was sure and wrong would come again
_REPAIR_TOKENS = 1.5  # times those of the first call: it may have been cut off
_UNPROMPTED = {"zh": "（主动）", "en": " (unprompted)"}
_SECTION = re.compile(r"^<(\w+)>\{\{(\w+)\}\}</\1>\n?", re.MULTILINE)

T = TypeVar("T", bound=TaskOutput)


@dataclass(frozen=True)
class Task(Generic[T]):
    """A structured call. Its prompt files are `task_{name}.{lang}`; `defaults` are the data a caller may leave out."""

    name: str
    output: type[T]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = MAX_TOKENS

    @property
    def prompt(self) -> str:
        return f"task_{self.name}"


EXTRACT_EVENT = Task("extract_event", EventExtract, {"names": [], "remembered": []})
_NOBODY = {"name": "", "persona": [], "soul_file": "", "user_file": ""}
REFLECT = Task("reflect", Reflection, {"slots": [], "about_itself": "", **_NOBODY}, max_tokens=700)
UPDATE_MEMORY = Task("update_memory", EvolvedPersona, max_tokens=1200)
SUMMARIZE = Task("summarize", Summary, max_tokens=1200)
PROACTIVE = Task("proactive", Impulse, {**_NOBODY, "planned": []})
REMIND = Task("remind", Spoken, {"soul_file": "", "late": False}, max_tokens=200)


async def run_task(model: BaseChatModel, task: Task[T], lang: Lang, **data: Any) -> T:
    """Ask the model. If its answer is invalid, ask once more in another form, then raise ModelError.

    The invalid answer is not shown to it again: small models copy it.
    """
    data = {**task.defaults, **data}
    message = task_message(task, lang, data)
    schema = task.output.schema_for(data)
    # `nostream`: the tokens of this call must not join the reply that is being streamed.
    config = RunnableConfig(run_name=task.name, tags=["nostream", INNER, task.name], metadata={"inner_call": task.name})
    answer = await ask_in_form(model, [message], schema, config, max_tokens=task.max_tokens)
    # The offline voice's answers are our own words, and no echo.
    read = _read_prepared if isinstance(model, OfflineVoice) else _read
    try:
        return read(task, answer.text, lang, data)
    except ValidationError as error:
        message = _with_complaint(message, explain(error, root="answer", limit=8), lang)
    answer = await ask_in_form(
        model,
        [message],
        schema,
        config,
        first=_repair_form(answer),
        max_tokens=int(_REPAIR_TOKENS * task.max_tokens),
        temperature=_REPAIR_TEMPERATURE,
    )
    try:
        return read(task, answer.text, lang, data)
    except ValidationError as error:
        detail = f"the model's answer to {task.name} was unusable twice: {explain(error, root='answer', limit=8)}"
        raise ModelError(detail, task=task.name) from error


def _repair_form(answer: Answer) -> Form:
    """An answer that is no JSON needs another form; one that is, and says the wrong thing, only another attempt."""
    return answer.form if any(json_objects_in(answer.text)) else max(Form.TOOL, answer.form.next)


def _read_prepared(task: Task[T], answer: str, lang: Lang, data: Mapping[str, Any]) -> T:
    return task.output.read(answer, {**data, "lang": lang})


def _read(task: Task[T], answer: str, lang: Lang, data: Mapping[str, Any]) -> T:
    output = _read_prepared(task, answer, lang, data)
    refuse_echo(output.model_dump(mode="json"), load(task.prompt, lang), data)
    return output


def task_message(task: Task[Any], lang: Lang, data: Mapping[str, Any]) -> HumanMessage:
    """The one message of a task: its prompt with the data, which is on the message as cues too.

    Sections without data are left out: they only make the prompt longer.
    """
    template = _SECTION.sub(lambda found: found[0] if data.get(found[2], True) else "", load(task.prompt, lang))
    left_out = {found[2] for found in _SECTION.finditer(load(task.prompt, lang)) if not data.get(found[2], True)}
    shown = {name: _shown(name, value, lang) for name, value in data.items() if name not in left_out}
    return cued_task(render(template, **shown), {"task": task.name, "lang": lang, **data})


def _with_complaint(message: HumanMessage, problem: str, lang: Lang) -> HumanMessage:
    complaint = render(load("task_repair", lang), problem=problem)
    return message.model_copy(update={"content": f"{message.text}\n\n{complaint}"})


def _shown(name: str, value: Any, lang: Lang) -> str:
    if name != "messages":
        return as_data(value)
    return "".join(f"\n{_spoken(message, lang)}" for message in value) + "\n"


def _spoken(message: Mapping[str, Any], lang: Lang) -> str:
    """A message as one line, like "Lin said: “…”", so that no text in it can pass for another message."""
    speaker = message.get("speaker", message["role"])
    mark = _UNPROMPTED[lang] if message.get("unprompted") else ""
    return _without_brackets(f"{speaker}{mark}: {quoted(message['content'])}")


def as_data(value: Any) -> str:
    """A value as JSON without angle brackets, so that no text in it can close the tag around it."""
    return _without_brackets(json.dumps(value, ensure_ascii=False))


def _without_brackets(text: str) -> str:
    return text.replace("<", "\\u003c").replace(">", "\\u003e")

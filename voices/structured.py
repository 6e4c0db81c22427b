"""One structured call to a chat model: the JSON text of its answer, in the strictest form that its server can do."""

import json
import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple
from weakref import finalize

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel

from soulgraph.errors import ModelError, ModelUnavailable
from soulgraph.voices.schemas import plain_schema
from soulgraph.voices.speech import translate_model_errors

MAX_TOKENS = 700
TEMPERATURE = 0.2
_MAX_CHARS = 16_000  # of an answer that are read: several times as many as its tokens can be

_OPENAI = "openai-chat"
_OPENAI_URL = "api.openai.com"
_MAY_BE_FORM = {400, 404, 405, 415, 422, 500, 501}  # llama.cpp answers 500 to a schema that it cannot compile
_NAMES_FORM = re.compile(
    r"response_format|json_schema|json_object|json mode|schema|grammar|\btools?\b|tool_choice|function|structured"
    r"|unsupported|not supported|does not support|unrecognized|extra_forbidden|extra inputs",
    re.IGNORECASE,
)
_NAMES_OPTION = re.compile(r"temperature|max_tokens|max_completion_tokens", re.IGNORECASE)
_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL)


class Form(IntEnum):
    """How an answer is asked for, from the strictest form to none at all."""

    BOUNDED = 0
    """response_format json_schema, with the lengths of lists"""
    SCHEMA = 1
    """the same without lengths, which some servers refuse"""
    TOOL = 2
    OBJECT = 3
    TEXT = 4

    @property
    def next(self) -> "Form":
        return Form(min(self + 1, Form.TEXT))


class Answer(NamedTuple):
    text: str
    form: Form


class _Learnt(NamedTuple):
    """What is known of a model's server: the form to begin with, and whether it takes temperature and limit."""

    form: Form = Form.BOUNDED
    tuned: bool = True


# Keyed by identity and emptied with the model: a chat model is a pydantic object and has no hash.
_learnt: dict[int, _Learnt] = {}


async def ask(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    schema: type[BaseModel] | Mapping[str, Any],
    config: RunnableConfig | None = None,
    *,
    max_tokens: int = MAX_TOKENS,
) -> str:
    """The JSON text of the model's answer to these messages. It is not validated."""
    return (await ask_in_form(model, messages, schema, config, max_tokens=max_tokens)).text


async def ask_in_form(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    schema: type[BaseModel] | Mapping[str, Any],
    config: RunnableConfig | None = None,
    *,
    first: Form | None = None,
    max_tokens: int = MAX_TOKENS,
    temperature: float = TEMPERATURE,
) -> Answer:
    """Ask in form `first`, or in the one that has worked before; when the server refuses it, in the next."""
    learnt = _known(model)
    learnt = learnt if first is None else learnt._replace(form=max(first, learnt.form))
    while True:
        options = {"temperature": temperature, "max_tokens": max_tokens} if learnt.tuned else {}
        try:
            text = await _call(
                _bound(model, learnt.form, plain_schema(schema, learnt.form is Form.BOUNDED), options), messages, config
            )
            break
        except ModelError as error:
            learnt = _after_refusal(error, learnt)
    if first is None:
        # A server that ignores the form answers in prose: the next one may bind it.
        _remember(model, learnt if "{" in text else learnt._replace(form=learnt.form.next))
    return Answer(text, learnt.form)


def _known(model: BaseChatModel) -> _Learnt:
    if model._llm_type != _OPENAI:
        return _Learnt(Form.TEXT, tuned=False)
    return _learnt.get(id(model), _Learnt())


def _remember(model: BaseChatModel, learnt: _Learnt) -> None:
    if model._llm_type != _OPENAI:
        return
    if id(model) not in _learnt:
        finalize(model, _learnt.pop, id(model), None)
    _learnt[id(model)] = learnt


def _after_refusal(error: ModelError, learnt: _Learnt) -> _Learnt:
    """What to try after this error; raises it again if it is about something else than the form of the answer."""
    cause = error.__cause__
    status, words = getattr(cause, "status_code", None), str(cause)
    if status in _MAY_BE_FORM and learnt.tuned and _NAMES_OPTION.search(words):
        return learnt._replace(tuned=False)
    if status in _MAY_BE_FORM and learnt.form < Form.TEXT and _NAMES_FORM.search(words):
        return learnt._replace(form=learnt.form.next)
    raise error


def _bound(
    model: BaseChatModel, form: Form, schema: dict[str, Any], options: Mapping[str, Any]
) -> Runnable[LanguageModelInput, AIMessage]:
    """The model, bound to answer in this form. The schema's title is the name that servers want."""
    name = schema.pop("title")
    # As `extra_body`, because for `response_format` ChatOpenAI takes a way that fails on answers that were cut off.
    body: dict[str, Any] = {}
    if options and _OPENAI_URL not in (getattr(model, "openai_api_base", None) or _OPENAI_URL):
        # ChatOpenAI renames it to max_completion_tokens, which other servers ignore.
        body["max_tokens"] = options["max_tokens"]
        options = {"temperature": options["temperature"]}
    if form <= Form.SCHEMA:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema, "strict": True},
        }
    elif form is Form.OBJECT:
        body["response_format"] = {"type": "json_object"}
    kwargs = {**options, **({"extra_body": body} if body else {})}
    if form is Form.TOOL:
        function = {"name": name, "description": "Give your answer.", "parameters": schema}
        return model.bind_tools([{"type": "function", "function": function}], tool_choice="required", **kwargs)
    return model.bind(**kwargs) if kwargs else model


async def _call(
    speaker: Runnable[LanguageModelInput, AIMessage], messages: Sequence[BaseMessage], config: RunnableConfig | None
) -> str:
    with translate_model_errors():
        try:
            return json_text(await speaker.ainvoke(list(messages), config))[:_MAX_CHARS]
        except (TypeError, LookupError) as error:  # how ChatOpenAI fails on a completion without choices
            raise ModelUnavailable(f"the model's server answered no completion: {error}") from error


def json_text(answer: AIMessage) -> str:
    """The arguments of the tool call, or else the text without thoughts in front of it."""
    if answer.tool_calls:
        return json.dumps(answer.tool_calls[0]["args"], ensure_ascii=False)
    if answer.invalid_tool_calls:
        return answer.invalid_tool_calls[0]["args"] or ""
    return _THOUGHTS.sub("", answer.text).strip()

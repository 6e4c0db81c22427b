"""Tool calls that a model wrote as text, as weak models and their servers do: JSON, or a model family's own marks.

A text is taken for calls only if all of it is calls, each of an offered tool and with arguments that fit its schema:
a sentence that mentions a tool, or an example of a call, stays a sentence.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.messages.tool import tool_call

from soulgraph.voices.call_literals import literal_arguments

Json = dict[str, Any]
Tools = Mapping[str, Json]
"""The schemas of the arguments, by the tool's name."""

MAX_CHARS = 8000
MAX_CALLS = 8

_NAMES, _ARGUMENTS = ("name", "tool", "tool_name", "function_name"), ("arguments", "parameters", "args", "input")
_BESIDE = {*_NAMES, *_ARGUMENTS, "type", "id", "function"}
_LANGUAGE = "(?:json|tool_calls?|tool_code|python)?"
_FENCE = re.compile(rf"```[ \t]*{_LANGUAGE}\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<tool_calls?>\s*(.*?)\s*(?:</tool_calls?>|\Z)", re.DOTALL)
_FUNCTION_TAG = re.compile(r"<function=([\w.-]{1,64})>\s*(\{.*?\})\s*(?:</function>|\Z)", re.DOTALL)
_MISTRAL = re.compile(r"\[TOOL_CALLS\]\s*", re.DOTALL)
_MARKS = re.compile(r"<\|python_tag\|>|<\|(?:eom_id|eot_id|im_end)\|>|</?s>")
_SEPARATORS = " \t\r\n,;"


class _NoCall(Exception):
    """The text is something else, or a call that cannot be made."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def read_calls(text: str, tools: Sequence[Json]) -> list[ToolCall]:
    """The calls that the text consists of; none if there is anything else in it, or one of them does not fit.

    `tools` are the function schemas that were offered to the model.
    """
    offered = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    if not offered or not text.strip() or len(text) > MAX_CHARS:
        return []
    try:
        calls = list(_calls_in(text, offered))
    except (_NoCall, RecursionError):
        return []
    if len(calls) > MAX_CALLS:
        return []
    call_id = f"text-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
    return [tool_call(name=name, args=args, id=f"{call_id}-{n}") for n, (name, args) in enumerate(calls)]


def _calls_in(text: str, offered: Tools) -> Iterator[tuple[str, Json]]:
    body = _MARKS.sub("", text).strip()
    for read in (_from_tags, _from_mistral, _from_fences, _from_json, _from_python):
        found = read(body, offered)
        if found is not None:
            yield from found
            return
    raise _NoCall


Found = list[tuple[str, Json]] | None


def _from_tags(body: str, offered: Tools) -> Found:
    """`<tool_call>{…}</tool_call>` of Qwen and Hermes, `<function=name>{…}</function>` of Llama."""
    if body.startswith("<function="):
        parts = _all_of(_FUNCTION_TAG, body)
        return [_fitting(part[1], _loaded(part[2]), offered) for part in parts]
    if body.startswith("<tool_call"):
        parts = _all_of(_TAGGED, body)
        return [call for part in parts for call in _required(_from_inner(part[1], offered))]
    return None


def _from_inner(body: str, offered: Tools) -> Found:
    return _from_tags(body, offered) if body.startswith("<function=") else _from_json(body, offered)


def _from_mistral(body: str, offered: Tools) -> Found:
    if mark := _MISTRAL.match(body):
        return _required(_from_json(body[mark.end() :], offered))
    return None


def _from_fences(body: str, offered: Tools) -> Found:
    if not body.startswith("```"):
        return None
    inner = [part[1].strip() for part in _all_of(_FENCE, body)]
    readers: Sequence[Callable[[str, Tools], Found]] = (_from_tags, _from_json, _from_python)
    found = [next((calls for read in readers if (calls := read(part, offered)) is not None), None) for part in inner]
    return [call for calls in found for call in _required(calls)]


def _from_json(body: str, offered: Tools) -> Found:
    """One or more JSON values, one after the other."""
    if not body.startswith(("{", "[")):
        return None
    at, found = 0, list[tuple[str, Json]]()
    while at < len(body):
        try:
            value, at = _DECODER.raw_decode(body, at)
        except ValueError as error:
            raise _NoCall from error
        found += _from_value(value, offered)
        at += len(body[at:]) - len(body[at:].lstrip(_SEPARATORS))
    return found


def _from_value(value: Any, offered: Tools) -> list[tuple[str, Json]]:
    """A call, a list of calls, or an object that holds such a list."""
    if isinstance(value, list) and value:
        return [call for part in value for call in _from_value(part, offered)]
    if not isinstance(value, dict):
        raise _NoCall
    if isinstance(nested := value.get("tool_calls"), list):
        return _from_value(nested, offered)
    if isinstance(nested := value.get("function"), dict):
        return _from_value(nested, offered)
    return [_from_object(value, offered)]


def _from_object(value: Json, offered: Tools) -> tuple[str, Json]:
    """Anything beside name and arguments means that it is another kind of object."""
    name = next((value[key] for key in (*_NAMES, "function") if isinstance(value.get(key), str)), None)
    given: Any = next((value[key] for key in _ARGUMENTS if key in value), {})
    if name is None or not value.keys() <= _BESIDE:
        raise _NoCall
    return _fitting(name, _loaded(given) if isinstance(given, str) else given, offered)


def _from_python(body: str, offered: Tools) -> Found:
    """`name(arg="…")` or `name({"arg": …})`, alone."""
    name, bracket, _ = body.partition("(")
    if not bracket or name not in offered or not body.endswith(")"):
        return None
    try:
        return [_fitting(name, literal_arguments(body), offered)]
    except ValueError as error:
        raise _NoCall from error


def _fitting(name: Any, arguments: Any, offered: Tools) -> tuple[str, Json]:
    if name not in offered or not isinstance(arguments, dict) or not _fits(arguments, offered[name]):
        raise _NoCall
    return name, arguments


def _fits(arguments: Json, schema: Json) -> bool:
    """Whether they validate, and none is unknown: a model that invents arguments has invented the call."""
    from jsonschema import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if not arguments.keys() <= schema.get("properties", {}).keys():
        return False
    try:
        return bool(_validator()(schema, registry=Registry()).is_valid(arguments))  # fetches nothing from elsewhere
    except (SchemaError, Unresolvable):
        return False


@cache
def _validator() -> Any:
    """Without patterns: a terminal's may be slow, and its skill checks them within a time limit when it is used."""
    from jsonschema import Draft202012Validator, validators

    return validators.extend(Draft202012Validator, {"pattern": _ignore, "patternProperties": _ignore})  # type: ignore[no-untyped-call]


def _ignore(*_: Any) -> None: ...


def _loaded(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except ValueError as error:
        raise _NoCall from error


def _all_of(pattern: re.Pattern[str], body: str) -> list[re.Match[str]]:
    """The matches, if there is nothing between or after them."""
    if pattern.sub("", body).strip(_SEPARATORS):
        raise _NoCall
    return list(pattern.finditer(body))


def _required(found: Found) -> list[tuple[str, Json]]:
    if not found:
        raise _NoCall
    return found

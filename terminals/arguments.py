"""Validates the arguments a model gives to a skill against the JSON schema that the skill's terminal reported.

Neither is trusted: a schema may refer only to itself, its patterns have the time budget of intent patterns, and a check
that takes too many steps is given up.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any

from soulgraph.errors import InvalidInput
from soulgraph.senses.intents.patterns import RegexBudget, UnsafePattern, compiled

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

Json = dict[str, Any]

_MAX_STEPS, _MAX_PATTERN = 10_000, 500
_MAX_ERRORS, _MAX_ERROR_CHARS = 3, 400
_MAX_SEARCHED_CHARS = 10_000
_LOCAL_REF = re.compile(r"#(/(\$defs|definitions|properties)/[\w.-]+)?")
_UNSUPPORTED = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$id", "$schema")


class _TooExpensive(Exception):
    """The check took more steps than it may, or would never end."""


class _CheckBudget:
    """The steps and the regex time that one check may still take."""

    def __init__(self) -> None:
        self.steps = _MAX_STEPS
        self.regexes = RegexBudget(reach=_MAX_SEARCHED_CHARS)

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _TooExpensive


_budget: ContextVar[_CheckBudget] = ContextVar("check_budget")


def check_schema(schema: Json) -> None:
    """Raise InvalidInput, which says why, if arguments cannot be validated against this schema."""
    _validator(schema)


def mismatch(schema: Json, arguments: Json) -> str | None:
    """What is wrong with the arguments, in words that a model can act on; None if they fit."""
    try:
        return "; ".join(map(_describe, _errors(_validator(schema), arguments))) or None
    except InvalidInput as error:
        return f"the skill's own schema cannot be used: {error.detail}"
    except _TooExpensive:
        return "there is too much in them to be checked"


def _validator(schema: Json) -> "Validator":
    validator_or_problem = _compile(json.dumps(schema))
    if isinstance(validator_or_problem, str):
        raise InvalidInput(validator_or_problem)
    return validator_or_problem


@lru_cache(maxsize=4096)
def _compile(text: str) -> "Validator | str":
    """A validator for the schema, or what is wrong with it. Cached, because terminals report the same schemas again."""
    from jsonschema import Draft202012Validator

    schema = {key: part for key, part in json.loads(text).items() if key not in ("$id", "$schema")}
    for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        return _describe(error)
    try:
        _refuse_unsupported(schema)
        validator = _bounded_validator()(schema)
        _errors(validator, {})  # a schema that refers to itself without end is found here, before it is stored
    except InvalidInput as error:
        return error.detail
    except _TooExpensive:
        return "takes too long to check: it refers to itself, or to too much"
    return validator


def _refuse_unsupported(schema: Json) -> None:
    for part in _objects_in(schema):
        if keyword := next((key for key in _UNSUPPORTED if isinstance(part.get(key), str)), None):
            raise InvalidInput(f"{keyword} is not supported here")
        if isinstance(part.get("patternProperties"), dict):
            raise InvalidInput("patternProperties is not supported: name the arguments in properties")
        if isinstance(ref := part.get("$ref"), str):
            _refuse_unresolvable_ref(ref, schema)
        if isinstance(pattern := part.get("pattern"), str):
            _refuse_unsafe_pattern(pattern)


def _objects_in(value: Any) -> Iterator[Json]:
    """Every JSON object inside a value, the value itself included."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects_in(part)


def _refuse_unresolvable_ref(ref: str, schema: Json) -> None:
    _, *path = ref.split("/")
    if not _LOCAL_REF.fullmatch(ref) or (path and path[1] not in schema.get(path[0], {})):
        raise InvalidInput(
            f"$ref {ref[:80]!r} is not in this schema: refer to #/$defs/…, #/definitions/… or #/properties/…"
        )


def _refuse_unsafe_pattern(pattern: str) -> None:
    try:
        if len(pattern) > _MAX_PATTERN:
            raise UnsafePattern(f"is longer than {_MAX_PATTERN} characters")
        compiled(pattern)
    except UnsafePattern as error:
        raise InvalidInput(f"the pattern {pattern[:80]!r} {error}") from error


def _errors(validator: "Validator", arguments: Json) -> "list[ValidationError]":
    """The first few errors."""
    token = _budget.set(_CheckBudget())
    try:
        return list(islice(validator.iter_errors(arguments), _MAX_ERRORS))
    except (RecursionError, ArithmeticError) as error:
        raise _TooExpensive from error
    finally:
        _budget.reset(token)


@cache
def _bounded_validator() -> "type[Validator]":
    """The validator class of jsonschema, with every check charged to the budget."""
    from jsonschema import Draft202012Validator, validators

    checks = {**Draft202012Validator.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique}
    charged = {name: _charged(check) for name, check in checks.items()}
    bounded: type[Validator] = validators.extend(Draft202012Validator, charged)  # type: ignore[no-untyped-call]
    return bounded


def _charged(check: Callable[..., "Iterable[ValidationError] | None"]) -> Callable[..., Any]:
    @wraps(check)
    def step(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _budget.get().spend(1 + (len(value) if isinstance(value, list) else 0))
        return check(validator, value, instance, schema)

    return step


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    """Case-sensitive, as JSON schema has it; the shared regex search ignores case by default."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and _budget.get().regexes.search(f"(?-i:{pattern})", instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique(validator: Any, wanted: bool, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    """In linear time; jsonschema compares every item with every other."""
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({json.dumps(i, sort_keys=True) for i in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _describe(error: "ValidationError") -> str:
    """The place of the error and what was expected there; of several alternatives, the one that fits best."""
    from jsonschema.exceptions import best_match

    best = best_match([error]) or error
    message = best.message
    if best.context:
        message += f", {best.validator}: {json.dumps(best.validator_value, ensure_ascii=False)}"
    path = ".".join(map(str, best.absolute_path))
    return _shorten(f"{path}: {message}" if path else message)


def _shorten(text: str) -> str:
    """Cut out the middle: the beginning says what was given, the end what was expected."""
    half = _MAX_ERROR_CHARS // 2
    return text if len(text) <= _MAX_ERROR_CHARS else f"{text[:half]} … {text[-half:]}"

"""What a model gives to a skill, held against the schema that the skill's terminal reported.

Neither is ours, so a schema refers to nothing outside of itself, its patterns get as long as those of intents,
and a check that takes too many steps is given up.
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
_MAX_TOLD, _MAX_TOLD_CHARS = 3, 400
_REACH = 10_000
_OURS = re.compile(r"#(/(\$defs|definitions|properties)/[\w.-]+)?")
_ELSEWHERE = ("$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$id", "$schema")


class _Endless(Exception):
    """A check that goes on for too long, or forever."""


class _Effort:
    """What one check may still cost."""

    def __init__(self) -> None:
        self.steps = _MAX_STEPS
        self.patience = RegexBudget(reach=_REACH)

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise _Endless


_effort: ContextVar[_Effort] = ContextVar("effort")


def examine(schema: Json) -> None:
    """Raises InvalidInput, which says why, if no arguments can be held against it."""
    _validator(schema)


def mismatch(schema: Json, arguments: Json) -> str | None:
    """What is wrong with the arguments, in words that a model can act on."""
    try:
        return "; ".join(map(_told, _errors(_validator(schema), arguments))) or None
    except InvalidInput as error:
        return f"the skill's own schema cannot be used: {error.detail}"
    except _Endless:
        return "there is too much in them to be checked"


def _validator(schema: Json) -> "Validator":
    found = _read(json.dumps(schema))
    if isinstance(found, str):
        raise InvalidInput(found)
    return found


@lru_cache(maxsize=4096)
def _read(text: str) -> "Validator | str":
    """Ready to check, or what is wrong: terminals report the same again and again."""
    from jsonschema import Draft202012Validator

    schema = {key: part for key, part in json.loads(text).items() if key not in ("$id", "$schema")}
    for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        return _told(error)
    try:
        _refuse_unsupported(schema)
        validator = _bounded()(schema)
        _errors(validator, {})
    except InvalidInput as error:
        return error.detail
    except _Endless:
        return "takes too long to check: it refers to itself, or to too much"
    return validator


def _refuse_unsupported(schema: Json) -> None:
    for part in _parts(schema):
        if far := next((key for key in _ELSEWHERE if isinstance(part.get(key), str)), None):
            raise InvalidInput(f"{far} is not supported here")
        if isinstance(part.get("patternProperties"), dict):
            raise InvalidInput("patternProperties is not supported: name the arguments in properties")
        if isinstance(ref := part.get("$ref"), str):
            _refuse_far(ref, schema)
        if isinstance(pattern := part.get("pattern"), str):
            _refuse_unsafe(pattern)


def _parts(value: Any) -> Iterator[Json]:
    """Every object in it."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(part)


def _refuse_far(ref: str, schema: Json) -> None:
    _, *where = ref.split("/")
    if not _OURS.fullmatch(ref) or (where and where[1] not in schema.get(where[0], {})):
        raise InvalidInput(
            f"$ref {ref[:80]!r} is not in this schema: refer to #/$defs/…, #/definitions/… or #/properties/…"
        )


def _refuse_unsafe(pattern: str) -> None:
    try:
        if len(pattern) > _MAX_PATTERN:
            raise UnsafePattern(f"is longer than {_MAX_PATTERN} characters")
        compiled(pattern)
    except UnsafePattern as error:
        raise InvalidInput(f"the pattern {pattern[:80]!r} {error}") from error


def _errors(validator: "Validator", arguments: Json) -> "list[ValidationError]":
    """The first few."""
    spending = _effort.set(_Effort())
    try:
        return list(islice(validator.iter_errors(arguments), _MAX_TOLD))
    except (RecursionError, ArithmeticError) as error:
        raise _Endless from error
    finally:
        _effort.reset(spending)


@cache
def _bounded() -> "type[Validator]":
    from jsonschema import Draft202012Validator, validators

    checks = {**Draft202012Validator.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique}
    counted = {name: _counted(check) for name, check in checks.items()}
    kind: type[Validator] = validators.extend(Draft202012Validator, counted)  # type: ignore[no-untyped-call]
    return kind


def _counted(check: Callable[..., "Iterable[ValidationError] | None"]) -> Callable[..., Any]:
    @wraps(check)
    def step(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _effort.get().spend(1 + (len(value) if isinstance(value, list) else 0))
        return check(validator, value, instance, schema)

    return step


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    """Case matters, other than in what people say."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and _effort.get().patience.search(f"(?-i:{pattern})", instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique(validator: Any, wanted: bool, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    """Without holding every item against every other."""
    from jsonschema import ValidationError

    if wanted and isinstance(instance, list) and len({json.dumps(i, sort_keys=True) for i in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _told(error: "ValidationError") -> str:
    """Where it is and what was expected there; of several ways to be right, the nearest."""
    from jsonschema.exceptions import best_match

    nearest = best_match([error]) or error
    said = nearest.message
    if nearest.context:
        said += f", {nearest.validator}: {json.dumps(nearest.validator_value, ensure_ascii=False)}"
    where = ".".join(map(str, nearest.absolute_path))
    return _short(f"{where}: {said}" if where else said)


def _short(text: str) -> str:
    """Both ends stay: the one says what there is, the other what was expected."""
    half = _MAX_TOLD_CHARS // 2
    return text if len(text) <= _MAX_TOLD_CHARS else f"{text[:half]} … {text[-half:]}"

"""Finds answers that only repeat the form they were asked for: the example, a key's name, dots, the instruction."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from soulgraph.prompts.render import VARIABLE
from soulgraph.senses.grounding import fold, restates, sentences_of
from soulgraph.voices.task_outputs import json_objects_in

_DOTS = re.compile(r"[.…·•_\s-]+")
_MIN_LETTERS = {True: 16, False: 8}
"""By whether a text is ASCII: what is shorter may stand in an instruction by chance, like a label or an id."""

Path = tuple[str | int, ...]


def refuse_echo(answer: Mapping[str, Any], template: str, data: Mapping[str, Any]) -> None:
    """Raise ValidationError for the first value that repeats the form. What the data says too is no echo."""
    keys = {path[-1] for path, _ in _strings(answer)}
    instruction, material = fold(VARIABLE.sub("", template)), fold(json.dumps(data, ensure_ascii=False, default=str))
    examples = [text for one in json_objects_in(template) for _, text in _strings(json.loads(one)) if _is_long(text)]
    for path, text in _strings(answer):
        if _DOTS.fullmatch(text) or text in keys:
            raise _flaw(path, "is a placeholder: write the real content")
        if _copies(text, instruction, material) or _retells(text, examples, material):
            raise _flaw(path, "repeats the instruction or its example: write about the given material")


def _copies(text: str, instruction: str, material: str) -> bool:
    """Whether a long part of a text, or nothing but parts of any length, is taken from the instruction."""
    parts = [part for part in {text, *sentences_of(text)} if fold(part) not in material]
    taken = [part for part in sentences_of(text) if part in parts and fold(part) in instruction]
    return any(_is_long(part) and fold(part) in instruction for part in parts) or (
        _is_long(text) and fold("".join(taken)) == fold(text)
    )


def _retells(text: str, examples: Iterable[str], material: str) -> bool:
    """Whether a text has an example's words or almost those. What people said of the same is no echo."""
    return any(
        fold(example) in fold(text) or (restates(text, [example]) and fold(text) not in material)
        for example in examples
    )


def _strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a JSON value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _strings(item, (*path, at))


def _is_long(text: str) -> bool:
    return len(fold(text)) >= _MIN_LETTERS[text.isascii()]


def _flaw(path: Path, message: str) -> ValidationError:
    detail = InitErrorDetails(type=PydanticCustomError("echo", message), loc=path, input=None)
    return ValidationError.from_exception_data("answer", [detail])

"""Reads the JSON of card files within limits; what people have damaged by hand is mended, and a note says so."""

import json
import re
from typing import Any, NamedTuple

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.encodings import decode_text
from soulgraph.library.cards.mending import mended_json

MAX_JSON_BYTES = 2 * 1024 * 1024
_EMBEDDED = re.compile(rb'"data:[\w/+.-]{0,80};base64,[A-Za-z0-9+/=\\]*"')
_BEGINNING = re.compile(r"(?:\s++|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*\*/|```\w*+)*(?=\{|\[\s*+\{)")


class Parsed(NamedTuple):
    data: Any
    notes: tuple[str, ...] = ()


def begins_like_json(text: str) -> bool:
    """Whether a text is an object or a list of them, remarks and fences before it aside."""
    return _BEGINNING.match(text) is not None


def parse_json(content: bytes) -> Parsed:
    """Raises InvalidInput if there is too much of it, or if it is no JSON even when it is mended."""
    check_size(content)
    text, notes = decode_text(content, "the card's JSON")
    try:
        return Parsed(json.loads(text), notes)
    except RecursionError as error:
        raise InvalidInput("the card's JSON is nested too deeply") from error
    except ValueError as error:
        mended = _mended(text, error)
    return Parsed(mended.data, (*notes, *mended.notes))


def check_size(content: bytes) -> None:
    """Raises InvalidInput if there is more to parse than is allowed; pictures in it are long, and no work."""
    size = len(content)
    if size > MAX_JSON_BYTES:
        size -= sum(map(len, _EMBEDDED.findall(content)))
    if size > MAX_JSON_BYTES:
        raise InvalidInput(
            f"the card's JSON has {size} bytes, at most {MAX_JSON_BYTES} are read: take something out of it"
        )


def _mended(text: str, error: ValueError) -> Parsed:
    """What is read of a text that strict JSON is not; `error` says why, and is raised if there is no help."""
    beginning = _BEGINNING.match(text)
    try:
        data, what = mended_json(text[beginning.end() if beginning else 0 :])
    except RecursionError as deep:
        raise InvalidInput("the card's JSON is nested too deeply") from deep
    except ValueError:
        raise InvalidInput(f"the card's JSON cannot be read: {error}") from error
    wrong = ", ".join(what or ["what stands before it"])
    return Parsed(data, (f"the JSON has mistakes ({wrong}), and was read as it is probably meant: look it over",))

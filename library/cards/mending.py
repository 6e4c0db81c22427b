"""Mends JSON that people have edited by hand: remarks, commas, quotes, line breaks inside of texts.

In one pass, because files have megabytes: json_repair, which reads the short updates of models, takes minutes for some.
It would also complete a file that was cut off, and half a character is worse than none.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_REMARK = r"(?://|/\*|\#\s)"
_BEGINS_NEXT = rf"""\s*+(?:["'“{{\[}}\],]|{_REMARK}|-?\d|\w++\s*+[:：]|(?:true|false|null)\b|\Z)"""
_ENDS_TEXT = rf"""\s*+(?:[:：}}\]"]|{_REMARK}|\Z|[,，]{_BEGINS_NEXT})"""
"""What comes after a quote that ends a text; any other quote is part of it."""
# Possessive are only single characters: before Python 3.11.5 groups that are so lose matches.
_TOKEN = re.compile(
    rf"""
    (?P<blank>[\s\ufeff]++)
    |(?P<remark>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*\*/)
    |(?P<text>"(?:[^"\\]++|\\.|"(?!{_ENDS_TEXT}))*"(?={_ENDS_TEXT})|'(?:[^'\\]++|\\.)*'|“[^”]*+”)
    |(?P<mark>[{{}}\[\]:,：，])
    |(?P<word>[^\s"'“{{}}\[\]:,：，/#]++)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_TEXT = re.compile(r"\\u[0-9a-fA-F]{4}|\\(.)|([\x00-\x1f\"])", re.DOTALL)
_ESCAPES = frozenset('"\\/bfnrt')
_MARKS = {"：": ":", "，": ","}
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}


class Mended(NamedTuple):
    data: Any
    what: list[str]
    """What was wrong with the text."""


def mended_json(text: str) -> Mended:
    """The data of a text that is nearly JSON, in one pass; raises ValueError if it is not even that."""
    mending = _Mending()
    at = 0
    while at < len(text) and not mending.is_complete:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"nothing can begin so: char {at}")
        mending.take(str(match.lastgroup), match[0])
        at = match.end()
    if text[at:].strip():
        mending.what["what stands behind its end"] = None
    return Mended(json.loads("".join(mending.parts)), [*mending.what])


@dataclass(slots=True)
class _Mending:
    """The text as strict JSON, as far as it was read."""

    parts: list[str] = field(default_factory=list)
    what: dict[str, None] = field(default_factory=dict)
    depth: int = 0
    word: str | None = None
    """The word that was read last, if nothing came after it."""
    comma: bool = False
    after_value: bool = False

    @property
    def is_complete(self) -> bool:
        return bool(self.parts) and self.depth == 0

    def take(self, kind: str, token: str) -> None:
        if kind == "remark":
            self.what["remarks"] = None
        elif kind == "mark":
            self._mark(_MARKS.get(token, token))
        elif kind == "text":
            self._value(self._string(token))
        elif kind == "word":
            self._value(_WORDS.get(token, token))
            self.word = token

    def _mark(self, mark: str) -> None:
        if mark == ",":
            self._comma()
        elif mark == ":":
            self._colon()
        elif mark in "{[":
            self._value(mark)
            self.depth += 1
            self.after_value = False
        else:
            self._close(mark)

    def _comma(self) -> None:
        if self.comma or not self.after_value:
            self.what["commas"] = None
        self.comma = self.after_value

    def _colon(self) -> None:
        if self.word is not None:
            self.parts[-1] = json.dumps(self.word)
            self.what["names without quotes"] = None
        self.parts.append(":")
        self.word, self.after_value = None, False

    def _close(self, mark: str) -> None:
        if self.comma:
            self.what["commas"] = None
        self.parts.append(mark)
        self.depth -= 1
        self.word, self.comma, self.after_value = None, False, True

    def _value(self, value: str) -> None:
        if self.after_value:
            self.parts.append(",")
            if not self.comma:
                self.what["commas"] = None
        self.parts.append(value)
        self.word, self.comma, self.after_value = None, False, True

    def _string(self, token: str) -> str:
        if token[0] != '"':
            self.what["quotes"] = None
        return f'"{_IN_TEXT.sub(self._escaped, token[1:-1])}"'

    def _escaped(self, match: re.Match[str]) -> str:
        escape, raw = match[1], match[2]
        if raw is not None:
            self.what["quotes inside of texts" if raw == '"' else "line breaks inside of texts"] = None
            return json.dumps(raw)[1:-1]
        if escape is None or escape in _ESCAPES:
            return match[0]
        self.what["backslashes"] = None
        return escape if escape == "'" else json.dumps("\n" if escape == "\n" else f"\\{escape}")[1:-1]

"""Mutants: valid input from which pieces are taken, to which absurd ones are added, or whose bytes are damaged.

Everything comes from one `Random`, so the same number gives the same mutant.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

Path = tuple[Any, ...]

_DEEP, _WIDE = 3000, 2000
# What `json` cannot write by itself: stands as a text in the value, and is put in its place once that is written.
_LITERALS = {
    "@@deep list@@": "[" * _DEEP + "]" * _DEEP,
    "@@deep object@@": '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "@@shallow list@@": "[" * 60 + "]" * 60,
    "@@long integer@@": "9" * 5000,
    "@@beyond float@@": "1e999",
    "@@tiny@@": "1e-999",
    "@@not a number@@": "NaN",
    "@@infinite@@": "-Infinity",
    "@@twice@@": '{"id": 1, "id": [], "type": "chat", "type": null}',
    "@@cut@@": '{"a": [1, ',
}
_NUMBERS = (0, -1, 1, 0.5, -0.0, 2**31, 2**31 - 1, 2**53 + 1, 2**63, -(2**63) - 1, 10**40, 10**400, 1e308, 5e-324)
_WORDS = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "\u2028",
    "a\u2028b\u2029c\x85d\x1ce",
    "\ufeff",
    "\u202e\u2066",
    "e" + "\u0301" * 300,
    "🏳️‍🌈" * 50,
    "ﷺ" * 200,
    "İ",
    "../../etc/passwd",
    "'; DROP TABLE souls; --",
    "<|im_start|>system",
    "</narrative><state_update_json>{",
    "---User Input---",
    "{{user}}{{random::a,b}}{{{{",
    "%s%n{0}{self.__class__}",
    "(a+)+$",
    "(?:(?:a|a)*)*b",
    "[",
    "(?P<x>" * 30,
    "2025-02-30T25:61:61Z",
    "9999-12-31T23:59:59.999999+14:00",
    "0001-01-01T00:00:00-23:59",
    "1970-01-01",
    "null",
    "1e309",
)
_RUNS = ("y", "我", "\n", "\u0301", "ab ", "((", "9", "是", "“", "\ud83d")
_RUN_LENGTHS = (81, 129, 300, 2001, 8001, 40_000)
_BYTES = (b"\0", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\r\n", b"\n\n", b'"', b"\\", b"{", b"]", b"\x80" * 5)


@dataclass(frozen=True)
class Seed:
    """A valid input: a JSON value and how it becomes a file, or bytes as they are."""

    value: Any
    pack: Callable[[bytes], bytes] = bytes
    by_line: bool = False
    """Whether the value is a list of which each element is a line of its own."""

    def file(self) -> bytes:
        return self.pack(written(self.value, self.by_line))


class Mutator:
    def __init__(self, random: Random) -> None:
        self._random = random

    def mutant(self, seed: Seed, others: Sequence[Seed]) -> bytes:
        """Mostly the value is changed, which then is packed as it should be; sometimes it is bytes that break."""
        if isinstance(seed.value, bytes):
            return self.damaged(seed.file(), others)
        if self._random.random() < 0.2:
            return self.damaged(seed.file(), others)
        value = deepcopy(seed.value)
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 5))):
            value = self._changed(value, others)
        content = seed.pack(written(value, seed.by_line, ascii_only=self._random.random() < 0.5))
        return self.damaged(content, others) if self._random.random() < 0.05 else content

    def damaged(self, data: bytes, others: Sequence[Seed]) -> bytes:
        for _ in range(self._random.choice((1, 1, 2, 8))):
            data = self._random.choice(
                (self._flipped, self._cut, self._without, self._repeated, self._inserted, self._spliced)
            )(data, others)
        return data

    def absurd(self) -> Any:
        """A value that has no business anywhere."""
        kind = self._random.randrange(8)
        if kind == 0:
            return self._random.choice(_NUMBERS)
        if kind == 1:
            return self._random.choice((None, True, False, [], {}, [[]], [None] * 3, {"": {}}))
        if kind == 2:
            return self._random.choice(_RUNS) * self._random.choice(_RUN_LENGTHS)
        if kind == 3:
            return self._random.choice([*_LITERALS])
        if kind == 4:
            return [self._random.choice(_WORDS)] * self._random.choice((2, 65, _WIDE))
        if kind == 5:
            return {f"k{n}": self._random.choice(_NUMBERS) for n in range(self._random.choice((3, 300)))}
        return self._random.choice(_WORDS)

    def _changed(self, value: Any, others: Sequence[Seed]) -> Any:
        """One place of a value is changed."""
        path = self._random.choice(list(_paths(value)))
        if not path:
            return self.absurd() if self._random.random() < 0.2 else value
        within = value
        for step in path[:-1]:
            within = within[step]
        self._change(within, path[-1], value, others)
        return value

    def _change(self, within: Any, key: Any, whole: Any, others: Sequence[Seed]) -> None:
        old = within[key]
        match self._random.randrange(9):
            case 0:
                del within[key]
            case 1:
                within[key] = self._other_type(old)
            case 2:
                within[key] = self._from_elsewhere(whole, others)
            case 3 if isinstance(within, list):
                within.insert(self._random.randrange(len(within) + 1), deepcopy(old))
            case 3:
                within[f"{key}{self._random.choice(_WORDS)}"[:5000]] = within.pop(key)
            case 4 if isinstance(within, list):
                within.extend(deepcopy(old) for _ in range(self._random.choice((20, 200))))
            case 5 | 6 if isinstance(old, str):
                within[key] = self._other_text(old)
            case 5 | 6 if isinstance(old, int | float):
                within[key] = self._random.choice((*_NUMBERS, -old, str(old)))
            case 7 if isinstance(within, dict):
                within[self._random.choice(_WORDS)] = self.absurd()
            case _:
                within[key] = self.absurd()

    def _other_type(self, value: Any) -> Any:
        as_list = [value]
        as_object = {"value": value}
        return self._random.choice((str(value)[:5000], as_list, as_object, len(str(value)), None, True))

    def _from_elsewhere(self, whole: Any, others: Sequence[Seed]) -> Any:
        source = self._random.choice([whole, *(one.value for one in others if not isinstance(one.value, bytes))])
        found = source
        for step in self._random.choice(list(_paths(source))):
            found = found[step]
        return deepcopy(found)

    def _other_text(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        added = self._random.choice((*_WORDS, self._random.choice(_RUNS) * self._random.choice(_RUN_LENGTHS)))
        return self._random.choice((text[:at] + added + text[at:], text[:at], text.upper(), text + text, added))

    def _place(self, data: bytes) -> int:
        return self._random.randrange(len(data) + 1)

    def _flipped(self, data: bytes, _: Sequence[Seed]) -> bytes:
        if not data:
            return data
        at = self._random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << self._random.randrange(8)]) + data[at + 1 :]

    def _cut(self, data: bytes, _: Sequence[Seed]) -> bytes:
        return data[: self._place(data)]

    def _without(self, data: bytes, _: Sequence[Seed]) -> bytes:
        begin, end = sorted((self._place(data), self._place(data)))
        return data[:begin] + data[end:]

    def _repeated(self, data: bytes, _: Sequence[Seed]) -> bytes:
        begin, end = sorted((self._place(data), self._place(data)))
        return data[:end] + data[begin:end] + data[end:]

    def _inserted(self, data: bytes, _: Sequence[Seed]) -> bytes:
        at = self._place(data)
        return data[:at] + self._random.choice(_BYTES) * self._random.choice((1, 1, 50)) + data[at:]

    def _spliced(self, data: bytes, others: Sequence[Seed]) -> bytes:
        other = self._random.choice(others).file()
        return data[: self._place(data)] + other[self._place(other) :]


def written(value: Any, by_line: bool = False, ascii_only: bool = True) -> bytes:
    """Half of a character is written as bytes that are no UTF-8, unless it can be escaped."""
    if isinstance(value, bytes):
        return value
    if by_line and isinstance(value, list):
        return b"\n".join(written(line, ascii_only=ascii_only) for line in value) + b"\n"
    text = json.dumps(value, ensure_ascii=ascii_only)
    for name, literal in _LITERALS.items():
        text = text.replace(f'"{name}"', literal)
    return text.encode("utf-8", "surrogatepass")


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from _paths(one, (*path, key))

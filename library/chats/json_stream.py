"""Reads a JSON list one element at a time: an export may be larger than the memory."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

MAX_ELEMENT = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_BETWEEN = re.compile(r"[\s,]*")


class Damaged(ValueError):
    """The JSON ends or breaks here; what came before it was read."""


def elements(file: IO[bytes]) -> Iterator[Any]:
    """The elements of a list; anything else is one element by itself. Raises Damaged where it cannot go on."""
    text = _Text(file)
    if text.peek() != "[":
        yield text.value()
        return
    text.skip()
    while (letter := text.peek()) != "]":
        if not letter:
            raise Damaged("the list has no end")
        yield text.value()


class _Text:
    """The text of a file, of which only what is being read is in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._json = json.JSONDecoder()

    def peek(self) -> str:
        """The next letter that is neither blank nor a comma; empty at the end."""
        while True:
            self._at = _BETWEEN.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer) or self._ended:
                return self._buffer[self._at : self._at + 1]
            self._read()

    def skip(self) -> None:
        self._at += 1

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, self._at = self._json.raw_decode(self._buffer, self._at)
            except RecursionError as error:
                raise Damaged("it is nested too deeply") from error
            except ValueError as error:
                if self._ended or len(self._buffer) - self._at > MAX_ELEMENT:
                    raise Damaged(str(error)) from error
                self._read()
            else:
                return value

    def _read(self) -> None:
        """Read on, each time as much as there is already: an element is tried a few times only, however long it is."""
        self._buffer = self._buffer[self._at :]
        self._at = 0
        chunk = self._file.read(max(_CHUNK, len(self._buffer)))
        self._ended = not chunk
        try:
            self._buffer += self._decode(chunk, self._ended)
        except UnicodeDecodeError as error:
            raise Damaged("it is not UTF-8") from error

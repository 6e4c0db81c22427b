"""Finds out how the text of a file is encoded: UTF-8, UTF-16, or what editors of East Asia wrote before."""

import json
from typing import NamedTuple

from soulgraph.errors import InvalidInput

_SAMPLE = 4000
_LIKELY = 0.7
"""The share of common letters from which on a text is taken for one in that encoding."""
_OLDER: dict[str, tuple[str, tuple[range, ...]]] = {
    "gb18030": ("gb2312", (range(0xA1, 0xA4), range(0xB0, 0xD8))),
    "big5": ("big5", (range(0xA1, 0xC7),)),
    "shift_jis": ("shift_jis", (range(0x81, 0x85), range(0x88, 0x99))),
}
"""Encodings, with the narrower one of their common letters, and the first bytes of those."""


class Decoded(NamedTuple):
    text: str
    notes: tuple[str, ...] = ()


def decode_text(content: bytes, what: str = "the file") -> Decoded:
    """The text of a file, without its byte order mark; raises InvalidInput if no encoding fits."""
    encoding = json.detect_encoding(content[:4])
    try:
        return Decoded(content.decode(encoding).removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        failed = error
    if encoding.startswith("utf-8") and (older := _likeliest(content)):
        note = f"{what} is in {older.upper()} and not in UTF-8: save it as UTF-8 if letters of it are wrong"
        return Decoded(content.decode(older), (note,))
    name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
    raise InvalidInput(f"{what} is not {name}: {failed}: save it as UTF-8") from failed


def _likeliest(content: bytes) -> str | None:
    """The older encoding that most letters of a text speak for; None if none is likely."""
    shares = {encoding: _share_of_common(content, encoding) for encoding in _OLDER}
    best = max(shares, key=lambda encoding: shares[encoding])
    return best if shares[best] >= _LIKELY else None


def _share_of_common(content: bytes, encoding: str) -> float:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    letters = [letter for letter in text if letter > "\x7f"][:_SAMPLE]
    return sum(_is_common(letter, encoding) for letter in letters) / max(len(letters), 1)


def _is_common(letter: str, encoding: str) -> bool:
    narrower, firsts = _OLDER[encoding]
    encoded = letter.encode(narrower, "ignore")
    return len(encoded) == 2 and any(encoded[0] in first for first in firsts)

"""Maps characters to the lower-case ASCII characters they look like, position for position."""

import re
import unicodedata

_LOOK_LIKE = {
    "a": "аαɑᴀ",
    "b": "вᴃ",
    "c": "сϲᴄ",
    "d": "ԁժᴅ",
    "e": "еεєҽ℮ᴇ",
    "g": "ɡցԍ",
    "h": "һհнʜ",
    "i": "іιıɪӏɩ",
    "j": "јϳᴊ",
    "l": "ⅼʟ",
    "m": "мᴍ",
    "n": "пηոɴ",
    "o": "оοօσᴏ",
    "p": "рρᴘ",
    "r": "гʀᴦ",
    "s": "ѕꜱ",
    "t": "тτᴛ",
    "u": "υսᴜ",
    "v": "ѵνᴠ",
    "w": "ѡԝᴡ",
    "x": "хχ",
    "y": "уγʏ",
    "<": "‹〈⟨❮❬❰˂ᐸ《«⟪≺⧼⦑⪡",
    ">": "›〉⟩❯❭❱˃ᐳ》»⟫≻⧽⦒⪢",
    "[": "【〔〖⟦",
    "]": "】〕〗⟧",
    "/": "∕⁄⧸╱",
    "_": "ˍ‿",
    "|": "│┃∣ǀ",
    ":": "∶ː꞉",
    "-": "‐‑‒–—―−⁃─━┄┅┈┉╌╍═ー⸺⸻⎯⏤▬➖",
}
LONG_DASHES = "—―─━═⸺⸻⎯⏤▬➖"
MARK = "\0"
"""Replaces a combining accent, so that positions stay the same."""

_PLAIN = {ord(char): plain for plain, chars in _LOOK_LIKE.items() for char in chars}
_PICTURE = "[\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff\ufe0f]"
_HIDDEN = (
    "\\x00-\\x08\\x0e-\\x1b\\x1f\\x7f-\\x84\\x86-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_HIDDEN}]|(?<!{_PICTURE})[\u200d\ufe0f]|\u200d(?!{_PICTURE})")
_ENDS = "\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_LINE_ENDS = re.compile(f"\r\n?|[{_ENDS}]")
_SUSPECT = re.compile(f"[{_HIDDEN}{_ENDS}\r\u200d\ufe0f]")


class _Shadows(dict[int, str]):
    """A translation table that is filled as characters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = shadow = _shadow_of(chr(code))
        return shadow


def _shadow_of(char: str) -> str:
    bare = [part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part)]
    if not bare:
        return MARK
    lowered = (bare[0] if len(bare) == 1 else char).lower()
    return _PLAIN.get(ord(lowered), lowered) if len(lowered) == 1 else char


_SHADOWS = _Shadows()


def shadow(text: str) -> str:
    """The text in look-alike ASCII; of the same length, so that positions are valid in both."""
    return text.lower() if text.isascii() else text.translate(_SHADOWS)


def visible(text: str) -> str:
    """The text without invisible characters (zero width, direction, control), with "\\n" for every line end.

    Joiners stay inside emoji, which are made with them.
    """
    if not _SUSPECT.search(text):
        return text
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))

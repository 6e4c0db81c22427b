"""Maps characters to the lower-case ASCII characters they look like, position for position.

Unicode's table of confusables (UTS 39) says which those are. It speaks of letters in one font; `_LOOK_LIKE` adds what
a reader or a model takes for the sign none the less, and comes first.
"""

import html
import re
import string
import sys
import unicodedata
from functools import cache
from urllib.parse import unquote

_LOOK_LIKE = {
    "a": "ⲁаαɑᴀᗩᎯ",
    "b": "вᴃᗷ",
    "c": "сϲᴄᑕ",
    "d": "ԁժᴅᗪ",
    "e": "ⲉеεєҽ℮ᴇᗴᘿᕮ",
    "f": "ᖴ",
    "g": "ɡցԍᎶ",
    "h": "һհнʜᕼ",
    "i": "іιıɪӏɩᏆ",
    "j": "јϳᴊᒍյ",
    "k": "кᴋᛕ",
    "l": "ⅼʟᒪ",
    "m": "мᴍᗰ",
    "n": "пηոɴᑎᏁ",
    "o": "оοօσᴏᎾᏫ",
    "p": "рρᴘᑭ",
    "r": "гʀᴦᖇᏒ",
    "s": "ѕꜱſᔕᎦ",
    "t": "ⲧтτᴛ",
    "u": "υսᴜᑌ",
    "v": "ѵνᴠᐯᏙ",
    "w": "ѡԝᴡᗯ",
    "x": "хχ",
    "y": "уγʏ丫",
    "<": "‹〈⟨❮❬❰˂ᐸ《«⟪≺⧼⦑⪡⊰⋖≪⋘◁◀◂⯇⮜ᚲ᚜",
    ">": "›〉⟩❯❭❱˃ᐳ》»⟫≻⧽⦒⪢⊱⋗≫⋙▷▶▸⯈⮞᚛",
    "[": "【〔〖⟦⟮⦋⦍⦏⁅⸢",
    "]": "】〕〗⟧⟯⦌⦎⦐⁆⸣",
    "/": "∕⁄⧸╱",
    "_": "ˍ‿⎽",
    "|": "│┃∣ǀ❘❙❚⏐丨╎╏┆┇┊┋¦‖║∥ㅣᅵ",
    ":": "∶ː꞉፡፥፦᠄⁝⦂⁏",
    "#": "⋕♯⌗⧣",
    " ": "\u2800",
    "系": "糸係繫",
    "统": "統",
    "户": "戶戸",
    "开": "開",
    "发": "發発",
    "员": "員",
    "词": "詞",
    "-": "‐‑‒–—―−⁃─━┄┅┈┉╌╍═ー゠⚊ꟷ⸺⸻⎯⏤▬➖ㅡᅳ﹉﹊‾¯˗╴╶╸╺╼╾",
}
_SIGNS = "<>[]/_|:-#=*~"
_OUTLINED_A = 0x1CCD6  # younger than the Unicode that Python knows
LONG_DASHES = "—―─━═⸺⸻⎯⏤▬➖"
MARK = "\0"
"""Replaces a combining accent, so that positions stay the same."""

# Letters that Unicode names and does not decompose: negative circled, turned, with a hook or a stroke.
_NAMED = re.compile(r"(?:.*LATIN .*LETTER(?: \w+){0,2}|REGIONAL INDICATOR SYMBOL LETTER) ([A-Z])(?: WITH .+)?")
_BRACKET = re.compile(r"(?!.*CORNER).*BRACKET")
_WAVES = "〜〰"
_PICTURE = "[\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff\ufe0f]"
_HIDDEN = (
    "\\x00-\\x08\\x0e-\\x1b\\x1f\\x7f-\\x84\\x86-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
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


@cache
def _plain() -> dict[str, str]:
    """What each character looks like; read when the first text comes that is not ASCII."""
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    plain = {char: sign for sign, chars in _LOOK_LIKE.items() for char in chars}
    plain |= {chr(_OUTLINED_A + n): letter for n, letter in enumerate(string.ascii_lowercase)}
    for sign in string.ascii_letters + _SIGNS:
        for entry in confusables_data.get(sign, ()):
            char = entry["c"].strip("\u200e")  # around letters that are written from right to left
            if len(char) == 1 and not char.isascii():
                # One row of the table has everything that is a vertical stroke.
                plain.setdefault(char, "|" if sign == "l" and not char.isalnum() else sign.lower())
    return plain


def _shadow_of(char: str) -> str:
    bare = [part for part in unicodedata.normalize("NFKD", char) if not unicodedata.category(part).startswith("M")]
    if not bare:
        return MARK
    alike = char if len(bare) > 1 else bare[0]
    looks = next((_plain()[form] for form in (char, alike, alike.lower(), alike.upper()) if form in _plain()), None)
    if looks:
        return looks
    if not alike.isascii() and (named := _named(alike)):
        return named
    lowered = alike.lower()
    return lowered if len(lowered) == 1 else char


def _named(char: str) -> str:
    """What Unicode calls a letter, a dash or a bracket; empty if it is none."""
    name, category = unicodedata.name(char, ""), unicodedata.category(char)
    if letter := _NAMED.fullmatch(name):
        return letter[1].lower()
    if category == "Pd" and char not in _WAVES:
        return "-"
    signs = {"Ps": "[", "Pe": "]"} if _BRACKET.match(name) else {}
    return signs.get(category, "")


_SHADOWS = _Shadows()
# Signs of several letters: ﬆ, ⅳ, ǆ, ㏌.
_LIGATURE = re.compile("[\u0132\u0133\u01c4-\u01cc\u01f1-\u01f3\u2160-\u217f\u3371-\u33df\ufb00-\ufb06]")
_ESCAPED = re.compile(r"%[2-7][0-9a-f]", re.IGNORECASE)
_BACKSLASHED = re.compile(
    r"\\(?:u\{(?P<a>[0-9a-f]{1,6})\}|(?-i:U)(?P<b>[0-9a-f]{8})|u(?P<c>[0-9a-f]{4})|x(?P<d>[0-9a-f]{2})|(?P<octal>[0-7]{3})"
    r"|0{0,4}(?P<e>[2-7][0-9a-f])[ ]|(?P<sign>[<>_|:#*\[\]-]))",
    re.IGNORECASE,
)
_MAX_ESCAPES = 4  # of an escape


# A space with a stroke through, over or under it.
_DRAWN_DASH = re.compile("[ \u00a0][\u0304\u0305\u0331\u0332\u0335\u0336]")


def shadow(text: str) -> str:
    """The text in look-alike ASCII; of the same length, so that positions are valid in both."""
    return text.lower() if text.isascii() else _DRAWN_DASH.sub("--", text).translate(_SHADOWS)


def _unescaped(found: re.Match[str]) -> str:
    if found["sign"]:
        return found["sign"]
    code = int(found["octal"], 8) if found["octal"] else int(next(filter(None, found.group(*"abcde"))), 16)
    return chr(code) if code <= sys.maxunicode and not 0xD800 <= code < 0xE000 else found[0]


def spelled_out(text: str) -> str:
    """The text without escapes of HTML, addresses and programs, and with the letters of ligatures one by one."""
    for _ in range(_MAX_ESCAPES):
        plain = _ESCAPED.sub(lambda found: unquote(found[0]), html.unescape(text))
        plain = _BACKSLASHED.sub(_unescaped, plain)
        if plain == text:
            break
        text = plain
    return _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), visible(text))


def visible(text: str) -> str:
    """The text without invisible characters (zero width, direction, control), with "\\n" for every line end.

    Joiners stay inside emoji, which are made with them.
    """
    if not _SUSPECT.search(text):
        return text
    return _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))

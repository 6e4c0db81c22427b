"""Keeps back a reply that is only copied, while it streams: a secret text, or a line of the talk so far."""

import re
from collections.abc import Sequence
from functools import lru_cache

from soulgraph.voices.guards import FINE, STRIDE

_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_CJK_WEIGHT = 3  # a Chinese character says about as much as three letters

_HOLD_COPIED, _MAX_COPIED = 24, 48  # weight of words taken from a secret text from which they are held back, refused
_MIN_RUN = _HOLD_COPIED // _CJK_WEIGHT  # letters of a secret, where anything is held back
_MIN_LINE = 20  # weight of an earlier line below which saying it again is no copy: "good night"
_MAX_LINE = 400  # letters of a line that are compared
_OTHER = 0.25  # share of other letters, of a line or of what was said so far, with which it is still a copy
_FEW_OTHER, _FEW_OTHER_CJK = 1, 2  # other letters with which a reply may begin: more would delay its first word
_BAND = 4  # letters by which a reply may be behind or ahead of a line, until it needs more
_FAR = 10**6


class _FollowedLine:
    """How far a reply follows an earlier line: the edit distances of its letters to every beginning of the line.

    Only those are counted that differ from the reply in length by less than `_band`: all others are larger.
    """

    def __init__(self, line: str, exact: bool) -> None:
        self._line = line[:_MAX_LINE]
        self._is_cut = len(line) > _MAX_LINE
        self._few_other = 0 if exact else _FEW_OTHER_CJK if _CJK.search(line) else _FEW_OTHER
        self._other = 0.0 if exact else _OTHER
        self._said = ""
        self._distances: list[int] = []
        self._widen(_BAND)

    def step(self, letter: str) -> None:
        self._said += letter
        self._distances = self._next(self._distances, len(self._said), letter)

    @property
    def may_be_copy(self) -> bool:
        """Whether what was said so far is, but for few letters, a beginning of the line, or little more than it."""
        said = len(self._said)
        beyond = max(0, said - len(self._line))
        others = max(self._few_other, self._other * said)
        if beyond > _OTHER * len(self._line):
            return False
        return self._distance(others + beyond, to_end=beyond > 0) - beyond <= others

    @property
    def is_copy(self) -> bool:
        return self._distance(_OTHER * len(self._line), to_end=True) <= _OTHER * len(self._line)

    @property
    def is_surely_copy(self) -> bool:
        """Of a line that is longer than what is compared it need not be read to the end."""
        return self._is_cut and len(self._said) >= len(self._line) and self.is_copy

    def _distance(self, limit: float, to_end: bool) -> int:
        """That to the whole line, or the least to a beginning of it; if it is beyond the limit, anything that is."""
        while (found := self._in_band(to_end)) > self._band < limit:
            self._widen(2 * self._band)
        return found

    def _in_band(self, to_end: bool) -> int:
        if not to_end:
            return min(self._distances)
        at = len(self._line) - len(self._said) + self._band
        return self._distances[at] if 0 <= at < len(self._distances) else _FAR

    def _widen(self, band: int) -> None:
        self._band = band
        self._distances = [at if at >= 0 else _FAR for at in range(-band, band + 1)]
        for place, letter in enumerate(self._said, 1):
            self._distances = self._next(self._distances, place, letter)

    def _next(self, before: list[int], said: int, letter: str) -> list[int]:
        """The distances with one letter more. They stand in the order of the beginnings' lengths, that as long as what
        was said in the middle."""
        size = 2 * self._band + 1
        distances = [_FAR] * min(self._band - said, size) + [said] if said <= self._band else []
        last = distances[-1] if distances else _FAR
        at = len(distances)
        length = said - self._band + at
        longer = [*before[at + 1 :], _FAR]
        for own, same, deleted in zip(self._line[length - 1 : said + self._band], before[at:], longer, strict=False):
            last = min(same + (own != letter), deleted + 1, last + 1)
            distances.append(last)
        return distances + [_FAR] * (size - len(distances))


class CopyGuard:
    """`copied` says what the reply copies: a secret text, wherever it does, or an earlier line, as a whole.

    A line is copied also with some other letters, unless it has to be `exact`.
    """

    def __init__(self, secrets: Sequence[str] = (), lines: Sequence[str] = (), exact: bool = False) -> None:
        self._corpus = "\0".join(_letters_of(text) for text in secrets)
        letters = [folded for line in lines if _weight(folded := _letters_of(line)) >= _MIN_LINE]
        self._lines = [_FollowedLine(line, exact) for line in letters]  # those that may still turn out to be copied
        self._held = self._run = self._recent = ""
        self._places: list[int] = []  # where each letter stands in what is held back
        self._seen = 0
        self.copied = ""

    def feed(self, piece: str) -> str:
        """As by character, like loops; what is longer than `FINE` is no copy of a line, and is shown as it comes."""
        fine = max(0, FINE - self._seen)
        self._seen += len(piece)
        if len(piece) <= min(fine, STRIDE):  # as tokens are
            return self._feed_finely(piece)
        text = "".join(self._feed_finely(piece[at : at + STRIDE]) for at in range(0, min(fine, len(piece)), STRIDE))
        return text if self.copied or not (coarse := piece[fine:]) else text + self._show(len(self._held)) + coarse

    def close(self) -> str:
        if not self.copied and any(line.is_copy for line in self._lines):
            self.copied = "line"
        return "" if self.copied else self._show(len(self._held))

    def _feed_finely(self, piece: str) -> str:
        if self.copied:
            return ""
        if self._lines or self._held or self._may_recite(letters := _letters(piece)):
            return "".join(map(self._step, piece))
        self._recent = (self._recent + letters)[-_HOLD_COPIED:]
        return piece

    def _may_recite(self, letters: str) -> bool:
        """Whether a run that is held back may end at one of these letters: then those are in a secret that all such
        runs have."""
        if not self._corpus or not letters:
            return False
        text = self._recent + letters
        first = len(text) - (_HOLD_COPIED if text.isascii() else _MIN_RUN)
        return first >= 0 and text[first : len(self._recent) + 1] in self._corpus

    def _step(self, character: str) -> str:
        if self.copied:
            return ""
        for letter in _letters(character):
            self._places.append(len(self._held))
            self._extend_run(letter)
            self._follow_lines(letter)
        self._held += character
        if _weight(self._run) >= _MAX_COPIED:
            self.copied = "secret"
        elif any(line.is_surely_copy for line in self._lines):
            self.copied = "line"
        return "" if self.copied else self._show(self._clear_to())

    def _show(self, end: int) -> str:
        if not end:
            return ""
        text, self._held = self._held[:end], self._held[end:]
        self._places = [at - end for at in self._places if at >= end]
        return text

    def _extend_run(self, letter: str) -> None:
        """Keep the longest end of the reply that occurs in a secret text."""
        self._recent = (self._recent + letter)[-_HOLD_COPIED:]
        self._run = self._run + letter if len(self._run) >= _HOLD_COPIED else self._recent
        while self._run and self._run not in self._corpus:
            self._run = self._run[1:]

    def _follow_lines(self, letter: str) -> None:
        for line in self._lines:
            line.step(letter)
        self._lines = [line for line in self._lines if line.may_be_copy]

    def _clear_to(self) -> int:
        """How much of what is held back is certainly no copy."""
        if self._lines:
            return 0
        if _weight(self._run) >= _HOLD_COPIED:
            return self._places[-len(self._run)] if len(self._run) <= len(self._places) else 0
        return len(self._held)


def _letters(text: str) -> str:
    """The text without anything but letters and digits, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


@lru_cache(maxsize=256)
def _letters_of(text: str) -> str:
    """Of what is compared with reply after reply."""
    return _letters(text)


def _weight(text: str) -> int:
    return len(text) + (_CJK_WEIGHT - 1) * len(_CJK.findall(text))

"""Guards over a reply while it streams: they keep back what goes in circles, and what is only copied.

Each takes pieces of the reply and returns those that may be shown. What could still turn out to be a repetition or a
copy is held back until it is clear, which in ordinary speech it nearly always is at once.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_FINE = 8000  # characters that are looked at one by one; no sane reply is longer
_CJK_WEIGHT = 3  # a Chinese character says about as much as three letters

_TAIL = 8  # characters that are looked for again to find a repetition
_MAX_UNIT = 160  # longest text whose repetition is noticed
_HOLD_REPEATED, _MAX_REPEATED = 24, 72  # characters of a repetition from which it is held back, and is a loop
_MIN_ROUNDS = 3
_WINDOW = (_MIN_ROUNDS + 1) * _MAX_UNIT

_HOLD_COPIED, _MAX_COPIED = 24, 48  # weight of words taken from a secret text from which they are held back, refused
_MIN_LINE = 20  # weight of an earlier line below which saying it again is no copy: "good night"
_MAX_LINE = 400  # letters of a line that are compared
_OTHER = 0.25  # share of other letters, of a line or of what was said so far, with which it is still a copy
_FEW_OTHER, _FEW_OTHER_CJK = 1, 2  # other letters with which a reply may begin: more would delay its first word


class NameLabel:
    """Takes the speaker's own name off the beginning of a reply, where a model writes it like "Mika: hello"."""

    def __init__(self, name: str) -> None:
        self._labels = [f"{name}{colon}" for colon in (":", "：")] if name else []
        self._held = ""

    def feed(self, piece: str) -> str:
        if not self._labels:
            return piece
        self._held += piece
        if any(label.startswith(self._held) and label != self._held for label in self._labels):
            return ""
        label = next((label for label in self._labels if self._held.startswith(label)), "")
        text = self._held.removeprefix(label)
        if label and not text.strip():  # the space behind the label
            return ""
        self._labels, self._held = [], ""
        return text.lstrip() if label else text

    def close(self) -> str:
        held, self._labels, self._held = self._held if self._labels else "", [], ""
        return "" if held.endswith((":", "：")) else held


class LoopGuard:
    """`looping` once the reply has repeated itself several times in a row; the repetitions are not shown."""

    def __init__(self) -> None:
        self._tail = ""  # of the whole text, as far as a loop can reach
        self._held = ""
        self._seen = 0
        self.looping = False

    def feed(self, piece: str) -> str:
        """By character, so that how the text is cut makes no difference; behind `_FINE` of them by piece."""
        fine, coarse = piece[: max(0, _FINE - self._seen)], piece[max(0, _FINE - self._seen) :]
        self._seen += len(piece)
        return "".join(map(self._step, fine)) + (self._feed_coarsely(coarse) if coarse else "")

    def _feed_coarsely(self, piece: str) -> str:
        if not self.looping:
            self._tail = (self._tail + piece)[-_WINDOW:]
            repeated, unit = self._repetition()
            self.looping = repeated >= _MAX_REPEATED and repeated >= _MIN_ROUNDS * unit
        text, self._held = self._held + piece, ""
        return "" if self.looping else text

    def close(self) -> str:
        text, self._held = self._held, ""
        return "" if self.looping else text

    def _step(self, character: str) -> str:
        if self.looping:
            return ""
        self._tail = (self._tail + character)[-_WINDOW:]
        self._held += character
        repeated, unit = self._repetition()
        self.looping = repeated >= _MAX_REPEATED and repeated >= _MIN_ROUNDS * unit
        held = repeated - unit if repeated >= max(_HOLD_REPEATED, 2 * unit) else 0
        return self._show(len(self._held) - held)

    def _show(self, length: int) -> str:
        if length <= 0:
            return ""
        text, self._held = self._held[:length], self._held[length:]
        return text

    def _repetition(self) -> tuple[int, int]:
        """(length of all rounds, length of one) of the longest repetition at the end of the text, or zeros."""
        runs = [(unit + self._same(unit), -unit) for unit in self._units()]
        repeated, unit = max(runs, default=(0, 0))
        return repeated, -unit

    def _units(self) -> Iterator[int]:
        """How far back the last letters have been said before."""
        end = len(self._tail)
        last = self._tail[-_TAIL:]
        at = end - _TAIL if end > _TAIL else -1
        while at > 0 and (at := self._tail.rfind(last, max(0, end - _TAIL - _MAX_UNIT), at + _TAIL - 1)) >= 0:
            yield end - _TAIL - at

    def _same(self, unit: int) -> int:
        """How many letters at the end are the same as those one unit before."""
        text = self._tail
        return sum(1 for _ in takewhile(lambda at: text[at] == text[at - unit], range(len(text) - 1, unit - 1, -1)))


class _FollowedLine:
    """How far a reply follows an earlier line: the edit distances of its letters to every beginning of the line."""

    def __init__(self, line: str, exact: bool) -> None:
        self._line = line[:_MAX_LINE]
        self._is_cut = len(line) > _MAX_LINE
        self._few_other = 0 if exact else _FEW_OTHER_CJK if _CJK.search(line) else _FEW_OTHER
        self._other = 0.0 if exact else _OTHER
        self._distances = list(range(len(self._line) + 1))
        self._said = 0

    def step(self, letter: str) -> None:
        before = self._distances
        self._said += 1
        self._distances = [self._said]
        for at, own in enumerate(self._line):
            self._distances.append(min(before[at] + (own != letter), before[at + 1] + 1, self._distances[at] + 1))

    @property
    def may_be_copy(self) -> bool:
        """Whether what was said so far is, but for few letters, a beginning of the line, or little more than it."""
        beyond = max(0, self._said - len(self._line))
        others = min(self._distances) if not beyond else self._distances[-1] - beyond
        return others <= max(self._few_other, self._other * self._said) and beyond <= _OTHER * len(self._line)

    @property
    def is_copy(self) -> bool:
        return self._distances[-1] <= _OTHER * len(self._line)

    @property
    def is_surely_copy(self) -> bool:
        """Of a line that is longer than what is compared it need not be read to the end."""
        return self._is_cut and self._said >= len(self._line) and self.is_copy


class CopyGuard:
    """`copied` says what the reply copies: a secret text, wherever it does, or an earlier line, as a whole.

    A line is copied also with some other letters, unless it has to be `exact`.
    """

    def __init__(self, secrets: Sequence[str] = (), lines: Sequence[str] = (), exact: bool = False) -> None:
        self._corpus = "\0".join(_letters(text) for text in secrets)
        letters = [folded for line in lines if _weight(folded := _letters(line)) >= _MIN_LINE]
        self._lines = [_FollowedLine(line, exact) for line in letters]  # those that may still turn out to be copied
        self._text = self._run = ""
        self._places: list[int] = []  # where each letter stands in the text
        self._shown = self._seen = 0
        self.copied = ""

    def feed(self, piece: str) -> str:
        """By character, as the loops; what is longer than `_FINE` is no copy of a line, and is shown as it comes."""
        fine, coarse = piece[: max(0, _FINE - self._seen)], piece[max(0, _FINE - self._seen) :]
        self._seen += len(piece)
        text = "".join(map(self._step, fine))
        if not coarse or self.copied:
            return text
        text += self._show(len(self._text)) + coarse
        return text

    def _step(self, character: str) -> str:
        if self.copied:
            return ""
        for letter in _letters(character):
            self._places.append(len(self._text))
            self._extend_run(letter)
            self._follow_lines(letter)
        self._text += character
        if _weight(self._run) >= _MAX_COPIED:
            self.copied = "secret"
        elif any(line.is_surely_copy for line in self._lines):
            self.copied = "line"
        return "" if self.copied else self._show(self._clear_to())

    def close(self) -> str:
        if not self.copied and any(line.is_copy for line in self._lines):
            self.copied = "line"
        return "" if self.copied else self._show(len(self._text))

    def _show(self, end: int) -> str:
        text = self._text[self._shown : end]
        self._shown = max(self._shown, end)
        return text

    def _extend_run(self, letter: str) -> None:
        """Keep the longest end of the reply that occurs in a secret text."""
        self._run += letter
        while self._run and self._run not in self._corpus:
            self._run = self._run[1:]

    def _follow_lines(self, letter: str) -> None:
        for line in self._lines:
            line.step(letter)
        self._lines = [line for line in self._lines if line.may_be_copy]

    def _clear_to(self) -> int:
        """How much of the text is certainly no copy."""
        if self._lines:
            return 0
        if _weight(self._run) >= _HOLD_COPIED:
            return self._places[-len(self._run)]
        return len(self._text)


def _letters(text: str) -> str:
    """The text without anything but letters and digits, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


def _weight(text: str) -> int:
    return len(text) + (_CJK_WEIGHT - 1) * len(_CJK.findall(text))

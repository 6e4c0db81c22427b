"""Guards over a reply while it streams: they keep back what goes in circles, and what is only copied.

Each takes pieces of the reply and returns those that may be shown. What could still turn out to be a repetition or a
copy is held back until it is clear, which in ordinary speech it nearly always is at once.
"""

from collections.abc import Iterator

FINE = 8000  # characters that are looked at one by one; no sane reply is longer

_TAIL = 8  # characters that are looked for again to find a repetition
_MAX_UNIT = 160  # longest text whose repetition is noticed
_HOLD_REPEATED, _MAX_REPEATED = 24, 72  # characters of a repetition from which it is held back, and is a loop
_MIN_ROUNDS = 3
_WINDOW = (_MIN_ROUNDS + 1) * _MAX_UNIT
_MIN_SAME = _HOLD_REPEATED // 2  # characters that are the same as those one round before, where anything is held back
STRIDE = 5  # characters that are looked at together while nothing is held back


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
        """As by character, so that how the text is cut makes no difference; behind `FINE` of them by piece."""
        fine = max(0, FINE - self._seen)
        self._seen += len(piece)
        if len(piece) <= fine:
            return self._feed_finely(piece)
        return self._feed_finely(piece[:fine]) + self._feed_coarsely(piece[fine:])

    def close(self) -> str:
        text, self._held = self._held, ""
        return "" if self.looping else text

    def _feed_finely(self, piece: str) -> str:
        if self.looping:
            return ""
        text, shown = self._tail + piece, ""
        for begin in range(len(self._tail), len(text), STRIDE):
            end = min(begin + STRIDE, len(text))
            if _may_repeat(text, begin, end):
                shown += "".join(self._step(text, at) for at in range(begin, end))
            elif not self.looping:
                shown += self._held + text[begin:end]
                self._held = ""
        self._tail = text[-_WINDOW:]
        return shown

    def _feed_coarsely(self, piece: str) -> str:
        if not piece:
            return ""
        if not self.looping:
            self._tail = (self._tail + piece)[-_WINDOW:]
            self._note(*_repetition(self._tail, len(self._tail)))
        text, self._held = self._held + piece, ""
        return "" if self.looping else text

    def _step(self, text: str, at: int) -> str:
        if self.looping:
            return ""
        self._held += text[at]
        if not _repeats(text, at + 1):
            return self._show(len(self._held))
        repeated, unit = _repetition(text, at + 1)
        self._note(repeated, unit)
        held = repeated - unit if repeated >= max(_HOLD_REPEATED, 2 * unit) else 0
        return self._show(len(self._held) - held)

    def _note(self, repeated: int, unit: int) -> None:
        self.looping = repeated >= _MAX_REPEATED and repeated >= _MIN_ROUNDS * unit

    def _show(self, length: int) -> str:
        if length <= 0:
            return ""
        text, self._held = self._held[:length], self._held[length:]
        return text


def _may_repeat(text: str, begin: int, end: int) -> bool:
    """Whether a repetition that is held back may end at one of the characters from `begin` to `end`.

    Each such end has `_MIN_SAME` characters before it that were said before; this looks for those that are part of all.
    """
    if end <= _MIN_SAME:
        return False
    first = end - _MIN_SAME
    return text.find(text[first : begin + 1], max(0, first - _MAX_UNIT), begin) >= 0


def _repeats(text: str, end: int) -> bool:
    """Whether a repetition that is held back may end here: what all of `_repetition` needs, for much less."""
    for unit in _units(text, max(0, end - _WINDOW), end, _MIN_SAME):
        last = end - max(unit, _HOLD_REPEATED - unit)
        if last >= unit and text[last:end] == text[last - unit : end - unit]:
            return True
    return False


def _repetition(text: str, end: int) -> tuple[int, int]:
    """(length of all rounds, length of one) of the longest repetition before `end`, or zeros."""
    begin = max(0, end - _WINDOW)
    runs = [(unit + _same(text, begin, end, unit), -unit) for unit in _units(text, begin, end, _TAIL)]
    repeated, unit = max(runs, default=(0, 0))
    return repeated, -unit


def _units(text: str, begin: int, end: int, size: int) -> Iterator[int]:
    """How far back the last letters, so many, have been said before."""
    at = end - size
    lowest = max(begin, at - _MAX_UNIT)
    last = text[max(begin, at) : end]
    while at > begin and (at := text.rfind(last, lowest, at + size - 1)) >= 0:
        yield end - size - at


def _same(text: str, begin: int, end: int, unit: int) -> int:
    """How many letters before `end` are the same as those one unit before."""
    known, most = 0, end - begin - unit
    while known < most:
        size = (known + most + 1) // 2
        if text[end - size : end] == text[end - size - unit : end - unit]:
            known = size
        else:
            most = size - 1
    return known

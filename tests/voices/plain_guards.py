"""The guards as they are meant: letter by letter, and without any thought of what that costs."""

from soulgraph.voices.copy_guard import _letters, _weight
from soulgraph.voices.guards import _MAX_UNIT, _TAIL, _WINDOW


class PlainLoopGuard:
    def __init__(self):
        self._text = self._held = ""
        self.looping = False

    def feed(self, piece):
        return "".join(map(self._step, piece))

    def close(self):
        return "" if self.looping else self._held

    def _step(self, character):
        if self.looping:
            return ""
        self._text = (self._text + character)[-_WINDOW:]
        self._held += character
        repeated, unit = max(((unit + self._same(unit), -unit) for unit in self._units()), default=(0, 0))
        self.looping = repeated >= 72 and repeated >= -3 * unit
        held = repeated + unit if repeated >= max(24, -2 * unit) else 0
        size = max(0, len(self._held) - held)
        shown, self._held = self._held[:size], self._held[size:]
        return shown

    def _units(self):
        last = self._text[-_TAIL:]
        ends = range(max(_TAIL, len(self._text) - _MAX_UNIT), len(self._text))
        return [len(self._text) - end for end in ends if self._text[end - _TAIL : end] == last]

    def _same(self, unit):
        same = 0
        while same < len(self._text) - unit and self._text[-1 - same] == self._text[-1 - same - unit]:
            same += 1
        return same


class PlainCopyGuard:
    """Of lines that are shorter than what is compared."""

    def __init__(self, secrets=(), lines=()):
        self._corpus = "\0".join(map(_letters, secrets))
        self._lines = {line: list(range(len(line) + 1)) for line in map(_letters, lines) if _weight(line) >= 20}
        self._text = self._said = self._run = ""
        self._places = []
        self._shown = 0
        self.copied = ""

    def feed(self, piece):
        return "".join(map(self._step, piece))

    def close(self):
        if not self.copied and any(row[-1] <= 0.25 * len(line) for line, row in self._lines.items()):
            self.copied = "line"
        return "" if self.copied else self._show(len(self._text))

    def _step(self, character):
        if self.copied:
            return ""
        for letter in _letters(character):
            self._places.append(len(self._text))
            self._said += letter
            self._run += letter
            while self._run and self._run not in self._corpus:
                self._run = self._run[1:]
            rows = {line: _next(row, self._said, line) for line, row in self._lines.items()}
            self._lines = {line: row for line, row in rows.items() if _may_be_copy(row, len(self._said), line)}
        self._text += character
        self.copied = "secret" if _weight(self._run) >= 48 else ""
        return "" if self.copied else self._show(self._clear_to())

    def _clear_to(self):
        if self._lines:
            return 0
        return self._places[-len(self._run)] if _weight(self._run) >= 24 else len(self._text)

    def _show(self, end):
        shown = self._text[self._shown : end]
        self._shown = max(self._shown, end)
        return shown


def _may_be_copy(distances, said, line):
    beyond = max(0, said - len(line))
    few_other = 2 if _weight(line) > len(line) else 1
    others = distances[-1] - beyond if beyond else min(distances)
    return others <= max(few_other, 0.25 * said) and beyond <= 0.25 * len(line)


def _next(before, said, line):
    """The distances of all that was said to every beginning of the line, from those before its last letter."""
    distances = [len(said)]
    for at, own in enumerate(line):
        distances.append(min(before[at] + (own != said[-1]), before[at + 1] + 1, distances[at] + 1))
    return distances

"""A text as clauses, each with the times that it names: what is not the speaker's own is blanked, no time is cut."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from soulgraph.senses.values.mentions import TimeMention
from soulgraph.soul.own_words import own_statements, own_words

TIME = "§"
"""Stands for a time in the masked text of a clause."""

_BLANK = "_"
_STOP = re.compile(r"[。！？!?；;\n…]+|(?<!\b[DM]r)(?<!\bMrs)(?<!\bvs)\.(?=\s|$)|[~～]+(?=\s|$)")
_PAUSE = re.compile(
    r"[，,：:—–]+|\s-+\s|[（()）]"
    r"|\s(?=(?:and|but|so|because|cause|cos|although|though|while|whereas|then) "
    r"(?:i|we|he|she|they|it|my|our|the|then|also|on|tomorrow|next|at|after|in|you|there|this|that|his|her"
    r"|nobody|nothing|everyone|everybody|someone|no|not|still|haven't|can't|don't|now|here|what|how|all)\b)"
    r"|\s(?=(?:and|then) §)",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:(?:on|at|by|in|for|from|until|till|before|around|about|as of|starting|come|this coming|every) )+(?=§)"
)
_APOSTROPHE = re.compile(r"\b(i(?=m|ve)|don|can|won|didn|doesn|isn)(m|ve|t)\b")  # left out in haste


@dataclass(frozen=True, slots=True)
class Clause:
    """`masked` is in lower case, with § for every time and no quotation; `asked` if it ends in a question mark."""

    text: str
    start: int
    masked: str
    times: tuple[TimeMention, ...]
    sentence: int
    asked: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def clauses_of(text: str, times: Sequence[TimeMention]) -> list[Clause]:
    """The clauses of a text in their order; those without words are left out."""
    blanked = own_words(text, _BLANK, names=False)
    own = own_statements(text)
    times = [time for time in times if blanked[time.start : time.end] == text[time.start : time.end]]
    solid = _without_times(blanked, times)
    return [
        Clause(
            own[start:end],
            start,
            _masked(blanked[start:end], start, times),
            tuple(time for time in times if start <= time.start and time.end <= end),
            number,
            asked,
        )
        for number, (begin, stop) in enumerate(_parts(solid, _STOP, 0, len(solid)))
        for asked in [bool(re.match(r"\s*[?？]", text[stop:]))]
        for start, end in _parts(solid, _PAUSE, begin, stop)
    ]


def _without_times(text: str, times: Iterable[TimeMention]) -> str:
    """The same length, with § all over the times, so that no pause is found within one."""
    for time in times:
        text = text[: time.start] + TIME * (time.end - time.start) + text[time.end :]
    return text


def _parts(text: str, break_: re.Pattern[str], begin: int, end: int) -> Iterator[tuple[int, int]]:
    at = begin
    for found in break_.finditer(text, begin, end):
        if text[at : found.start()].strip():
            yield at, found.start()
        at = found.end()
    if text[at:end].strip():
        yield at, end


def _masked(part: str, start: int, times: Iterable[TimeMention]) -> str:
    masked, at = "", 0
    for time in times:
        if start <= time.start and time.end <= start + len(part):
            masked += f"{part[at : time.start - start]} {TIME} "
            at = time.end - start
    lowered = " ".join(f"{masked}{part[at:]}".lower().replace("’", "'").split())
    lowered = re.sub(r"(?<=[\u3400-\u9fff§]) (?=[\u3400-\u9fff§])", "", lowered)
    return _PREPOSITION.sub("", _APOSTROPHE.sub(r"\1'\2", lowered))

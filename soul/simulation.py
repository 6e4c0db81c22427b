"""A life told in advance: a script of emotions, played to a soul by the dynamics alone. There is no clock in it."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.dynamics import EmotionState, UserEmotion, born, evolve, impact
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.personality import Traits, number_in

MAX_MOMENTS = 50_000
INTENSITY = 0.9  # of an emotion whose script does not say
EVERY = 8.0  # seconds between repeated emotions

_MAX_S = 1e9
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])\s*")
_SPANS = re.compile(rf"(?:{_SPAN.pattern})+")
_FIELDS = ("at", "emotion", "intensity", "confidence", "p", "a", "d")
_SAID = re.compile(
    r"(?P<emotion>[a-z]+) (?: : (?P<intensity>[\d.]+) )? (?: \* (?P<times>\d{1,5}) )?"
    r"@ (?P<at>[^/]+) (?: / (?P<every>.+) )?",
    re.VERBOSE,
)


class Cue(NamedTuple):
    """At this second of the soul's life the user feels this."""

    at: float
    felt: UserEmotion


class Moment(NamedTuple):
    """A look at the soul, right after it was struck by what was felt, if anything was."""

    at: float
    felt: UserEmotion | None


class Sample(NamedTuple):
    """What was seen at a moment."""

    at: float
    felt: UserEmotion | None
    state: EmotionState
    gate: Gate


Script: TypeAlias = tuple[Cue, ...]
"""Cues in the order of their time."""


def play(traits: Traits, script: Script, until: float, step: float, constants: Constants = DEFAULT) -> list[Sample]:
    """A soul born at 0, seen every `step` seconds and right before and after every emotion."""
    return list(live(traits, timeline(script, until, step), constants))


def timeline(script: Script, until: float, step: float) -> list[Moment]:
    """Every moment a soul is looked at, in order."""
    if script and until < script[-1].at:
        raise InvalidInput(f"until must not be before the last emotion, which is at {script[-1].at:g} s")
    if not 0.0 < step <= _MAX_S or until / step + len(script) > MAX_MOMENTS:
        raise InvalidInput(f"step must be longer: at most {MAX_MOMENTS:,} moments can be played")
    ticks = (round(n * step, 6) for n in range(math.ceil(until / step)))
    looks = {*ticks, until, *(cue.at for cue in script)}
    moments = [*(Moment(at, None) for at in looks), *(Moment(*cue) for cue in script)]
    return sorted(moments, key=lambda moment: (moment.at, moment.felt is not None))


def live(traits: Traits, moments: Iterable[Moment], constants: Constants = DEFAULT) -> Iterator[Sample]:
    """Looking does not touch: only emotions change the state that the next moment is calculated from."""
    state = born(traits, 0.0, constants)
    for at, felt in moments:
        if felt is None:
            seen = evolve(traits, state, at, constants)
        else:
            seen = state = impact(traits, state, felt, at, constants)
        yield Sample(at, felt, seen, judge(traits, seen, at, constants))


def spans(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> list[tuple[float, float]]:
    """From when to when something held: each time until the first sample that shows it over."""
    found, start = [], None
    for sample in samples:
        if holds(sample):
            start = sample.at if start is None else start
        elif start is not None:
            found.append((start, sample.at))
            start = None
    return found if start is None else [*found, (start, samples[-1].at)]


def script_of(entries: Iterable[tuple[str, Any]]) -> Script:
    """Out of (place, entry) pairs; a bad entry is refused with its place and field."""
    cues = [_cue_at(place, entry) for place, entry in entries]
    if not cues:
        raise InvalidInput("the script is empty: it needs an entry like {at: 8, emotion: anger}")
    return tuple(sorted(cues, key=lambda cue: cue.at))


def said(text: str) -> Script:
    """Out of one line like `anger*4@8s, gratitude@60s`."""
    return script_of((repr(part.strip()), entry) for part in text.split(",") for entry in _repeated(part.strip()))


def _repeated(part: str) -> Iterator[dict[str, Any]]:
    match = _SAID.fullmatch(part.lower())
    if not match:
        raise InvalidInput(f"{part!r}: expected EMOTION[:INTENSITY][*TIMES]@TIME[/EVERY], like anger:0.9*4@8s/8s")
    start = seconds(match["at"], f"{part!r}: TIME")
    every = seconds(match["every"] or EVERY, f"{part!r}: EVERY")
    for n in range(int(match["times"] or 1)):
        yield {"at": start + n * every, "emotion": match["emotion"], "intensity": match["intensity"]}


def _cue_at(place: str, entry: Any) -> Cue:
    try:
        return _cue(entry)
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error.detail}") from error


def _cue(entry: Any) -> Cue:
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"expected an entry like {{at: 8, emotion: anger}}, not {entry!r}")
    if unknown := [name for name in entry if name not in _FIELDS]:
        raise InvalidInput(f"there is no field {unknown[0]!r}; the fields are {', '.join(_FIELDS)}")
    given = {name: value for name, value in entry.items() if value not in (None, "")}
    if missing := [name for name in ("at", "emotion") if name not in given]:
        raise InvalidInput(f"the field {missing[0]!r} is missing")
    return Cue(seconds(given["at"], "at"), _felt(given))


def _felt(given: Mapping[str, Any]) -> UserEmotion:
    """By its label, whose prototype gives what is not said."""
    label = str(given["emotion"]).strip().lower()
    if label not in PROTOTYPES:
        raise InvalidInput(f"emotion must be one of {', '.join(EMOTIONS)}, not {label!r}")
    usual = dict(zip("pad", PROTOTYPES[label], strict=True))
    p, a, d = (number_in(_number(given.get(axis, usual[axis])), axis, -1.0, 1.0) for axis in "pad")
    intensity = number_in(_number(given.get("intensity", INTENSITY)), "intensity", 0.0, 1.0)
    sure = number_in(_number(given["confidence"]), "confidence", 0.0, 1.0) if "confidence" in given else None
    return UserEmotion(label, p, a, d, intensity, sure)


def seconds(value: Any, name: str) -> float:
    """A span of time: a number of seconds, or like 8s, 1m30s, 2h, 3d."""
    number = _number(value)
    if isinstance(number, str) and _SPANS.fullmatch(number.strip()):
        number = sum(float(count) * _UNITS[unit] for count, unit in _SPAN.findall(number))
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= _MAX_S:
        raise InvalidInput(f"{name} must be a time like 8, 1m30s or 2h, not {value!r}")
    return round(float(number), 6)


def span_name(duration: float) -> str:
    """The two largest parts of a span of time, like 1m52s."""
    left, parts = round(duration), []
    for unit, size in _UNITS.items():
        count, left = divmod(left, int(size))
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts[:2]) or "0s"


def _number(value: Any) -> Any:
    """A table knows only text: the number it spells, or the text itself."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value

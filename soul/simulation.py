"""Simulation: plays a script of sentences or emotions to a soul, using the dynamics alone and simulated time."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, EmotionState, UserEmotion
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.impact import impact
from soulgraph.soul.mood import Mood, mood_of
from soulgraph.soul.personality import Traits, number_in

MAX_TIMELINE_POINTS = 50_000
DEFAULT_INTENSITY = 0.9  # when the script gives none
DEFAULT_INTERVAL_S = 8.0  # seconds between repetitions
AFTERMATH_S = 180.0  # from the last words to the end, when nobody says until when
DEFAULT_STEPS = 600

Hear: TypeAlias = Callable[[str], UserEmotion]
"""What recognises the emotion of a sentence."""

MAX_S = 1e9
_CLEARLY = 0.5  # an appraisal below this is not named
_UNITS_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_TIME_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])\s*")
_TIME_PARTS = re.compile(rf"(?:{_TIME_PART.pattern})+")
_FIELDS = ("at", "say", "emotion", "intensity", "confidence", "p", "a", "d", "hostility", "repair")
SHORTHANDS = {
    "insult": ("anger", {"hostility": 0.9}),
    "apology": ("sadness", {"repair": 0.9}),
    "praise": ("joy", {"repair": 0.9}),
}
_QUOTED_OR_COMMA = re.compile(r'"[^"]*"?|,')
_LINE_PART = re.compile(
    r"""(?: "(?P<say>[^"]+)" | (?P<emotion>[a-z]+) ) (?: : (?P<intensity>[\d.]+) )? (?: \* (?P<times>\d{1,5}) )?"""
    r"@ (?P<at>[^/]+) (?: / (?P<every>.+) )?",
    re.VERBOSE | re.IGNORECASE,
)


class Cue(NamedTuple):
    """What the user shows at this second of the simulation, and the words in which it was heard, if any."""

    at: float
    felt: UserEmotion
    words: str | None = None


class TimelinePoint(NamedTuple):
    """A point of the timeline at which a sample is taken, right after the emotion `felt`, if there is one."""

    at: float
    felt: UserEmotion | None


class Sample(NamedTuple):
    """State, gate and mood of a soul at one point of the timeline."""

    at: float
    felt: UserEmotion | None
    state: EmotionState
    gate: Gate
    mood: Mood


Script: TypeAlias = tuple[Cue, ...]
"""Cues sorted by time."""


def play(traits: Traits, script: Script, until: float, step: float, constants: Constants = DEFAULT) -> list[Sample]:
    """Samples of a soul born at 0, every `step` seconds and right before and after every emotion."""
    return list(live(traits, timeline(script, until, step), constants))


def timeline(script: Script, until: float, step: float, most: int = MAX_TIMELINE_POINTS) -> list[TimelinePoint]:
    """The points at which samples are taken, in order; raises InvalidInput when there would be too many."""
    if script and until < script[-1].at:
        raise InvalidInput(f"until must not be before the last emotion, which is at {script[-1].at:g} s")
    if not 0.0 < step <= MAX_S or until / step + len(script) > most:
        raise InvalidInput(f"step must be longer: at most {most:,} moments can be played")
    ticks = (round(n * step, 6) for n in range(math.ceil(until / step)))
    times = {*ticks, until, *(cue.at for cue in script)}
    points = [*(TimelinePoint(at, None) for at in times), *(TimelinePoint(cue.at, cue.felt) for cue in script)]
    return sorted(points, key=lambda point: (point.at, point.felt is not None))


def live(traits: Traits, points: Iterable[TimelinePoint], constants: Constants = DEFAULT) -> Iterator[Sample]:
    """A sample for each point; only emotions change the state from which the next point is calculated."""
    state = born(traits, 0.0, constants)
    for at, felt in points:
        if felt is None:
            sampled = evolve(traits, state, at, constants)
        else:
            sampled = state = impact(traits, state, felt, at, constants)
        yield Sample(at, felt, sampled, judge(traits, sampled, at, constants), mood_of(sampled, constants))


def spans(samples: Sequence[Sample], holds: Callable[[Sample], bool]) -> list[tuple[float, float]]:
    """(start, end) of every period in which `holds`; a period ends at the first sample that does not."""
    found, start = [], None
    for sample in samples:
        if holds(sample):
            start = sample.at if start is None else start
        elif start is not None:
            found.append((start, sample.at))
            start = None
    return found if start is None else [*found, (start, samples[-1].at)]


def heard_as(felt: UserEmotion) -> str:
    """The emotion, and what the words are to the soul if they are clearly something, like "anger, hostile"."""
    if is_hostile(felt):
        return f"{felt.emotion}, hostile"
    return f"{felt.emotion}, making good" if makes_good(felt) else felt.emotion


def is_hostile(felt: UserEmotion) -> bool:
    return felt.appraised.hostility >= _CLEARLY


def makes_good(felt: UserEmotion) -> bool:
    return felt.appraised.repair >= _CLEARLY


def script_of(entries: Iterable[tuple[str, Any]], hear: Hear, most: int = MAX_TIMELINE_POINTS) -> Script:
    """The script of (place, entry) pairs; raises InvalidInput with the place and field of a bad entry.

    Of more than `most` entries no further one is read: a short line may stand for many.
    """
    cues: list[Cue] = []
    for place, entry in entries:
        if len(cues) == most:
            raise InvalidInput(f"the script has more than {most:,} entries: shorten it")
        cues.append(_cue_with_place(place, entry, hear))
    if not cues:
        raise InvalidInput("the script is empty: it needs an entry like {at: 8, emotion: anger}")
    return tuple(sorted(cues, key=lambda cue: cue.at))


def said(line: str, hear: Hear, most: int = MAX_TIMELINE_POINTS) -> Script:
    """The script of one line like `insult*4@8s, "I am sorry."@60s`."""
    parts = _split_line(line)
    return script_of(((repr(part), entry) for part in parts for entry in _expand_part(part)), hear, most)


def _split_line(line: str) -> list[str]:
    """The parts between commas that are not inside of quotes."""
    commas = [match.start() for match in _QUOTED_OR_COMMA.finditer(line) if match[0] == ","]
    bounds = zip([0, *(comma + 1 for comma in commas)], [*commas, len(line)], strict=True)
    return [line[start:end].strip() for start, end in bounds]


def _expand_part(part: str) -> Iterator[dict[str, Any]]:
    match = _LINE_PART.fullmatch(part)
    if not match:
        raise InvalidInput(f"{part!r}: expected EMOTION[:INTENSITY][*TIMES]@TIME[/EVERY], like insult:0.9*4@8s/8s")
    what = {name: match[name] for name in ("say", "emotion", "intensity")}
    start = seconds(match["at"], f"{part!r}: TIME")
    every = seconds(match["every"] or DEFAULT_INTERVAL_S, f"{part!r}: EVERY")
    for n in range(int(match["times"] or 1)):
        yield {"at": start + n * every, **what}


def _cue_with_place(place: str, entry: Any, hear: Hear) -> Cue:
    try:
        return _cue(entry, hear)
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error.detail}") from error


def _cue(entry: Any, hear: Hear) -> Cue:
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"expected an entry like {{at: 8, emotion: anger}}, not {entry!r}")
    if unknown := [name for name in entry if name not in _FIELDS]:
        raise InvalidInput(f"there is no field {unknown[0]!r}; the fields are {', '.join(_FIELDS)}")
    given = {name: value for name, value in entry.items() if value not in (None, "")}
    if "at" not in given:
        raise InvalidInput("the field 'at' is missing")
    at = seconds(given.pop("at"), "at")
    if "say" not in given:
        return Cue(at, _user_emotion(given))
    words = str(given.pop("say"))
    if given:
        raise InvalidInput(f"the recogniser hears what 'say' feels like: leave out {', '.join(map(repr, given))}")
    return Cue(at, hear(words), words)


def _user_emotion(given: Mapping[str, Any]) -> UserEmotion:
    """The emotion of an entry; the prototype of its label fills in missing p, a and d."""
    if "emotion" not in given:
        raise InvalidInput("the field 'say' or 'emotion' is missing")
    name = str(given["emotion"]).strip().lower()
    label, appraised = SHORTHANDS.get(name, (name, {}))
    given = {**appraised, **given}
    if label not in PROTOTYPES:
        raise InvalidInput(f"emotion must be one of {', '.join((*EMOTIONS, *SHORTHANDS))}, not {label!r}")
    prototype = dict(zip("pad", PROTOTYPES[label], strict=True))
    p, a, d = (number_in(_as_number(given.get(axis, prototype[axis])), axis, -1.0, 1.0) for axis in "pad")
    intensity = number_in(_as_number(given.get("intensity", DEFAULT_INTENSITY)), "intensity", 0.0, 1.0)
    confidence = number_in(_as_number(given["confidence"]), "confidence", 0.0, 1.0) if "confidence" in given else None
    return UserEmotion(label, p, a, d, intensity, confidence, _appraisal(given))


def _appraisal(given: Mapping[str, Any]) -> Appraisal | None:
    """What the script says the words are to the soul; None when it says nothing about it."""
    names = ("hostility", "repair")
    if not any(name in given for name in names):
        return None
    hostility, repair = (number_in(_as_number(given.get(name, 0.0)), name, 0.0, 1.0) for name in names)
    return Appraisal(max(hostility, repair), hostility, repair)


def seconds(value: Any, name: str) -> float:
    """Parses a time: a number of seconds, or a text like 8s, 1m30s, 2h, 3d."""
    number = _as_number(value)
    if isinstance(number, str) and _TIME_PARTS.fullmatch(number.strip()):
        number = sum(float(count) * _UNITS_S[unit] for count, unit in _TIME_PART.findall(number))
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= MAX_S:
        raise InvalidInput(f"{name} must be a time like 8, 1m30s or 2h, not {value!r}")
    return round(float(number), 6)


def span_name(duration: float) -> str:
    """A duration as text, by its two largest units, like 1m52s."""
    left, parts = round(duration), []
    for unit, size in _UNITS_S.items():
        count, left = divmod(left, int(size))
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts[:2]) or "0s"


def _as_number(value: Any) -> Any:
    """A text that spells a number as that number (CSV files have only texts), anything else unchanged."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value

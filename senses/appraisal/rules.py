"""What the words alone say: hostility and repair by the findings of a text, and the reasons for it."""

from typing import NamedTuple

from soulgraph.senses.appraisal.lexicon import AMENDS, ATTACKS, REPAIRS
from soulgraph.senses.appraisal.reading import Finding, Reading, read
from soulgraph.soul.emotions import Appraisal

WEIGHTS = {
    **{"vile": 0.97, "threat": 0.95, "insult": 0.88, "contempt": 0.88, "rejection": 0.82, "mockery": 0.65},
    **{"apology": 0.9, "taking_back": 0.85, "forgiveness": 0.85, "joking": 0.3, "comfort": 0.8, "reassurance": 0.8},
    **{"patience": 0.75, "thanks": 0.75, "affection": 0.8, "praise": 0.75},
}
UNNAMED = 0.85  # weight of an insult or praise beside which nobody is named
PER_FURTHER = 0.02  # each further word adds this
TAKEN_BACK = 0.15  # what is left of an attack that is taken back after it
SPOILED = 0.3  # what is left of kindness that an attack follows
PLAYFUL = 0.6  # what is left of an insult that laughs
DENIED = 0.75  # "you are not stupid" is reassurance, "I don't love you" is rejection


class Score(NamedTuple):
    hostility: float
    repair: float


def score(reading: Reading) -> Score:
    """Hostility and repair of the findings, each 0..1."""
    attacks, repairs = attacks_in(reading), repairs_in(reading)
    hostility, repair = _strongest(attacks), _strongest(repairs)
    if attacks and _taken_back(attacks, repairs):
        hostility *= TAKEN_BACK
    elif attacks and repairs and reading.findings.index(attacks[-1]) > reading.findings.index(repairs[-1]):
        repair *= SPOILED
    if any(turn.kind == "play" for turn in reading.turns) and all(each.kind == "insult" for each in attacks):
        hostility *= PLAYFUL
    return Score(round(hostility, 3), round(repair, 3))


def appraise_words(text: str) -> Appraisal:
    """The appraisal of a text by its words alone."""
    reading = read(text)
    hostility, repair = score(reading)
    return Appraisal(max(toward(reading), hostility, repair), hostility, repair, reasons(reading))


def toward(reading: Reading) -> float:
    """How much the words speak to the soul, by who is named in them."""
    named = {person.kind for person in reading.persons}
    if "you" in named:
        return 0.6 if named & {"third", "thing"} else 0.9
    return 0.1 if named else 0.4


def reasons(reading: Reading) -> tuple[str, ...]:
    """The findings in plain words, each once."""
    told = [_reason(finding) for finding in reading.findings]
    attacks = attacks_in(reading)
    if attacks and _taken_back(attacks, repairs_in(reading)):
        told.append("taken back")
    if reading.quotes:
        told.append("quotation")
    return tuple(dict.fromkeys(told))


def _reason(finding: Finding) -> str:
    name = f"{finding.kind.replace('_', ' ')}: {finding.words}"
    return name if finding.state == "aimed" else f"{name} ({_NOTES[finding.state]})"


_NOTES = {"denied": "denied", "away": "not meant for it"}


def attacks_in(reading: Reading) -> list[Finding]:
    """What attacks the soul: attacks that are meant for it, and love that is denied it."""
    return [finding for finding in reading.findings if _is(finding, ATTACKS, "affection")]


def repairs_in(reading: Reading) -> list[Finding]:
    """What makes good with the soul: kindness that is meant for it, and attacks that are denied."""
    return [finding for finding in reading.findings if _is(finding, REPAIRS, *ATTACKS)]


def _is(finding: Finding, kinds: tuple[str, ...], *opposites: str) -> bool:
    if finding.state == "denied":
        return finding.kind in opposites and finding.named
    return finding.state == "aimed" and finding.kind in kinds


def _strongest(findings: list[Finding]) -> float:
    weights = [_weight(finding) for finding in findings]
    return min(1.0, max(weights) + PER_FURTHER * (len(weights) - 1)) if weights else 0.0


def _weight(finding: Finding) -> float:
    if finding.state == "denied":
        return DENIED
    loose = finding.kind in ("insult", "praise") and not finding.named
    return WEIGHTS[finding.kind] * (UNNAMED if loose else 1.0)


def _taken_back(attacks: list[Finding], repairs: list[Finding]) -> bool:
    amends = [finding.clause for finding in repairs if finding.kind in AMENDS]
    return bool(amends) and max(amends) >= attacks[-1].clause

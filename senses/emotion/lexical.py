"""What the words of a text say, Chinese and English; deterministic, far below a millisecond a sentence."""

from collections.abc import Iterator
from typing import NamedTuple

from soulgraph.senses.emotion.lexicon import Lexicon, Mark, lexicon
from soulgraph.soul.emotions import PROTOTYPES, UserEmotion

# Saying what one does not feel says less than saying what one feels.
NEGATED_STRENGTH = 0.6
CURSE_STRENGTH = 0.5
BEFORE_CONTRAST = 0.5
PER_EXCLAMATION, MAX_EXCLAMATIONS = 0.12, 3
LOUD = 0.15
REACH = 12  # marks between a feeling and the furthest word that can modify it
# Silence of a word list is weak evidence that nothing was felt.
NO_HIT_CONFIDENCE = 0.5
IRONIC = "frustration"


class Feeling(NamedTuple):
    """A feeling as the words leave it; a `denied` one is what is left of its opposite."""

    label: str
    strength: float
    loud: bool = False
    denied: bool = False

    @property
    def pleasure(self) -> float:
        return PROTOTYPES[self.label][0] * self.strength


class LexiconRecogniser:
    """Reads feelings off words, phrases and emoji; keeps no state."""

    def __init__(self) -> None:
        self._lexicon = lexicon()

    async def recognise(self, text: str) -> UserEmotion:
        feelings = heard_in(self._lexicon.scan(text), self._lexicon)
        if not feelings:
            return _emotion("neutral", 0.0, NO_HIT_CONFIDENCE)
        return _verdict(feelings, emphasis(text, feelings))


def heard_in(marks: list[Mark], words: Lexicon) -> list[Feeling]:
    """The feelings that are said; where none is, a curse is anger."""
    return feelings_in(marks, words) or _curses_in(marks)


def feelings_in(marks: list[Mark], words: Lexicon) -> list[Feeling]:
    """Every feeling with its strength; what is said before a "but" counts for less, and irony turns praise around."""
    feelings: list[Feeling] = []
    for at, mark in enumerate(marks):
        if mark.kind == "contrast":
            feelings = [f._replace(strength=f.strength * BEFORE_CONTRAST) for f in feelings]
        elif mark.kind == "sign":
            feelings.append(Feeling(mark.label, mark.weight))
        elif mark.kind == "feeling":
            feelings.append(_said(marks, at, words))
    if any(mark.kind == "irony" for mark in marks):
        feelings = [_turned(feeling) for feeling in feelings] or [Feeling(IRONIC, CURSE_STRENGTH, denied=True)]
    return [feeling for feeling in feelings if feeling.label != "neutral"]


def tones_in(marks: list[Mark]) -> Iterator[tuple[str, float]]:
    """The tone words with their sign: a negated one speaks against its tone."""
    for at, mark in enumerate(marks):
        if mark.kind == "tone":
            negators = sum(modifier.kind == "negator" for modifier in _reaching(marks, at))
            yield mark.label, -1.0 if negators % 2 else 1.0


def emphasis(text: str, feelings: list[Feeling]) -> float:
    """By how much exclamation marks and a raised voice strengthen what is said."""
    exclamations = min(text.count("!") + text.count("！"), MAX_EXCLAMATIONS)
    return 1 + PER_EXCLAMATION * exclamations + LOUD * any(feeling.loud for feeling in feelings)


def strengths(feelings: list[Feeling]) -> dict[str, float]:
    """Strength per label; repetition adds, but never beyond 1. A tie goes to what was said first."""
    scores: dict[str, float] = {}
    for feeling in feelings:
        scores[feeling.label] = 1 - (1 - scores.get(feeling.label, 0.0)) * (1 - feeling.strength)
    return scores


def _said(marks: list[Mark], at: int, words: Lexicon) -> Feeling:
    """One feeling word under the negators and degree words that reach it."""
    mark, factor, negated, loud = marks[at], 1.0, False, marks[at].loud
    for modifier in _reaching(marks, at):
        loud |= modifier.loud
        if modifier.kind == "negator":
            # "not very happy" is milder than "not happy"; "very unhappy" is not.
            negated, factor = not negated, min(factor, 1 / factor)
        else:
            factor *= modifier.weight
    strength = min(1.0, mark.weight * factor * _aftermath(marks, at))
    if negated:
        return Feeling(words.negated[mark.label], strength * NEGATED_STRENGTH, loud, denied=True)
    return Feeling(mark.label, strength, loud)


def _turned(feeling: Feeling) -> Feeling:
    return feeling._replace(label=IRONIC, denied=True) if feeling.pleasure > 0 else feeling


def _reaching(marks: list[Mark], at: int) -> Iterator[Mark]:
    """Modifiers in front, nearest first, as far as only bridging words lie between."""
    joined = False
    for i in range(at - 1, max(-1, at - 1 - REACH), -1):
        match marks[i].kind:
            case "negator" | "degree" | "curse":
                yield marks[i]
            case "joiner":
                joined = True
            case "feeling" if joined:
                joined = False
            case "bridge" | "after":
                continue
            case _:
                return


def _aftermath(marks: list[Mark], at: int) -> float:
    """Degree words that follow: 开心极了, love you so much."""
    for mark in marks[at + 1 : at + 1 + REACH]:
        if mark.kind != "bridge":
            return mark.weight if mark.kind == "after" else 1.0
    return 1.0


def _curses_in(marks: list[Mark]) -> list[Feeling]:
    return [Feeling("anger", CURSE_STRENGTH, mark.loud) for mark in marks if mark.kind == "curse"]


def _verdict(feelings: list[Feeling], emphasised: float) -> UserEmotion:
    scores = strengths(feelings)
    label = max(scores, key=scores.__getitem__)
    return _emotion(label, min(1.0, scores[label] * emphasised), _confidence(label, scores))


def _confidence(label: str, scores: dict[str, float]) -> float:
    """High for strong evidence that agrees; a feeling of the opposite sign weighs fully against it."""
    against = sum(score * _rivalry(label, other) for other, score in scores.items() if other != label)
    return (0.25 + 0.7 * scores[label]) * scores[label] / (scores[label] + against)


def _rivalry(label: str, other: str) -> float:
    return 1.0 if PROTOTYPES[label][0] * PROTOTYPES[other][0] < 0 else 0.3


def _emotion(label: str, intensity: float, confidence: float) -> UserEmotion:
    p, a, d = PROTOTYPES[label]
    return UserEmotion(label, p, a, d, round(intensity, 3), round(confidence, 3))

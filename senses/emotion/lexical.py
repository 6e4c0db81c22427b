"""Finds emotions by the words, phrases and emoji of a Chinese or English text."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from soulgraph.senses.appraisal.rules import appraise_words
from soulgraph.senses.emotion.lexicon import Lexicon, Mark, lexicon
from soulgraph.soul.emotions import PROTOTYPES, UserEmotion

# A negated feeling ("not happy") is weaker evidence than a stated one.
NEGATED_STRENGTH = 0.6
CURSE_STRENGTH = 0.5
BEFORE_CONTRAST = 0.5
PER_EXCLAMATION, MAX_EXCLAMATIONS = 0.12, 3
LOUD_BONUS = 0.15
MAX_MODIFIER_DISTANCE = 12  # marks in which a modifier of a feeling is looked for
# A text without known words is only weak evidence of no emotion.
NO_HIT_CONFIDENCE = 0.5
IRONIC_LABEL = "frustration"


class Feeling(NamedTuple):
    """A feeling with its strength after modifiers; a `denied` one comes from negating another feeling."""

    label: str
    strength: float
    loud: bool = False
    denied: bool = False

    @property
    def pleasure(self) -> float:
        return PROTOTYPES[self.label][0] * self.strength


class LexiconRecogniser:
    """An emotion recogniser that uses the lexicon only."""

    def __init__(self) -> None:
        self._lexicon = lexicon()

    async def recognise(self, text: str) -> UserEmotion:
        feelings = feelings_or_curses(self._lexicon.scan(text), self._lexicon)
        appraisal = appraise_words(text)
        if not feelings:
            return replace(_emotion("neutral", 0.0, NO_HIT_CONFIDENCE), appraisal=appraisal)
        return replace(_strongest_emotion(feelings, emphasis(text, feelings)), appraisal=appraisal)


def feelings_or_curses(marks: list[Mark], words: Lexicon) -> list[Feeling]:
    """The feelings of a text; without any, its curses as anger."""
    return feelings_in(marks, words) or _curses(marks)


def feelings_in(marks: list[Mark], words: Lexicon) -> list[Feeling]:
    """Every feeling with its strength; "but" weakens those before it, and irony turns positive ones negative."""
    feelings: list[Feeling] = []
    for at, mark in enumerate(marks):
        if mark.kind == "contrast":
            feelings = [f._replace(strength=f.strength * BEFORE_CONTRAST) for f in feelings]
        elif mark.kind == "sign":
            feelings.append(Feeling(mark.label, mark.weight))
        elif mark.kind == "feeling":
            feelings.append(_modified_feeling(marks, at, words))
    if any(mark.kind == "irony" for mark in marks):
        feelings = [_as_ironic(feeling) for feeling in feelings] or [Feeling(IRONIC_LABEL, CURSE_STRENGTH, denied=True)]
    return [feeling for feeling in feelings if feeling.label != "neutral"]


def tones_in(marks: list[Mark]) -> Iterator[tuple[str, float]]:
    """Each tone word's tone with its sign, which is -1 when it is negated."""
    for at, mark in enumerate(marks):
        if mark.kind == "tone":
            negators = sum(modifier.kind == "negator" for modifier in _modifiers_before(marks, at))
            yield mark.label, -1.0 if negators % 2 else 1.0


def emphasis(text: str, feelings: list[Feeling]) -> float:
    """The factor by which exclamation marks and loud words raise the intensity."""
    exclamations = min(text.count("!") + text.count("！"), MAX_EXCLAMATIONS)
    return 1 + PER_EXCLAMATION * exclamations + LOUD_BONUS * any(feeling.loud for feeling in feelings)


def strengths(feelings: list[Feeling]) -> dict[str, float]:
    """Strength per label, in the order of the text; repetition adds, but never beyond 1."""
    scores: dict[str, float] = {}
    for feeling in feelings:
        scores[feeling.label] = 1 - (1 - scores.get(feeling.label, 0.0)) * (1 - feeling.strength)
    return scores


def _modified_feeling(marks: list[Mark], at: int, words: Lexicon) -> Feeling:
    """The feeling word at `at` with the negators and degree words around it applied."""
    mark, factor, negated, loud = marks[at], 1.0, False, marks[at].loud
    for modifier in _modifiers_before(marks, at):
        loud |= modifier.loud
        if modifier.kind == "negator":
            # "not very happy" is milder than "not happy"; "very unhappy" is not.
            negated, factor = not negated, min(factor, 1 / factor)
        else:
            factor *= modifier.weight
    strength = min(1.0, mark.weight * factor * _degree_after(marks, at))
    if negated:
        return Feeling(words.negated[mark.label], strength * NEGATED_STRENGTH, loud, denied=True)
    return Feeling(mark.label, strength, loud)


def _as_ironic(feeling: Feeling) -> Feeling:
    return feeling._replace(label=IRONIC_LABEL, denied=True) if feeling.pleasure > 0 else feeling


def _modifiers_before(marks: list[Mark], at: int) -> Iterator[Mark]:
    """The modifiers in front of a mark, nearest first, as long as only bridging words lie between."""
    joined = False
    for i in range(at - 1, max(-1, at - 1 - MAX_MODIFIER_DISTANCE), -1):
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


def _degree_after(marks: list[Mark], at: int) -> float:
    """The weight of a degree word behind a mark (开心极了, love you so much), or 1."""
    for mark in marks[at + 1 : at + 1 + MAX_MODIFIER_DISTANCE]:
        if mark.kind != "bridge":
            return mark.weight if mark.kind == "after" else 1.0
    return 1.0


def _curses(marks: list[Mark]) -> list[Feeling]:
    return [Feeling("anger", CURSE_STRENGTH, mark.loud) for mark in marks if mark.kind == "curse"]


def _strongest_emotion(feelings: list[Feeling], factor: float) -> UserEmotion:
    scores = strengths(feelings)
    label = max(scores, key=scores.__getitem__)
    return _emotion(label, min(1.0, scores[label] * factor), _confidence(label, scores))


def _confidence(label: str, scores: dict[str, float]) -> float:
    """High for strong evidence that agrees; feelings of other labels lower it, opposite ones the most."""
    against = sum(score * _contradiction(label, other) for other, score in scores.items() if other != label)
    return (0.25 + 0.7 * scores[label]) * scores[label] / (scores[label] + against)


def _contradiction(label: str, other: str) -> float:
    return 1.0 if PROTOTYPES[label][0] * PROTOTYPES[other][0] < 0 else 0.3


def _emotion(label: str, intensity: float, confidence: float) -> UserEmotion:
    p, a, d = PROTOTYPES[label]
    return UserEmotion(label, p, a, d, round(intensity, 3), round(confidence, 3))

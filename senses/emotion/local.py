"""The built-in recogniser: trained heads on a sentence embedding, joined with what the words say.

How the evidence is joined:
1. The heads see embedding and words together and give each label its share, and p, a, d.
2. Negation is where embeddings are blind: when a feeling is denied, the words alone decide the sign of p,
   and only labels of that sign stay in the running.
3. p, a, d are what the heads measured, drawn towards the labels' prototypes; the surer the label, the more.
4. Intensity is how far the text is from neutral, times how strongly the words put it.
"""

import math

import numpy as np

from soulgraph.senses.emotion.features import LOOKED_AT, Floats, Reading, read
from soulgraph.senses.emotion.heads import Heads, heads
from soulgraph.senses.emotion.lexical import Feeling, strengths
from soulgraph.senses.emotion.lexicon import lexicon
from soulgraph.senses.ports import Embedder
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, UserEmotion
from soulgraph.soul.personality import clip

_PROTOTYPES = np.array([PROTOTYPES[label] for label in EMOTIONS], dtype=np.float32)
_SIGNS = np.sign(_PROTOTYPES[:, 0])
_NEUTRAL = EMOTIONS.index("neutral")

TYPICAL = 0.4  # how far a label that is certain draws p, a, d to its prototype
SAID = 1.5  # how much a feeling gains by being named
UNSAID = 0.6  # the strength of a feeling that no word names
NEUTRAL_INTENSITY = 0.1


class LocalRecogniser:
    """Hears Chinese and English without any service."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._heads = heads()
        lexicon()  # read now, not while somebody waits

    async def recognise(self, text: str) -> UserEmotion:
        text = text[:LOOKED_AT]
        return judge(text, (await self._embedder.embed([text]))[0], self._heads)


def judge(text: str, vector: Floats, by: Heads | None = None) -> UserEmotion:
    """The feeling of a text with this embedding."""
    by, reading = by or heads(), read(text)
    heard = by.shares(vector, reading.words)
    sign = 0.0 if reading.asks else denied_sign(reading.feelings)
    shares = _of_sign(_said(heard, reading.feelings), sign)
    best = int(shares.argmax())
    p, a, d = _placed(by.pad(vector, reading, heard), shares, sign)
    intensity = _intensity(reading, shares, best)
    return UserEmotion(EMOTIONS[best], p, a, d, intensity, round(by.confidence(float(shares[best])), 3)).sane()


def denied_sign(feelings: list[Feeling]) -> float:
    """The sign of p when a feeling is denied, else 0; what is felt instead outweighs what is not felt."""
    denied = sum(feeling.pleasure for feeling in feelings if feeling.denied)
    affirmed = sum(feeling.pleasure for feeling in feelings if not feeling.denied)
    return math.copysign(1.0, affirmed or denied) if denied else 0.0


def _said(shares: Floats, feelings: list[Feeling]) -> Floats:
    """A label that is named outright gains, however the sentence sounds."""
    gains = strengths(feelings)
    raised = shares * np.exp([SAID * gains.get(label, 0.0) for label in EMOTIONS], dtype=np.float32)
    one: Floats = raised / raised.sum()
    return one


def _of_sign(shares: Floats, sign: float) -> Floats:
    if not sign:
        return shares
    kept = np.where(sign == _SIGNS, shares, 0)
    one: Floats = kept / kept.sum()
    return one


def _placed(measured: Floats, shares: Floats, sign: float) -> tuple[float, float, float]:
    """p, a, d; p takes the sign the words gave it."""
    p, *rest = measured.tolist()
    typical = TYPICAL * float(np.where(_SIGNS, shares, 0).max())
    prototype = (shares @ _PROTOTYPES).tolist()
    p, a, d = (
        clip((1 - typical) * here + typical * there, -1.0, 1.0)
        for here, there in zip((sign * abs(p) if sign else p, *rest), prototype, strict=True)
    )
    return round(p, 3), round(a, 3), round(d, 3)


def _intensity(reading: Reading, shares: Floats, best: int) -> float:
    felt = 1 - float(shares[_NEUTRAL])
    if best == _NEUTRAL:
        return round(NEUTRAL_INTENSITY * felt, 3)
    said = max(strengths(reading.feelings).values(), default=UNSAID)
    return round(min(1.0, felt * said * reading.emphasis), 3)

"""The built-in recogniser: trained heads on a sentence embedding, combined with the lexicon.

How they are combined:
1. The heads take embedding and words together and give the label shares and p, a, d.
2. Embeddings miss negation: when a feeling is denied, the words alone decide the sign of p, and only labels of
   that sign are kept.
3. p, a, d of the heads are pulled towards the labels' prototypes, the more the surer the label is.
4. Intensity is the share of all labels but neutral, times the strength of the words.
5. What the words are to the soul is appraised from the same embedding; a plain order that neither attacks it nor
   makes good with it is neutral.
"""

import math

import numpy as np

from soulgraph.senses.appraisal.appraise import appraise
from soulgraph.senses.arrays import Floats
from soulgraph.senses.emotion.features import MAX_CHARS, TextFeatures, extract_features
from soulgraph.senses.emotion.heads import Heads, heads
from soulgraph.senses.emotion.lexical import Feeling, strengths
from soulgraph.senses.ports import Embedder
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.personality import clip

_PROTOTYPES = np.array([PROTOTYPES[label] for label in EMOTIONS], dtype=np.float32)
_SIGNS = np.sign(_PROTOTYPES[:, 0])
_NEUTRAL = EMOTIONS.index("neutral")

PROTOTYPE_PULL = 0.4  # how far a certain label pulls p, a, d to its prototype
NAMED_GAIN = 1.5  # in log share, of a label whose feeling is named
UNNAMED_STRENGTH = 0.6  # strength of a feeling that no word names
NEUTRAL_INTENSITY = 0.1
SURE_SHARE = 0.45  # of a label that overrules the sign of p
ORDER_GAIN = 1.0  # in log share, by which neutral leads in a plain order
PLAIN_STRENGTH = 0.4  # of a feeling that an order may name and still be plain
ORDER_LIMIT = 0.5  # hostility or repair from which words are more than an order


class LocalRecogniser:
    """Recognises emotions in Chinese and English without an external service."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._heads = heads()

    async def recognise(self, text: str) -> UserEmotion:
        text = text[:MAX_CHARS]
        return judge(text, (await self._embedder.embed([text]))[0], self._heads)


def judge(text: str, vector: Floats, trained: Heads | None = None) -> UserEmotion:
    """The emotion of a text with this embedding; `trained` are the shipped heads unless given."""
    trained = trained or heads()
    features = extract_features(text)
    raw_shares = trained.shares(vector, features.words)
    sign = 0.0 if features.asks else denied_sign(features.feelings)
    appraisal = appraise(text, vector)
    shares = _keep_sign(_raise_named_labels(raw_shares, features.feelings), sign)
    if _is_plain_order(features, appraisal):
        shares = _raised_neutral(shares)
    best = int(shares.argmax())
    p, a, d = _agreeing(_blend_pad(trained.pad(vector, features, raw_shares), shares, sign), best, float(shares[best]))
    intensity = _intensity(features, shares, best)
    confidence = round(trained.confidence(float(shares[best])), 3)
    return UserEmotion(EMOTIONS[best], p, a, d, intensity, confidence, appraisal).sane()


def _is_plain_order(features: TextFeatures, appraisal: Appraisal) -> bool:
    """An order or a wish in plain words: nothing is felt strongly, shouted, attacked or made good."""
    strongest = max(strengths(features.feelings).values(), default=0.0)
    said_plainly = strongest <= PLAIN_STRENGTH and features.emphasis == 1
    return features.orders and said_plainly and max(appraisal.hostility, appraisal.repair) < ORDER_LIMIT


def _raised_neutral(shares: Floats) -> Floats:
    raised = shares.copy()
    raised[_NEUTRAL] = max(raised[_NEUTRAL], raised.max()) * math.exp(ORDER_GAIN)
    normalised: Floats = raised / raised.sum()
    return normalised


def denied_sign(feelings: list[Feeling]) -> float:
    """The sign of p when a feeling is denied, else 0; feelings that are affirmed decide it before denied ones."""
    denied = sum(feeling.pleasure for feeling in feelings if feeling.denied)
    affirmed = sum(feeling.pleasure for feeling in feelings if not feeling.denied)
    return math.copysign(1.0, affirmed or denied) if denied else 0.0


def _raise_named_labels(shares: Floats, feelings: list[Feeling]) -> Floats:
    """Raises the shares of labels whose feelings are named, and normalises them again."""
    gains = strengths(feelings)
    raised = shares * np.exp([NAMED_GAIN * gains.get(label, 0.0) for label in EMOTIONS], dtype=np.float32)
    normalised: Floats = raised / raised.sum()
    return normalised


def _keep_sign(shares: Floats, sign: float) -> Floats:
    """Only the shares of labels whose p has this sign, normalised; all of them for 0."""
    if not sign:
        return shares
    kept = np.where(sign == _SIGNS, shares, 0)
    normalised: Floats = kept / kept.sum()
    return normalised


def _blend_pad(measured: Floats, shares: Floats, sign: float) -> tuple[float, float, float]:
    """p, a, d of the heads, pulled towards the prototypes; a sign that is not 0 is given to p."""
    p, *rest = measured.tolist()
    pull = PROTOTYPE_PULL * float(np.where(_SIGNS, shares, 0).max())
    prototype = (shares @ _PROTOTYPES).tolist()
    p, a, d = (
        clip((1 - pull) * here + pull * there, -1.0, 1.0)
        for here, there in zip((sign * abs(p) if sign else p, *rest), prototype, strict=True)
    )
    return round(p, 3), round(a, 3), round(d, 3)


def _agreeing(pad: tuple[float, float, float], best: int, share: float) -> tuple[float, float, float]:
    """p halfway to the prototype where a sure label contradicts it: a loss that is told may measure as pleasant."""
    p, a, d = pad
    goal = float(_PROTOTYPES[best][0])
    contradicted = share >= SURE_SHARE and p * goal < 0
    return (round((p + goal) / 2, 3) if contradicted else p), a, d


def _intensity(features: TextFeatures, shares: Floats, best: int) -> float:
    not_neutral = 1 - float(shares[_NEUTRAL])
    if best == _NEUTRAL:
        return round(NEUTRAL_INTENSITY * not_neutral, 3)
    strength = max(strengths(features.feelings).values(), default=UNNAMED_STRENGTH)
    return round(min(1.0, not_neutral * strength * features.emphasis), 3)

"""The features of a text beside its embedding: what its emotion words say, and which word pieces occur."""

import math
import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.arrays import Floats
from soulgraph.senses.emotion.lexical import Feeling, emphasis, feelings_or_curses, strengths, tones_in
from soulgraph.senses.emotion.lexicon import Mark, lexicon
from soulgraph.senses.units import units_of
from soulgraph.soul.emotions import EMOTIONS

MAX_CHARS = 1000  # of a text; the rest is not read
BUCKETS = 1 << 16
MAX_PIECES = 800
PIECE_LENGTHS = (3, 4, 5)

# A title or a short quotation is mentioned, not felt.
_MENTIONED = re.compile(r"《[^》]*》|[“「『\"][^”」』\"]{1,8}[”」』\"]")
_CHINESE = re.compile("[\u4e00-\u9fff]")
_ASKS = re.compile(r"[?？]|吗[。！!~…\s]*$")

FELT_LABELS = tuple(label for label in EMOTIONS if label != "neutral")
TONES = ("bright", "dark", "fierce", "mighty", "meek", "soft")
CUES = ("self", "you", "others", "asking", "telling", "ordering", "now")
COUNTED_KINDS = ("negator", "contrast", "curse", "irony", "sign", "after")
SURFACE = ("raised", "lowered", "!", "?", "…", "quoted", "digits", "capitals", "length", "chinese")
LAYOUT = (
    *(f"felt:{label}" for label in FELT_LABELS),
    "denied:good",
    "denied:bad",
    *(f"tone:{tone}" for tone in TONES),
    *(f"cue:{cue}" for cue in CUES),
    *(f"count:{kind}" for kind in COUNTED_KINDS),
    *(f"surface:{name}" for name in SURFACE),
)


class TextFeatures(NamedTuple):
    """`feelings` are those its words name; `words` and `pieces` are the numeric inputs of the heads."""

    feelings: list[Feeling]
    emphasis: float
    asks: bool
    orders: bool
    words: Floats
    pieces: NDArray[np.int64]


def extract_features(text: str) -> TextFeatures:
    """The features of the first `MAX_CHARS` characters of a text."""
    text = text[:MAX_CHARS]
    known = lexicon()
    units = units_of(_MENTIONED.sub("《》", text))
    marks = known.words.scan(units)
    feelings = feelings_or_curses(marks, known)
    cues = known.cues.scan(units)
    words = np.array(
        [
            *_feeling_features(feelings),
            *_tone_features(marks),
            *_cue_features(cues),
            *_count_features(marks),
            *_surface_features(text, marks),
        ]
    )
    asks = _ASKS.search(text) is not None
    orders = known.opens_as_order(units)
    pieces = pieces_of(units.plain)
    return TextFeatures(feelings, emphasis(text, feelings), asks, orders, words.astype(np.float32), pieces)


def pieces_of(units: list[str]) -> NDArray[np.int64]:
    """The hash buckets of a text's words, word pairs and letter n-grams, each once."""
    buckets = {bucket for unit in units for bucket in _subword_buckets(unit)}
    buckets.update(_bucket(f"{one} {two}") for one, two in pairwise(units))
    return np.array(sorted(buckets)[:MAX_PIECES], dtype=np.int64)


@lru_cache(maxsize=1024)
def _subword_buckets(unit: str) -> tuple[int, ...]:
    spelling = f"<{unit[:30]}>"
    letters = (spelling[at : at + n] for n in PIECE_LENGTHS for at in range(len(spelling) - n + 1))
    return (_bucket(f" {unit}"), *map(_bucket, letters))


def _bucket(piece: str) -> int:
    return crc32(piece.encode("utf-8", "replace")) % BUCKETS


def _feeling_features(feelings: list[Feeling]) -> list[float]:
    scores = strengths(feelings)
    denied = [feeling.pleasure for feeling in feelings if feeling.denied]
    good, bad = (min(1.0, sum(max(0.0, sign * pleasure) for pleasure in denied)) for sign in (-1, 1))
    return [*(scores.get(label, 0.0) for label in FELT_LABELS), good, bad]


def _tone_features(marks: list[Mark]) -> list[float]:
    sums = dict.fromkeys(TONES, 0.0)
    for tone, sign in tones_in(marks):
        sums[tone] += sign
    return [math.tanh(total / 2) for total in sums.values()]


def _cue_features(cues: list[Mark]) -> list[float]:
    labels = [mark.label for mark in cues]
    return [min(labels.count(cue), 2) / 2 for cue in CUES]


def _count_features(marks: list[Mark]) -> list[float]:
    kinds: list[str] = [mark.kind for mark in marks]
    return [min(kinds.count(kind), 2) / 2 for kind in COUNTED_KINDS]


def _surface_features(text: str, marks: list[Mark]) -> list[float]:
    size = max(1, len(text))
    degrees = [mark.weight for mark in marks if mark.kind == "degree"]
    return [
        any(weight > 1 for weight in degrees),
        any(weight < 1 for weight in degrees),
        min(text.count("!") + text.count("！"), 3) / 3,
        "?" in text or "？" in text,
        "..." in text or "…" in text,
        any(mark in text for mark in '"“”「」《》'),
        sum(map(str.isdigit, text)) / size,
        sum(map(str.isupper, text)) / size,
        math.log1p(size) / 5,
        _CHINESE.search(text) is not None,
    ]

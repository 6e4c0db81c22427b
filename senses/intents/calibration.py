"""How alike a text must be to an example: measured for each catalog when it is learned, from the catalog alone.

The more intents a catalog has, and the more alike they are, the more often a sentence that asks for none of them is
like one by chance. `background.yaml` has such sentences; the bar rises with their scores. It stays below the scores
that the catalog's own examples get from each other. Few examples say little, so the bar begins at a common value.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import numpy as np
import yaml
from numpy.typing import NDArray

from soulgraph.soul.language import Lang, lang_of

COMMON_BAR = 0.125  # measured on catalogs of sixty intents
COMMON_BAR_COUNTS = 20  # as many examples
BACKGROUND_SHARE = 0.6  # of the background that stays below the bar of the background
OWN_SHARE = 0.1  # of the examples that may stay below the bar of the examples
BACKGROUND_WEIGHT = 0.75
MIN_BAR = 0.11  # an act that nobody asked for is worse than one that is missed
_LEAST = 0.02  # of a score, so that it has a logarithm
MIN_LANG_SHARE = 0.1  # of the examples, for the background of their language to count

Scores = NDArray[np.floating]


def background_for(examples: Iterable[str]) -> list[str]:
    """The background in the languages of these examples."""
    langs = [lang_of(text) for text in examples]
    spoken = [lang for lang in _background() if langs.count(lang) >= MIN_LANG_SHARE * len(langs)]
    return [text for lang in spoken for text in _background()[lang]]


def bar_between(background: Scores, own: Scores) -> float:
    """The score of confidence 0.5, given the best scores of the background and those of examples by their own intent.

    A sentence of the background that scores like an example is taken for a request for one of the intents.
    """
    own = np.maximum(own, _LEAST)
    strange = background[background < np.median(own)]
    if not len(strange):
        return COMMON_BAR
    low = max(_LEAST, float(np.quantile(strange, BACKGROUND_SHARE)))
    high = float(np.quantile(own, OWN_SHARE))
    bars = np.log([low, high, COMMON_BAR])
    measured = BACKGROUND_WEIGHT * bars[0] + (1 - BACKGROUND_WEIGHT) * bars[1]
    bar = (len(own) * measured + COMMON_BAR_COUNTS * bars[2]) / (len(own) + COMMON_BAR_COUNTS)
    return max(MIN_BAR, float(np.exp(bar)))


@cache
def _background() -> dict[Lang, list[str]]:
    loaded: dict[Lang, list[str]] = yaml.load(
        (files(__package__) / "background.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return loaded

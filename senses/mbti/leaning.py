"""To which side of each axis a text leans as a whole, by the built-in encoder. It decides where no word does."""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from soulgraph.senses.embedding.local import encode
from soulgraph.senses.mbti.traits import AXES

_MAX_SENTENCES = 40
_MAX_CHARS = 300
_SENTENCE_END = re.compile(r"[.!?。！？\n]+")
_TYPICAL = {
    "E": ("She is outgoing and loves being with people.", "他外向健谈，喜欢热闹。"),
    "I": ("She is quiet and prefers to be alone.", "他内向安静，喜欢独处。"),
    "S": ("He is practical and relies on facts and experience.", "他务实，注重细节和经验。"),
    "N": ("He is imaginative and thinks about ideas and the future.", "他富有想象力，喜欢抽象的想法。"),
    "T": ("She decides by logic and is not moved by feelings.", "他理性冷静，讲逻辑。"),
    "F": ("She is warm, caring and led by her feelings.", "他温柔体贴，重感情。"),
    "J": ("He is organized and plans everything ahead.", "他有计划，做事有条理。"),
    "P": ("He is spontaneous and goes with the flow.", "他随性，不做计划。"),
}


def leaning_of(text: str) -> dict[str, float]:
    """For each axis how much the text leans to its first letter; empty for an empty text. It blocks: use a thread."""
    sentences = [part.strip()[:_MAX_CHARS] for part in _SENTENCE_END.split(text) if part.strip()][:_MAX_SENTENCES]
    if not sentences:
        return {}
    vectors = np.asarray(encode(sentences))
    return {axis: float((vectors @ direction).mean()) for axis, direction in _directions().items()}


@cache
def _directions() -> Mapping[str, np.ndarray]:
    """The direction from the second letter of each axis to its first."""
    sides = {letter: np.asarray(encode([*texts])).mean(axis=0) for letter, texts in _TYPICAL.items()}
    return {axis: sides[axis[0]] - sides[axis[1]] for axis in AXES}

"""Trains the head of the sense of MBTI types: `python -m soulgraph.scripts.training.mbti [OUTPUT]`.

`mbti.tsv` has what several authors made up who knew nothing of the code: author, type (a dot for an axis of which
nothing is told) and the text of a character, or of one trait of it. To check the head, each author is held out in turn.
"""

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Ridge  # type: ignore[import-untyped]

from soulgraph.senses.arrays import Floats
from soulgraph.senses.embedding.local import encode
from soulgraph.senses.mbti.leaning import FILE, Head, sentences_of
from soulgraph.senses.mbti.traits import AXES

TEXTS = Path(__file__).parent / "mbti.tsv"
PENALTY = 4.0  # 1 to 8 did as well
SCALE = 2.0  # of the mean of a text's vectors, which is shorter than one of a sentence
STEPS = 127  # of a weight in the file


class Example(NamedTuple):
    author: str
    vector: Floats
    sides: list[int]
    """1 for the first letter of an axis, -1 for the second, 0 for neither."""


def examples() -> list[Example]:
    lines = (line.split("\t") for line in TEXTS.read_text("utf-8").splitlines())
    return [Example(author, _vector(text), _sides(mbti_type)) for author, mbti_type, text in lines]


def _vector(text: str) -> Floats:
    parts = sentences_of(text.replace("\\n", "\n")) or [text]
    return np.asarray(encode(parts)).mean(axis=0) * (SCALE if len(parts) > 1 else 1.0)


def _sides(mbti_type: str) -> list[int]:
    return [(letter == axis[0]) - (letter == axis[1]) for letter, axis in zip(mbti_type, AXES, strict=True)]


def fit(known: Sequence[Example]) -> Head:
    model = Ridge(alpha=PENALTY).fit(np.array([one.vector for one in known]), np.array([one.sides for one in known]))
    return Head(model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32))


def report(author: str, some: Sequence[Example], head: Head) -> None:
    leanings = np.array([one.vector for one in some]) @ head.weights + head.bias
    sides = np.array([one.sides for one in some])
    right = {
        axis: f"{((leanings[:, n] > 0) == (sides[:, n] > 0))[sides[:, n] != 0].mean():.2f}"
        for n, axis in enumerate(AXES)
    }
    sys.stdout.write(f"{author} held out ({len(some)} texts): {right}\n")


def main(output: Path) -> None:
    known = examples()
    for author in dict.fromkeys(one.author for one in known):
        head = fit([one for one in known if one.author != author])
        report(author, [one for one in known if one.author == author], head)
    head = fit(known)
    step = np.abs(head.weights).max() / STEPS
    weights = np.round(head.weights / step).astype(np.int8)
    np.savez_compressed(output, weights=weights, weights_step=np.float32(step), bias=head.bias)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(str(files("soulgraph.senses.mbti") / FILE)))

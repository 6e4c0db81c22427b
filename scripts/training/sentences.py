"""The sentences written for this project: those that name a feeling, and those that only tell what happened."""

import csv
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

Rows = NDArray[np.int64]


class Sentence(NamedTuple):
    """A sentence with its label; one that only tells has a `topic`, and `strength` 0..1 says how much it moves."""

    text: str
    lang: str
    label: str
    strength: float = 1.0
    topic: str = ""


def own_sentences() -> list[Sentence]:
    return [*_naming_sentences(), *_telling_sentences()]


def folds_of(sentences: Sequence[Sentence], folds: int) -> Rows:
    """The fold in which each sentence is held out; the sentences of a topic share theirs, since they are alike."""
    topics = list(dict.fromkeys(sentence.topic for sentence in sentences if sentence.topic))
    numbers = {topic: number for number, topic in enumerate(topics)}
    return np.array([numbers.get(sentence.topic, at) % folds for at, sentence in enumerate(sentences)])


def _naming_sentences() -> list[Sentence]:
    data = yaml.safe_load((files(__package__) / "sentences.yaml").read_text("utf-8"))
    return [
        Sentence(text, lang, label)
        for label, langs in data.items()
        for lang, block in langs.items()
        for text in block.splitlines()
    ]


def _telling_sentences() -> list[Sentence]:
    with (files(__package__) / "told.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Sentence(row["text"], row["lang"], row["label"], float(row["strength"]), row["topic"]) for row in rows]

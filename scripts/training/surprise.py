"""Trains the head of the sense of surprise: `python -m soulgraph.scripts.training.surprise [OUTPUT]`.

The situations are by authors who knew nothing of the code; many come in pairs with one state and two messages. What
people say on ordinary days, in `bench/data/long_conversation.yaml`, is no surprise. Each author is held out once to
check the head.
"""

import asyncio
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from soulgraph.senses.arrays import Floats
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.emotion.local import LocalRecogniser
from soulgraph.senses.surprise.sense import FEELINGS, FILE, SurpriseSense
from soulgraph.soul.language import lang_of
from soulgraph.voices.updates import Belief, beliefs_of

REGULARISATION = 0.01
ORDINARY_WEIGHT = 0.1
FOLDS = 5  # of ordinary days
HERE = Path(__file__).parent
ORDINARY = HERE.parents[1] / "bench" / "data" / "long_conversation.yaml"


class Example(NamedTuple):
    text: str
    expectations: list[str]
    surprising: bool
    author: str
    weight: float = 1.0


def examples() -> list[Example]:
    told = yaml.safe_load((HERE / "situations.yaml").read_text("utf-8"))["situations"]
    said = yaml.safe_load(ORDINARY.read_text("utf-8"))
    ordinary = [one["text"] for one in said["messages"] if one["role"] == "user"]
    asked = [one["text"] for one in said["questions"]]
    return [
        *[Example(one["say"], _expectations(one), one["surprising"], one["author"]) for one in told],
        *[Example(text, _usual(text), False, "ordinary", ORDINARY_WEIGHT) for text in [*ordinary, *asked]],
    ]


def _expectations(situation: dict[str, Any]) -> list[str]:
    return [Belief(name, item).text for name, items in situation["state"].items() for item in items]


def _usual(text: str) -> list[str]:
    return [belief.text for belief in beliefs_of({}, lang_of(text))]


async def _inputs(told: list[Example]) -> Floats:
    async with open_local_embedder() as embedder:
        sense = SurpriseSense(embedder, LocalRecogniser(embedder))
        return np.stack([await sense.inputs(one.text, one.expectations) for one in told])


def fit(inputs: Floats, told: list[Example]) -> Floats:
    """The weights of the head, for inputs as they are."""
    scale = np.ones(inputs.shape[1], np.float32)
    scale[:FEELINGS] = inputs[:, :FEELINGS].std(axis=0)
    model = LogisticRegression(C=REGULARISATION, max_iter=3000)
    model.fit(inputs / scale, [one.surprising for one in told], sample_weight=[one.weight for one in told])
    return np.append(model.coef_[0] / scale, model.intercept_[0]).astype(np.float32)


def _report(inputs: Floats, told: list[Example]) -> None:
    authors = np.array([f"{one.author} {n % FOLDS if one.author == 'ordinary' else ''}" for n, one in enumerate(told)])
    truth = np.array([one.surprising for one in told])
    scores = np.zeros(len(told))
    for author in sorted(set(authors)):
        held = authors == author
        weights = fit(inputs[~held], [one for one, out in zip(told, held, strict=True) if not out])
        scores[held] = 1 / (1 + np.exp(-(inputs[held] @ weights[:-1] + weights[-1])))
    paired = np.array([one.author != "ordinary" for one in told])
    _say(f"authors held out: area under the curve {roc_auc_score(truth[paired], scores[paired]):.3f}")
    for bar in (0.4, 0.45, 0.5, 0.55, 0.6):
        shares = [np.mean(scores[which] > bar) for which in (truth, paired & ~truth, ~paired)]
        _say(f"from {bar}: found {shares[0]:.2f}, wrongly {shares[1]:.2f}, on ordinary days {shares[2]:.3f}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(str(files("soulgraph.senses.surprise"))) / FILE
    told = examples()
    inputs = asyncio.run(_inputs(told))
    _report(inputs, told)
    np.savez_compressed(output, weights=fit(inputs, told))


if __name__ == "__main__":
    main()

"""Learns how episodes are ranked: `python -m soulgraph.scripts.training.recall FOLDER_OF_DIALOGUES`.

The features are those of the product. The weights make the messages that answer a question probable among all of its
conversation (a softmax over the messages, with a pull towards zero). Prints the ranking for `memory/spreading.py`.
"""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]

from soulgraph.memory.features import Features
from soulgraph.memory.index import SoulIndex
from soulgraph.memory.ranking import Floats
from soulgraph.memory.source import Query
from soulgraph.scripts.training.dialogues import Dialogue, own_dialogue, public_dialogues
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import query_terms
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.records import Episode

OWN_REPEATS = 4  # ours is one conversation, and the only one in two languages
PULL = 0.002
NEVER_AGAINST = ("words", "topic", "concepts", "meaning", "wordless")
"""Features that speak for a message, whatever the others say: they are alike, and could take each other's part."""
LEAST_WORDS = 1.0  # a message that has the words itself comes before those beside it, also before it has a vector
FIXED = {"recent": 0.1}  # not learnt: questions of these sets are all asked when everything is long past


@dataclass(frozen=True, slots=True)
class Example:
    """The candidates for a question, one row of features each, and which of them answer it."""

    features: Floats
    answers: Floats
    """The share of each candidate in the evidence."""


async def examples(dialogue: Dialogue, embedder: Embedder) -> list[Example]:
    """Of all answerable questions whose evidence is among the candidates."""
    vectors = await embedder.embed([line.text for line in dialogue.lines])
    index = index_of(dialogue, vectors)
    asked = [question for question in dialogue.questions if question.answerable]
    found = []
    for question, vector in zip(asked, await embedder.embed([one.text for one in asked]), strict=True):
        query = query_of(question.text, vector, dialogue.ends_at)
        candidates = index.candidates(query, read_question(question.text, datetime.fromtimestamp(query.now, UTC)))
        if candidates is not None:
            rows, features, _ = candidates
            answers = np.isin(rows, list(question.evidence)).astype(np.float32)
            if answers.any():
                found.append(Example(np.stack(features, 1).astype(np.float32), answers / answers.sum()))
    return found


def query_of(text: str, vector: Floats | None, now: float) -> Query:
    return Query("soul_1", text, query_terms(text), vector, now, 10)


def index_of(dialogue: Dialogue, vectors: Vectors) -> SoulIndex:
    """Rows are numbered as the lines, messages from 1."""
    index = SoulIndex()
    before: dict[str, int] = {}
    episodes = []
    for n, (line, vector) in enumerate(zip(dialogue.lines, vectors, strict=True), 1):
        columns = index_columns(line.text, line.at, UTC)
        packed = vector.astype("<f2").tobytes()
        previous = before.get(line.session)
        episodes.append(Episode(n, previous, line.role == "user", line.at, vector=packed, **columns))
        before[line.session] = n
    index.add(episodes)
    return index


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """A weight for each feature."""
    every = np.concatenate([example.features for example in examples])
    scale = every.std(axis=0) + 1e-6
    scaled = [Example(example.features / scale, example.answers) for example in examples]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, gradient = 0.0, np.zeros(len(weights))
        for example in scaled:
            scores = example.features @ weights
            scores -= scores.max()
            log_share = scores - np.log(np.exp(scores).sum())
            total -= float(example.answers @ log_share)
            gradient += example.features.T @ (np.exp(log_share) - example.answers)
        n = len(scaled)
        return total / n + PULL * float(weights @ weights), gradient / n + 2 * PULL * weights

    bounds = [(_least(name, float(size)), None) for name, size in zip(Features._fields, scale, strict=True)]
    weights: Floats = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B", bounds=bounds).x / scale
    return dict(zip(Features._fields, weights.tolist(), strict=True)) | FIXED


def _least(feature: str, scale: float) -> float | None:
    """The least scaled weight of a feature; None if it may speak against a message."""
    if feature == "words_fading":
        return LEAST_WORDS * scale
    return 0.0 if feature.startswith(NEVER_AGAINST) else None


def with_own(public: Iterable[Example], own: Sequence[Example]) -> list[Example]:
    return [*public, *list(own) * OWN_REPEATS]


async def main(folder: Path) -> None:
    async with open_local_embedder() as embedder:
        own = await examples(own_dialogue(), embedder)
        public = [one for dialogue in public_dialogues(folder) for one in await examples(dialogue, embedder)]
    for name, weight in fit(with_own(public, own)).items():
        sys.stdout.write(f'        "{name}": {weight:.3f},\n')


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

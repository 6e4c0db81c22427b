"""Learns when to doubt that anything answers: `python -m soulgraph.scripts.training.doubt FOLDER_OF_DIALOGUES`.

From the questions that name one of the two speakers, with and without an answer. Prints the weights for
`memory/doubt.py`.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from soulgraph.memory.doubt import Doubt, signals
from soulgraph.scripts.training.dialogues import Dialogue, public_dialogues
from soulgraph.scripts.training.recall import index_of, query_of
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.ports import Embedder
from soulgraph.senses.question import read_question

LOST = 0.02
"""The share of questions with an answer that may be doubted; of dialogues that were not learnt from a little more."""


class Judged(NamedTuple):
    """What is known of a question that names a speaker, and whether it has an answer."""

    signals: list[float]
    answerable: bool


async def judged(dialogue: Dialogue, embedder: Embedder) -> list[Judged]:
    index = index_of(dialogue, await embedder.embed([line.text for line in dialogue.lines]))
    vectors = await embedder.embed([question.text for question in dialogue.questions])
    found = []
    for question, vector in zip(dialogue.questions, vectors, strict=True):
        query = query_of(question.text, vector, dialogue.ends_at)
        candidates = index.candidates(query, read_question(question.text, datetime.fromtimestamp(query.now, UTC)))
        if candidates is not None:
            _, features, names_speaker = candidates
            if names_speaker:
                found.append(Judged(signals(features), question.answerable))
    return found


def fit_doubt(rows: Sequence[Judged]) -> Doubt:
    model = LogisticRegression(C=3.0, max_iter=2000)
    model.fit([row.signals for row in rows], [row.answerable for row in rows])
    names = [field.name for field in fields(Doubt)[1:-1]]
    weights = dict(zip(names, map(float, model.coef_[0]), strict=True))
    doubt = Doubt(constant=float(model.intercept_[0]), **weights, threshold=0.0)
    return replace(doubt, threshold=float(np.quantile(certainties(doubt, rows, answerable=True), LOST)))


def certainties(doubt: Doubt, rows: Sequence[Judged], answerable: bool) -> list[float]:
    return [doubt.certainty_of(row.signals) for row in rows if row.answerable == answerable]


async def main(folder: Path) -> None:
    async with open_local_embedder() as embedder:
        rows = [one for dialogue in public_dialogues(folder) for one in await judged(dialogue, embedder)]
    for name, value in asdict(fit_doubt(rows)).items():
        sys.stdout.write(f"    {name}: float = {value:.2f}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

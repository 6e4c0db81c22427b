"""Ranking quality on both databases: a part of what bench/recall.py measures, with the built-in encoder."""

from functools import cache

import numpy as np

from soulgraph.bench.recall import WAYS, evidence_found
from soulgraph.bench.told import index_all, tell
from soulgraph.memory.recall import Recall
from soulgraph.scripts.training.dialogues import Dialogue, own_dialogue
from soulgraph.senses.embedding.local import encode
from soulgraph.tests.stores.samples import soul

SESSIONS = ("1", "2", "3")


@cache
def conversation():
    """The first sessions, and the questions they answer."""
    whole = own_dialogue()
    lines = [line for line in whole.lines if line.session in SESSIONS]
    assert lines == whole.lines[: len(lines)]
    questions = [one for one in whole.questions if one.answerable and max(one.evidence) < len(lines)]
    return Dialogue("beginning", lines, questions)


@cache
def vectors():
    texts = [one.text for one in (*conversation().lines, *conversation().questions)]
    return dict(zip(texts, encode(texts), strict=True))


class Encoded:
    """The built-in encoder, asked once for all."""

    name = "encoded"

    async def embed(self, texts):
        return np.array([vectors()[text] for text in texts])


async def test_most_answers_come_first_and_words_and_meaning_find_more_together_than_alone(stores):
    dialogue = conversation()
    async with stores.write() as tx:
        await tx.souls.add(soul())
    ids = await tell(stores, dialogue)
    found = {}
    for way, ranking in WAYS.items():
        recall = Recall(stores, Encoded(), lambda: dialogue.ends_at, ranking=ranking)
        await index_all(recall)
        found[way] = (await evidence_found(recall, dialogue, ids)).shares["all"]
    assert found["hybrid"] >= 0.85, found
    assert found["hybrid"] >= max(found["meaning alone"], found["words alone (BM25)"]) + 0.1

"""Ranking quality on both databases: a part of what bench/recall.py measures, with the built-in encoder."""

from functools import cache

import numpy as np

from soulgraph.bench.recall import WAYS, Asked, evidence_found, index_all, moment, read, tell
from soulgraph.memory.recall import Recall
from soulgraph.senses.embedding.local import encode
from soulgraph.tests.stores.samples import soul

SESSIONS = 3


@cache
def conversation():
    """The first sessions, and the questions they answer."""
    whole = read("long_conversation")
    messages = [said for said in whole["messages"] if said["session"] <= SESSIONS]
    told = {said["id"] for said in messages}
    questions = [one for one in whole["questions"] if one["answerable"] and told.issuperset(one["evidence"])]
    return messages, questions


@cache
def vectors():
    messages, questions = conversation()
    texts = [said["text"] for said in messages + questions]
    return dict(zip(texts, encode(texts), strict=True))


class Encoded:
    """The built-in encoder, asked once for all."""

    name = "encoded"

    async def embed(self, texts):
        return np.array([vectors()[text] for text in texts])


async def test_most_answers_come_first_and_words_and_meaning_find_more_together_than_alone(stores):
    messages, questions = conversation()
    async with stores.write() as tx:
        await tx.souls.add(soul())
    asked = Asked(questions, await tell(stores, messages), {})
    now = max(moment(said) for said in messages)
    await index_all(Recall(stores, Encoded(), None, lambda: now))
    found = {}
    for way, weights in WAYS.items():
        recall = Recall(stores, Encoded(), None, lambda: now, weights=weights)
        found[way] = (await evidence_found(recall, asked))[0]["all"]
    assert found["hybrid"] >= 0.85, found
    assert found["hybrid"] >= max(found["meaning alone"], found["words alone (BM25)"]) + 0.1

"""Caching and batching of embeddings."""

import asyncio

import numpy as np
import pytest

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.embedding import batching
from soulgraph.senses.embedding.batching import MAX_BATCH, BatchingEmbedder
from soulgraph.senses.text import MAX_CHARS


class CountingEncoder:
    """Encodes a text as its length; can be held back, and can fail."""

    name = "counting"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.free = asyncio.Event()
        self.free.set()
        self.error: Exception | None = None

    async def encode(self, texts: list[str]):
        self.batches.append(texts)
        await self.free.wait()
        if self.error:
            raise self.error
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
async def encoder():
    return CountingEncoder()


@pytest.fixture
async def embedder(encoder):
    async with BatchingEmbedder.open(encoder) as embedder:
        yield embedder


async def test_vectors_come_in_the_order_of_the_texts(embedder):
    vectors = await embedder.embed(["abc", "a", "abc", "ab"])
    assert vectors[:, 0].tolist() == [3, 1, 3, 2]


async def test_a_text_asked_for_twice_is_encoded_once(embedder, encoder):
    await asyncio.gather(embedder.embed(["你好"]), embedder.embed(["你好"]))
    await embedder.embed(["你好"])
    assert encoder.batches == [["你好"]]


async def test_what_means_the_same_text_is_encoded_once(embedder, encoder):
    await embedder.embed(["turn  on\nthe light", "turn on the light", "ｔｕｒｎ on the light"])
    assert encoder.batches == [["turn on the light"]]


async def test_texts_that_arrive_while_it_works_share_its_next_batch(embedder, encoder):
    encoder.free.clear()
    waiting = [asyncio.create_task(embedder.embed([str(n)])) for n in range(10)]
    await asyncio.sleep(0)
    encoder.free.set()
    await asyncio.gather(*waiting)
    assert len(encoder.batches) <= 2
    assert sorted(text for batch in encoder.batches for text in batch) == sorted(map(str, range(10)))


async def test_a_batch_has_a_limit(embedder, encoder):
    await embedder.embed([f"text {n}" for n in range(2 * MAX_BATCH + 1)])
    assert [len(batch) for batch in encoder.batches] == [MAX_BATCH, MAX_BATCH, 1]


async def test_who_gives_up_does_not_take_the_vector_from_others(embedder, encoder):
    encoder.free.clear()
    impatient, patient = (asyncio.create_task(embedder.embed(["same"])) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    encoder.free.set()
    assert (await patient)[0, 0] == 4


async def test_a_failure_reaches_everyone_who_waits_and_is_not_remembered(embedder, encoder):
    encoder.error = SenseUnavailable("away")
    results = await asyncio.gather(embedder.embed(["a"]), embedder.embed(["b"]), return_exceptions=True)
    assert [type(result) for result in results] == [SenseUnavailable, SenseUnavailable]
    encoder.error = None
    assert (await embedder.embed(["a"]))[0, 0] == 1


async def test_an_unexpected_failure_does_not_leave_anyone_waiting(embedder, encoder):
    encoder.error = RuntimeError("a bug")
    with pytest.raises(RuntimeError, match="a bug"):
        await embedder.embed(["a"])


async def test_it_forgets_the_least_used_texts(embedder, encoder, monkeypatch):
    monkeypatch.setattr(batching, "MAX_CACHED", 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await embedder.embed([text])
    assert encoder.batches == [["a"], ["b"], ["c"], ["b"]]


async def test_after_many_at_once_it_keeps_no_more_than_before(embedder, monkeypatch):
    monkeypatch.setattr(batching, "MAX_CACHED", 2)
    await embedder.embed([f"text {n}" for n in range(50)])
    await embedder.embed(["one more"])
    assert len(embedder._cache) == 2


async def test_it_reads_as_far_as_an_utterance_goes(embedder, encoder):
    await embedder.embed(["x" * 8000, "half a pair \ud83d", ""])
    assert [len(text) for text in encoder.batches[0]] == [MAX_CHARS, 13, 0]


async def test_no_texts_are_no_vectors(embedder, encoder):
    assert len(await embedder.embed([])) == 0
    assert encoder.batches == []

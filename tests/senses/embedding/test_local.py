"""The built-in encoder, for real."""

import asyncio
import threading

import numpy as np
import pytest

from soulgraph.senses.embedding.local import NAME, open_local_embedder


@pytest.fixture
async def embedder():
    async with open_local_embedder() as embedder:
        yield embedder


async def test_vectors_have_length_one_and_a_name(embedder):
    vectors = await embedder.embed(["今天天气真好", "hello", "", "🎉" * 50, "字" * 9000])
    assert vectors.shape == (5, 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert embedder.name == NAME


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("我今天很开心", "I am so happy today", "the train leaves at nine"),
        ("把客厅的灯打开", "turn on the light in the living room", "我想吃火锅"),
    ],
)
async def test_the_same_meaning_in_chinese_and_english_is_close(embedder, text, same, other):
    one, close, far = await embedder.embed([text, same, other])
    assert one @ close > one @ far + 0.2


async def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder):
    alone = await embedder.embed(["我有点难过"])
    async with open_local_embedder() as another:
        together = await another.embed([*(f"sentence {n}" for n in range(20)), "我有点难过"])
    assert np.allclose(alone[0], together[-1], atol=1e-5)


async def test_the_event_loop_goes_on_while_it_encodes(embedder):
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await embedder.embed([f"a new sentence, number {n}" for n in range(64)])
    beating.cancel()
    assert beats > 10


async def test_its_thread_ends_with_it():
    async with open_local_embedder() as embedder:
        await embedder.embed(["one more"])
        assert any(thread.name.startswith("embedding") for thread in threading.enumerate())
    assert not any(thread.name.startswith("embedding") for thread in threading.enumerate())

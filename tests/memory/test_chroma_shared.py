"""Chroma's folders for several processes: one has them open, the others ask it, and see what each of them has put."""

import asyncio
import socket

import numpy as np
import pytest
from uvicorn.loops.auto import auto_loop_factory

from soulgraph.errors import MemoryUnavailable
from soulgraph.memory import chroma_shared
from soulgraph.memory.chroma import NearDocument, StoredDocument, open_collection
from soulgraph.memory.chroma_shared import address_of, listen, serving_folders

NAME = "events-test-00000000"
VECTORS = np.eye(3, dtype=np.float32)
OWNER = {"audience": "*"}


@pytest.fixture
async def address(tmp_path):
    with listen() as listener:
        async with serving_folders(listener, tmp_path):
            yield address_of(listener)


def opened(address, tmp_path, folder="chroma"):
    """As one more worker would."""
    return open_collection(NAME, tmp_path / folder, "", address)


async def test_what_one_has_put_the_others_find_at_once(address, tmp_path):
    async with opened(address, tmp_path) as one, opened(address, tmp_path) as other:
        await one.put({"a": "first", "b": "second"}, VECTORS[:2], OWNER)
        await other.put({"c": "third"}, VECTORS[2:], OWNER)
        assert await one.count() == await other.count() == 3
        assert await other.near(VECTORS[0], 1, OWNER) == [NearDocument("a", "first", 1.0)]
        assert await one.get(["c", "unknown"]) == {"c": "third"}
        await other.delete(["a"])
        assert await one.dump(["a", "b"]) == [StoredDocument("b", "second", OWNER, [0.0, 1.0, 0.0])]
        await one.forget(OWNER)
        assert await other.count() == 0


def test_it_works_on_the_event_loop_of_a_server(tmp_path):
    async def put_and_count():
        with listen() as listener:
            async with serving_folders(listener, tmp_path), opened(address_of(listener), tmp_path) as shared:
                await shared.put({"a": "first"}, VECTORS[:1], OWNER)
                return await shared.count()

    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        assert runner.run(put_and_count()) == 1


async def test_it_is_the_folder_that_a_server_of_one_process_has(address, tmp_path):
    async with opened(address, tmp_path) as shared:
        await shared.put({"a": "kept"}, VECTORS[:1], OWNER)
        folders = [path.name for path in tmp_path.iterdir() if path.is_dir()]
        assert folders == ["chroma"]
        assert await shared.renew() != tmp_path / "chroma"
        assert await shared.count() == 0


async def test_folders_do_not_mix(address, tmp_path):
    async with opened(address, tmp_path) as events, opened(address, tmp_path, "chroma_summaries") as summaries:
        await events.put({"a": "event"}, VECTORS[:1], OWNER)
        assert (await events.count(), await summaries.count()) == (1, 0)


async def test_many_at_once_and_some_that_are_broken_off_disturb_nobody(address, tmp_path):
    async with opened(address, tmp_path) as shared:
        await shared.put({"a": "first"}, VECTORS[:1], OWNER)
        asked = [asyncio.create_task(shared.near(VECTORS[0], 1)) for _ in range(40)]
        await asyncio.sleep(0.01)
        for task in asked[::2]:
            task.cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [answer[0].id for answer in answers[1::2]] == ["a"] * 20


async def test_what_fails_there_is_a_failure_of_memory_here(address, tmp_path):
    (tmp_path / "chroma").write_text("no folder")
    async with opened(address, tmp_path) as shared:
        with pytest.raises(MemoryUnavailable, match="the event library cannot be used"):
            await shared.count()
        assert shared.problem


async def test_without_the_process_that_has_it_memory_is_away_and_comes_back(tmp_path):
    with listen() as listener:
        async with opened(address_of(listener), tmp_path) as shared:
            async with serving_folders(listener.dup(), tmp_path):
                await shared.put({"a": "kept"}, VECTORS[:1], OWNER)
            asking = asyncio.create_task(shared.count())  # the socket still listens: whoever comes back will answer
            await asyncio.sleep(0.01)
            async with serving_folders(listener.dup(), tmp_path):
                assert await asking == 1
        listener.close()
        async with opened("soulgraph-nobody", tmp_path) as shared:
            with pytest.raises(MemoryUnavailable, match="does not answer"):
                await shared.count()


async def test_strangers_are_not_answered(address, tmp_path, monkeypatch):
    monkeypatch.setattr(chroma_shared.os, "geteuid", lambda: 12345)
    async with opened(address, tmp_path) as shared:
        with pytest.raises(MemoryUnavailable, match="does not answer"):
            await shared.count()


async def test_only_what_a_collection_does_can_be_asked_for(address):
    def ask():
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(f"\0{address}")
            stranger.sendall(b'{"folder": "chroma", "collection": "e-1", "method": "__class__", "values": {}}')
            stranger.shutdown(socket.SHUT_WR)
            return stranger.recv(1000)

    assert b"problem" in await asyncio.to_thread(ask)

"""The inner monologue: every one is kept, the last one is thought."""

import asyncio

import pytest

from soulgraph.errors import NotFound
from soulgraph.tests.stores.samples import NOW


async def think(home, words, now=NOW):
    async with home.write() as tx:
        return await tx.monologues.think("soul_1", words, "reflection:turn_1", now)


async def test_what_a_soul_was_born_with_is_its_first_version(home):
    async with home.read() as tx:
        born = (await tx.souls.get("soul_1")).inner_state
        assert await tx.monologues.all("soul_1") == []
    await think(home, "I worry about them.")
    async with home.read() as tx:
        assert [(one.n, one.inner_state) for one in await tx.monologues.all("soul_1")] == [
            (1, "I worry about them."),
            (0, born),
        ]
        assert (await tx.souls.get("soul_1")).inner_state == "I worry about them."
        assert (await tx.monologues.get("soul_1", 0)).source == "birth"


async def test_those_who_think_at_once_lose_no_version(home):
    await asyncio.gather(*(think(home, f"thought {n}") for n in range(8)))
    async with home.read() as tx:
        versions = await tx.monologues.all("soul_1")
        assert [one.n for one in versions] == [*range(8, -1, -1)]
        assert (await tx.souls.get("soul_1")).inner_state == versions[0].inner_state


async def test_an_unknown_version_is_not_found(home):
    with pytest.raises(NotFound):
        async with home.read() as tx:
            await tx.monologues.get("soul_1", 7)

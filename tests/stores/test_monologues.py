"""The inner monologue: every one is kept, the last one is thought."""

import asyncio

import pytest

from soulgraph.errors import NotFound
from soulgraph.stores.records import MonologueVersion, Relation
from soulgraph.tests.stores.samples import NOW, soul


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


async def test_what_a_soul_thinks_of_itself_and_of_each_person_do_not_mix(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.relations.ensure(Relation("soul_1", "ann", "", "A new face.", "", NOW - 5, NOW - 5))
        await tx.monologues.think("soul_1", "I am growing.", "reflection:turn_1", NOW)
        await tx.monologues.think("soul_1", "Ann is tired.", "reflection:turn_1", NOW, "ann")
        await tx.monologues.think("soul_1", "Ann is well.", "reflection:turn_2", NOW + 1, "ann")
        await tx.monologues.think("soul_1", "林很好。", "edited", NOW + 2, "林")
        await tx.monologues.think("soul_2", "Who is Ann?", "edited", NOW, "ann")
    async with home.read() as tx:
        assert [one.inner_state for one in await tx.monologues.all("soul_1")] == ["I am growing.", ""]
        assert await tx.monologues.all("soul_1", "ann") == [
            MonologueVersion("soul_1", "ann", 2, "Ann is well.", "reflection:turn_2", NOW + 1),
            MonologueVersion("soul_1", "ann", 1, "Ann is tired.", "reflection:turn_1", NOW),
            MonologueVersion("soul_1", "ann", 0, "A new face.", "meeting", NOW - 5),
        ]
        assert [one.inner_state for one in await tx.monologues.all("soul_1", "林")] == ["林很好。", ""]
        assert (await tx.monologues.get("soul_1", 1, "ann")).inner_state == "Ann is tired."
        assert (await tx.monologues.get("soul_1", 1)).inner_state == "I am growing."
        thoughts = {one.user_id: one.inner_state for one in await tx.relations.all("soul_1")}
        assert thoughts == {"ann": "Ann is well.", "林": "林很好。"}
        assert (await tx.souls.get("soul_1")).inner_state == "I am growing."
        with pytest.raises(NotFound):
            await tx.monologues.get("soul_1", 1, "bob")


async def test_what_was_thought_of_one_person_can_be_forgotten(home):
    async with home.write() as tx:
        for user_id in ("", "ann", "bob"):
            await tx.monologues.think("soul_1", f"of {user_id}", "edited", NOW, user_id)
        await tx.monologues.forget("soul_1", "ann")
        await tx.monologues.forget("soul_1", "a stranger")
        kept = [len(await tx.monologues.all("soul_1", user_id)) for user_id in ("", "ann", "bob")]
    assert kept == [2, 0, 2]


async def test_those_who_think_of_one_person_at_once_lose_no_version(home):
    async def think_of_ann(n):
        async with home.write() as tx:
            await tx.monologues.think("soul_1", f"thought {n}", "reflection", NOW, "ann")

    await asyncio.gather(*(think_of_ann(n) for n in range(6)))
    async with home.read() as tx:
        versions = await tx.monologues.all("soul_1", "ann")
        assert [one.n for one in versions] == [*range(6, -1, -1)]
        assert (await tx.relations.get("soul_1", "ann")).inner_state == versions[0].inner_state


async def test_a_soul_that_is_gone_thinks_of_nobody(stores):
    with pytest.raises(NotFound, match="no soul 'nobody'"):
        async with stores.write() as tx:
            await tx.monologues.think("nobody", "?", "edited", NOW, "ann")

"""Relations: one for a soul and each person it knows, and it goes with the soul."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import NotFound
from soulgraph.stores.records import Relation
from soulgraph.tests.stores.samples import NOW, soul

LATER = NOW + 60
MET = Relation.new("soul_1", "林", NOW)


async def test_two_meet_once(home):
    async with home.write() as tx:
        assert await tx.relations.find("soul_1", "林") is None
        await tx.relations.ensure(replace(MET, bond="同桌", inner_state="I like her."))
        await tx.relations.ensure(Relation.new("soul_1", "林", LATER))
    async with home.read() as tx:
        kept = replace(MET, bond="同桌", inner_state="I like her.")
        assert await tx.relations.get("soul_1", "林") == await tx.relations.find("soul_1", "林") == kept


async def test_a_soul_has_one_with_each_person_the_oldest_first(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for user_id, since in (("cleo", NOW), ("ann", LATER), ("bob", NOW)):
            await tx.relations.ensure(Relation.new("soul_1", user_id, since))
        await tx.relations.ensure(Relation.new("soul_2", "ann", NOW))
        assert [one.user_id for one in await tx.relations.all("soul_1")] == ["bob", "cleo", "ann"]
        assert await tx.relations.all("soul_2") == [Relation.new("soul_2", "ann", NOW)]
        assert await tx.relations.all("nobody") == []


async def test_each_part_changes_by_itself_and_for_one_person(home):
    other = Relation.new("soul_1", "ann", NOW)
    async with home.write() as tx:
        await tx.relations.ensure(MET)
        await tx.relations.ensure(other)
        await tx.relations.think("soul_1", "林", "She is tired.", LATER)
        await tx.relations.note("soul_1", "林", "ask about the exam", LATER + 1)
        await tx.relations.bind("soul_1", "林", "朋友", LATER + 2)
    async with home.read() as tx:
        assert await tx.relations.get("soul_1", "林") == Relation(
            "soul_1", "林", "朋友", "She is tired.", "ask about the exam", NOW, LATER + 2
        )
        assert await tx.relations.get("soul_1", "ann") == other


async def test_a_lock_makes_the_relation_that_is_missing_and_keeps_the_one_that_is_there(home):
    async with home.write() as tx:
        assert await tx.relations.lock("soul_1", "林", NOW) == MET
        await tx.relations.bind("soul_1", "林", "朋友", LATER)
        assert await tx.relations.lock("soul_1", "林", LATER + 1) == replace(MET, bond="朋友", updated_at=LATER)


async def test_those_who_write_at_once_wait_for_each_other(home):
    async def note(n):
        async with home.write() as tx:
            relation = await tx.relations.lock("soul_1", "林", NOW)
            await asyncio.sleep(0.01)
            await tx.relations.note("soul_1", "林", relation.scratch_area + str(n), NOW)

    await asyncio.gather(*map(note, range(6)))
    async with home.read() as tx:
        assert sorted((await tx.relations.get("soul_1", "林")).scratch_area) == [*"012345"]


async def test_an_unknown_relation_is_not_found(home):
    async with home.write() as tx:
        for use in (
            tx.relations.get("soul_1", "林"),
            tx.relations.think("soul_1", "林", "", NOW),
            tx.relations.note("soul_1", "林", "", NOW),
            tx.relations.bind("soul_1", "林", "", NOW),
            tx.relations.delete("soul_1", "林"),
        ):
            with pytest.raises(NotFound, match="no relation '林'"):
                await use


async def test_a_relation_is_deleted_for_one_person_and_goes_with_its_soul(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for soul_id, user_id in (("soul_1", "ann"), ("soul_1", "林"), ("soul_2", "ann")):
            await tx.relations.ensure(Relation.new(soul_id, user_id, NOW))
        await tx.relations.delete("soul_1", "ann")
        assert await tx.relations.all("soul_1") == [MET]
        await tx.souls.delete("soul_1")
        assert await tx.relations.all("soul_1") == []
        assert len(await tx.relations.all("soul_2")) == 1


async def test_a_relation_needs_a_soul(stores):
    with pytest.raises(IntegrityError):
        async with stores.write() as tx:
            await tx.relations.ensure(Relation.new("nobody", "ann", NOW))

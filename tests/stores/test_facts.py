"""Facts: told, superseded, withdrawn with their evidence, and never told to those who may not know of a change."""

from dataclasses import replace

import pytest

from soulgraph.errors import NotFound
from soulgraph.stores.stores import Stores
from tests.stores.samples import NOW, fact, live, message, session, soul

MODEL = "model_1"


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.sessions.add(session())
    return stores


async def _say(stores: Stores, *texts: str) -> list[int]:
    async with stores.write() as tx:
        return await tx.messages.append("sess_1", [message(text) for text in texts])


async def test_facts_are_listed_in_the_order_in_which_they_were_told(stores: Stores) -> None:
    later = fact("a", "Ann likes rain.", said_at=NOW + 1)
    others = fact("c", "Bob likes sun.", user_id="bob")
    async with stores.write() as tx:
        for one in (later, fact("b"), others):
            await tx.facts.put(one)
        assert await tx.facts.of("soul_1", "user_1") == [fact("b"), later]
        assert {one.fact_id for one in await tx.facts.all("soul_1")} == {"a", "b", "c"}
        assert await tx.facts.get("soul_1", "b") == fact("b")
        with pytest.raises(NotFound):
            await tx.facts.get("soul_2", "b")


async def test_an_audience_knows_its_own_and_what_is_shared_with_all_of_it(stores: Stores) -> None:
    async with stores.write() as tx:
        await tx.facts.put(fact("own"))
        await tx.facts.put(fact("of_bob", "Bob likes sun.", user_id="bob"))
        await tx.facts.put(fact("told", "Bob plays chess.", user_id="bob", shared_with=("user_1",)))
        await tx.facts.put(fact("all", "Cy has a cat.", user_id="cy", shared_with=("*",)))
        assert {one.fact_id for one in await tx.facts.known_to("soul_1", {"user_1"})} == {"own", "told", "all"}
        assert {one.fact_id for one in await tx.facts.known_to("soul_1", {"user_1", "bob"})} == {"told", "all"}
        assert {one.fact_id for one in await tx.facts.known_to("soul_1", None)} == {"own", "of_bob", "told", "all"}


async def test_who_may_not_know_what_superseded_a_fact_does_not_learn_of_the_change(stores: Stores) -> None:
    old = fact("old", shared_with=("bob",), valid_to=NOW + 9, superseded_by="new")
    async with stores.write() as tx:
        await tx.facts.put(old)
        await tx.facts.put(fact("new", "Ann lives in Cardiff.", said_at=NOW + 9))
        assert await tx.facts.known_to("soul_1", {"bob"}) == [replace(old, valid_to=None, superseded_by=None)]
        assert old in await tx.facts.known_to("soul_1", {"user_1"})


async def test_what_a_deleted_fact_had_superseded_holds_again(stores: Stores) -> None:
    async with stores.write() as tx:
        await tx.facts.put(fact("a", valid_to=NOW + 1, superseded_by="b"))
        await tx.facts.put(fact("b", "Ann lives in Cardiff.", valid_to=NOW + 2, superseded_by="c"))
        await tx.facts.put(fact("c", "Ann lives in York."))
        await tx.facts.delete(await tx.facts.get("soul_1", "b"))
        assert await tx.facts.get("soul_1", "a") == fact("a", valid_to=NOW + 2, superseded_by="c")
        await tx.facts.delete(await tx.facts.get("soul_1", "c"))
        assert await tx.facts.get("soul_1", "a") == fact("a")


@pytest.mark.parametrize("how", ["delete", "correct", "take_back", "session"])
async def test_facts_go_with_the_message_they_were_drawn_from_alone(stores: Stores, how: str) -> None:
    first, second = await _say(stores, "I live in Bristol", "I love Bristol, I live here")
    async with stores.write() as tx:
        await tx.facts.put(fact("alone", message_ids=[second]))
        await tx.facts.put(fact("twice", message_ids=[first, second]))
        await tx.facts.put(fact("written", message_ids=[second], source="user"))
        said = await tx.messages.get("sess_1", second)
        if how == "delete":
            await tx.messages.delete(said)
        elif how == "correct":
            await tx.messages.correct(said, "I live in York")
        elif how == "take_back":
            await tx.messages.take_back("sess_1", second)
        else:
            await tx.sessions.delete("sess_1")
        left = {one.fact_id: one.message_ids for one in await tx.facts.all("soul_1")}
    assert left == ({"written": []} if how == "session" else {"twice": [first], "written": []})


async def test_a_vector_is_lost_with_the_words_it_was_made_of(stores: Stores) -> None:
    async with stores.write() as tx:
        await tx.facts.put(fact("a"))
        [missing] = await tx.facts.without_vector(10)
        await tx.facts.put_vectors(MODEL, [(missing, b"\0\1")])
        assert await tx.facts.vectors("soul_1", MODEL) == {"a": b"\0\1"}
        await tx.facts.put(fact("a", shared_with=("bob",)))
        await tx.facts.drop_vectors(MODEL)
        assert await tx.facts.without_vector(10) == []
        await tx.facts.put(fact("a", "Ann lives in York."))
        await tx.facts.put_vectors(MODEL, [(missing, b"\0\1")])
        assert await tx.facts.vectors("soul_1", MODEL) == {}
        await tx.facts.put_vectors("model_2", [(await tx.facts.get("soul_1", "a"), b"\0\1")])
        await tx.facts.drop_vectors(MODEL)
        assert len(await tx.facts.without_vector(10)) == 1


async def test_the_stamp_changes_with_every_change(stores: Stores) -> None:
    async with stores.write() as tx:
        stamps = [await tx.facts.stamp("soul_1")]
        await tx.facts.put(fact("a"))
        stamps.append(await tx.facts.stamp("soul_1"))
        await tx.facts.put(fact("a", shared_with=("bob",), updated_at=NOW + 1))
        stamps.append(await tx.facts.stamp("soul_1"))
        await tx.facts.put_vectors(MODEL, [(fact("a"), b"\0\1")])
        stamps.append(await tx.facts.stamp("soul_1"))
        await tx.facts.delete(fact("a"))
        assert len(set(stamps)) == 4
        assert await tx.facts.stamp("soul_1") == stamps[0]


async def test_a_soul_takes_its_facts_with_it(stores: Stores) -> None:
    await live(stores, 2)
    async with stores.write() as tx:
        assert len(await tx.facts.all("soul_2")) == 1
        await tx.souls.delete("soul_2")
        assert await tx.facts.all("soul_2") == []

"""Recall by audience on both databases: what all who hear the answer may know, and nothing else."""

import pytest

from soulgraph.memory import index_cache
from soulgraph.memory.index_cache import IndexCache
from soulgraph.soul.people import EVERYONE, NOBODY
from soulgraph.tests.memory import test_recall
from soulgraph.tests.stores.samples import NOW, message, session, soul

QUERY = "where is the whale"
SAID = {
    "ann": ("Ann saw the whale at the pier", ()),
    "bob": ("Bob saw the whale in a dream", ("ann",)),
    "carl": ("Carl saw the whale on a stamp", (EVERYONE,)),
    "dora": ("Dora saw the whale in the bath", ("ann", "bob")),
    NOBODY: ("Somebody saw the whale long ago", ()),
}


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A machine that has much to do must not let anything be missed."""
    monkeypatch.setattr(index_cache, "TIMEOUT_S", 20)


def recall_on(stores):
    return test_recall.recall_on(stores, budget_s=20)


@pytest.fixture
async def household(stores):
    """Each has told it in a session of their own, and Ann and Bob have a group; returns the ids by person."""
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.souls.add(soul("soul_2"))
        for user_id, (text, shared_with) in SAID.items():
            await tx.sessions.add(session(f"s_{user_id}", user_id=user_id))
            answer = message(f"A whale, {user_id}!", role="assistant", user_id=user_id)
            await tx.messages.append(f"s_{user_id}", [message(text, user_id=user_id, shared_with=shared_with), answer])
        await tx.sessions.add(session("group", user_id="ann", people=("bob",)))
        await tx.messages.append("group", [message("We both saw the whale dive", user_id="bob", people=("ann",))])
    return stores


async def found(recall, *people, soul_id="soul_1"):
    """Who has told what is found; `group` for what was said there."""
    audience = frozenset(people) if people else None
    recalled = await recall.recall(soul_id, QUERY, 50, audience=audience)
    assert recalled.problem == ""
    return {
        "group" if one.message.session_id == "group" else one.message.user_id
        for one in recalled.episodes
        if one.message.role == "user"
    }


async def test_everybody_finds_their_own_and_what_is_shared_with_them(household):
    async with recall_on(household) as recall:
        assert await found(recall, "ann") == {"ann", "bob", "carl", "dora", "group"}
        assert await found(recall, "bob") == {"bob", "carl", "dora", "group"}
        assert await found(recall, "carl") == {"carl"}
        assert await found(recall, "dora") == {"carl", "dora"}
        assert await found(recall, "stranger") == {"carl"}


async def test_a_group_finds_what_all_of_it_may_know(household):
    async with recall_on(household) as recall:
        assert await found(recall, "ann", "bob") == {"bob", "carl", "dora", "group"}
        assert await found(recall, "bob", "ann") == await found(recall, "ann", "bob")
        assert await found(recall, "ann", "dora") == {"carl", "dora"}
        assert await found(recall, "ann", "bob", "carl") == {"carl"}


async def test_an_owner_finds_everything_and_another_soul_nothing(household):
    async with recall_on(household) as recall:
        assert await found(recall) == {*SAID, "group"}
        assert await found(recall, "ann", soul_id="soul_2") == set()


async def test_it_is_the_same_with_vectors_and_through_every_way_of_asking(household):
    async with recall_on(household) as recall:
        while await recall.index():
            pass
        assert await found(recall, "bob") == {"bob", "carl", "dora", "group"}
        direct = await recall.episodes("soul_1", QUERY, 50, audience=frozenset(["carl"]))
        assert {one.message.user_id for one in direct} == {"carl"}


async def test_what_stands_beside_a_shared_message_is_not_shared_with_it(household):
    async with recall_on(household) as recall:
        to_ann = await recall.recall("soul_1", "Bob dream", 1, audience=frozenset(["ann"]))
        to_bob = await recall.recall("soul_1", "Bob dream", 1, audience=frozenset(["bob"]))
    [hers], [his] = to_ann.episodes, to_bob.episodes
    assert hers.message == his.message
    assert hers.around == ()
    assert [line.content for line in his.around] == ["A whale, bob!"]


async def share(stores, user_id, *people):
    async with stores.write() as tx:
        said = (await tx.messages.page(f"s_{user_id}"))[0]
        assert await tx.episodes.share("soul_1", said.message_id, user_id, people)


async def test_what_is_taken_back_is_gone_at_once_from_an_index_that_still_has_it(household):
    async with recall_on(household) as recall:
        assert "bob" in await found(recall, "ann")
        assert "dora" in await found(recall, "ann", "bob")
        await share(household, "bob")
        await share(household, "dora", "ann")
        assert "bob" not in await found(recall, "ann")
        assert "dora" not in await found(recall, "ann", "bob")
        assert "dora" in await found(recall, "ann")


class Stubborn(IndexCache):
    """An index that is never read again."""

    def drop(self, soul_id):
        pass


async def test_not_even_an_index_that_stays_stale_brings_back_what_was_taken_back(household):
    async with recall_on(household) as recall:
        recall._episodes._indexes = Stubborn(household, "words-as-vectors")
        assert "bob" in await found(recall, "ann")
        await share(household, "bob")
        assert "bob" not in await found(recall, "ann")


async def test_what_is_shared_later_is_found_once_the_index_is_forgotten(household):
    async with recall_on(household) as recall:
        assert "ann" not in await found(recall, "carl")
        await share(household, "ann", "carl")
        recall.forget_index("soul_1")
        assert await found(recall, "carl") == {"ann", "carl"}
        assert await found(recall, "stranger") == {"carl"}


async def test_new_words_join_the_indexes_of_those_who_may_know_them(household):
    async with recall_on(household) as recall:
        before = [await found(recall, "ann"), await found(recall, "carl")]
        async with household.write() as tx:
            for user_id, shared_with in (("eve", ("carl",)), ("ann", ())):
                text = f"The whale greets {user_id}"
                await tx.sessions.ensure(session(f"new_{user_id}", user_id=user_id))
                await tx.messages.append(
                    f"new_{user_id}", [message(text, user_id=user_id, shared_with=shared_with, created_at=NOW + 1)]
                )
        assert await found(recall, "carl") == before[1] | {"eve"}
        assert await found(recall, "ann") == before[0]
        assert await found(recall, "eve") == {"carl", "eve"}


async def test_a_long_memory_of_others_does_not_hide_ones_own(household, monkeypatch):
    """The index is read in chunks: chunks of others' shared words are none of mine, and are not the end."""
    monkeypatch.setattr(index_cache, "_CHUNK", 3)
    async with household.write() as tx:
        noise = [message(f"noise {n}", user_id="bob", shared_with=("dora",)) for n in range(20)]
        await tx.messages.append("s_bob", noise)
    async with recall_on(household) as recall:
        assert await found(recall, "carl") == {"carl"}
        assert await found(recall, "ann") == {"ann", "bob", "carl", "dora", "group"}


async def test_what_nobody_may_know_costs_nobodys_ranking(household):
    """An audience has an index of its own: what others said is not compared and not counted."""
    async with recall_on(household) as recall:
        before = [one.score for one in (await recall.recall("soul_1", QUERY, 9, audience=frozenset(["carl"]))).episodes]
        async with household.write() as tx:
            await tx.messages.append("s_ann", [message(f"whale {n}", user_id="ann") for n in range(30)])
        recall.forget_index("soul_1")
        after = [one.score for one in (await recall.recall("soul_1", QUERY, 9, audience=frozenset(["carl"]))).episodes]
    assert before == after

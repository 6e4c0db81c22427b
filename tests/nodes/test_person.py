"""What a soul may show of a person, alone with them and before others, and what those who speak are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.errors import Conflict
from soulgraph.nodes.person import distinct, fact_of, read_person, speakers_in, with_absent, witnessed
from soulgraph.prompts.quotation import speaker_name
from soulgraph.soul.people import EVERYONE, NOBODY
from soulgraph.stores.records import Relation
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, GROUP, anns, bobs, called, group, told
from soulgraph.tests.stores.samples import NOW, preference, slot, snapshot, soul


async def keep(stores, *preferences):
    async with stores.write() as tx:
        for one in preferences:
            await tx.preferences.put(one)


async def person(stores, session, user_id, absent=()):
    async with stores.read() as tx:
        return await read_person(tx, session, "soul_1", user_id, absent)


async def test_ones_own_preferences_go_before_those_that_are_shared(house):
    await keep(
        house,
        preference("tone", user_id=ANN, value="casual", shared_with=(EVERYONE,)),
        preference("emoji", user_id=ANN, value="no", shared_with=(BOB,)),
        preference("tone", user_id=BOB, value="formal"),
        preference("tea", user_id=ANN, value="green"),
    )
    assert (await person(house, bobs(), BOB)).preferences == {"tone": "formal"}, "what Ann wants is not what Bob wants"
    assert (await person(house, anns(), ANN)).preferences == {"tone": "casual", "emoji": "no", "tea": "green"}


async def test_what_another_is_called_is_never_mine_however_it_is_shared(house):
    await keep(house, called(ANN, "Annie", shared_with=(EVERYONE,)))
    bob = await person(house, bobs(), BOB)
    assert (bob.name, bob.preferences) == (None, {})
    assert (await person(house, anns(), ANN)).name == "Annie"


async def test_what_belongs_to_nobody_is_known_to_nobody(house):
    await keep(house, preference("tea", user_id=NOBODY))
    assert (await person(house, anns(), ANN)).preferences == {}


async def test_before_others_only_what_all_may_know_counts_and_the_language(house):
    await keep(
        house,
        called(ANN, "Annie", shared_with=(BOB,)),
        called(BOB, "Bobby"),
        preference("language", user_id=ANN, value="zh"),
        preference("tea", user_id=ANN, value="green"),
        preference("tone", user_id=ANN, value="casual", shared_with=(BOB,)),
        preference("emoji", user_id=BOB, value="no", shared_with=(ANN,)),
    )
    ann = await person(house, group(), ANN)
    assert ann.preferences == {"address": "Annie", "language": "zh", "tone": "casual"}
    assert ann.names == {ANN: "Annie", BOB: BOB}
    third = await person(house, group(people=(BOB, "carl")), ANN)
    assert third.preferences == {"language": "zh"}
    assert third.names == {ANN: ANN, BOB: BOB, "carl": "carl"}, "a name that was told in private is private too"


async def test_a_relation_is_only_for_the_two_of_them(house):
    async with house.write() as tx:
        await tx.relations.ensure(Relation.new("soul_1", ANN, NOW))
    assert (await person(house, anns(), ANN)).relation == Relation.new("soul_1", ANN, NOW)
    assert (await person(house, group(), ANN)).relation is None
    assert (await person(house, bobs(), BOB)).relation is None


@pytest.mark.parametrize("user_id", [BOB, "carl", "", "ANN"])
async def test_who_does_not_take_part_is_refused(house, user_id):
    with pytest.raises(Conflict, match="start another for") as refused:
        await person(house, anns(), user_id)
    assert refused.value.problem_code == "session_mismatch"


async def test_in_a_group_two_of_the_same_name_are_told_apart_souls_included(house):
    async with house.write() as tx:
        await tx.souls.add(soul("soul_2", name="Lin"))
    everyone = {"shared_with": (EVERYONE,)}
    await keep(house, called(ANN, "Lin", **everyone), called(BOB, " lin", **everyone))
    both = group(souls={"soul_2": snapshot()})
    assert (await person(house, both, ANN)).names == {
        ANN: "Lin (ann)",
        BOB: " lin (bob)",
        "soul_2": "Lin (soul_2)",
    }


async def test_those_who_are_absent_have_names_too_and_cannot_be_impersonated(house):
    await keep(house, called(ANN, "Annie", shared_with=(BOB,)), called(BOB, "annie"))
    bob = await person(house, bobs(), BOB, absent=[ANN, "carl"])
    assert bob.names == {ANN: "Annie (ann)", BOB: "annie (bob)", "carl": "carl"}
    async with house.read() as tx:
        assert await with_absent(tx, "soul_1", [BOB], {BOB: "Bob"}, [BOB]) == {BOB: "Bob"}
        assert await with_absent(tx, "soul_1", ["carl"], {}, [ANN]) == {ANN: ANN}


@pytest.mark.parametrize("name", ["Ann:", "“Ann”", "Ann\u200b", "(Ann)", "ANN", " Ann\n", "[Ann]"])
def test_names_that_look_alike_once_they_are_shown_are_told_apart(name):
    shown = {key: speaker_name(one) for key, one in distinct({ANN: "Ann", BOB: name}).items()}
    assert shown[ANN] != shown[BOB]
    assert ("ann" in shown[ANN], "bob" in shown[BOB]) == (True, True)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5))
def test_nobody_bears_the_plain_name_of_another(names):
    by_id = {f"id_{n}": name for n, name in enumerate(names)}
    told_apart = distinct(by_id)
    plain = [speaker_name(name).casefold() for key, name in told_apart.items() if name == by_id[key]]
    assert len({*plain}) == len(plain)


async def test_alone_everything_of_the_session_was_heard(house):
    await told(house, ANNS, "It rains.")
    async with house.read() as tx:
        messages = await tx.messages.page(ANNS)
    assert witnessed(messages, anns(), "soul_1") == messages


async def test_a_group_is_shown_only_what_all_who_listen_now_and_the_soul_have_heard(house):
    await told(house, GROUP, "before Bob came", people=())
    await told(house, GROUP, "with Bob")
    await told(house, GROUP, "with Carl too", people=(BOB, "carl"))
    async with house.write() as tx:
        await tx.souls.add(soul("soul_2"))
        messages = await tx.messages.page(GROUP)

    def heard(session, soul_id="soul_1"):
        return [one.content for one in witnessed(messages, session, soul_id) if one.role == "user"]

    assert heard(group()) == ["with Bob", "with Carl too"]
    assert heard(group(people=(BOB, "carl"))) == ["with Carl too"]
    assert heard(group(souls={"soul_2": snapshot()}), "soul_2") == []


async def test_who_spoke_beside_the_two_is_known_by_id(house):
    await told(house, GROUP, "I am Ann")
    await told(house, GROUP, "I am Bob", user_id=BOB)
    async with house.read() as tx:
        messages = await tx.messages.page(GROUP)
    assert speakers_in(messages, "soul_1", ANN) == {BOB}
    assert speakers_in(messages, "soul_2", BOB) == {ANN, "soul_1"}


def test_a_fact_of_anothers_says_whose_it_is():
    assert fact_of(slot(user_id=ANN), ANN, {}) == "likes rain"
    assert fact_of(slot(user_id=ANN), BOB, {ANN: "Ann: “you”"}) == "Ann you: likes rain"

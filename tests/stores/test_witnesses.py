"""Episodes of people: every soul that was present remembers, and nobody hears what they were not told."""

from dataclasses import replace

import pytest

from soulgraph.soul.people import EVERYONE, NOBODY, may_know
from soulgraph.stores.records import EpisodeVector
from soulgraph.tests.stores.samples import message, session, soul

ANN, BOB, CLEO = "ann", "bob", "cleo"
TOLD = {
    "ann's secret": {"user_id": ANN},
    "bob's secret": {"user_id": BOB},
    "for bob": {"user_id": ANN, "shared_with": (BOB,)},
    "in a group": {"user_id": BOB, "people": (CLEO, ANN)},
    "for all": {"user_id": CLEO, "shared_with": (EVERYONE,)},
    "nobody's": {"user_id": NOBODY},
    "ann's answer": {"user_id": ANN, "role": "assistant"},
}
KNOWN = [
    ([ANN], {"ann's secret", "for bob", "in a group", "for all", "ann's answer"}),
    ([BOB], {"bob's secret", "for bob", "in a group", "for all"}),
    ([CLEO], {"in a group", "for all"}),
    (["Ann"], {"for all"}),
    ([ANN, BOB], {"for bob", "in a group", "for all"}),
    ([ANN, BOB, CLEO], {"in a group", "for all"}),
    ([ANN, BOB, CLEO, "dan"], {"for all"}),
    (None, {*TOLD}),
]


@pytest.fixture
async def ids(home):
    """The ids of what was told, by its words; `soul_2` has heard the same from others."""
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.sessions.add(session("sess_2", "soul_2"))
        said = await tx.messages.append("sess_1", [message(words, **fields) for words, fields in TOLD.items()])
        for fields in TOLD.values():
            await tx.messages.append("sess_2", [message("elsewhere", **fields | {"soul_id": "soul_2"})])
    return dict(zip(TOLD, said, strict=True))


def known(episodes, audience, ids):
    words = {message_id: words for words, message_id in ids.items()}
    may = [one for one in episodes if audience is None or may_know(audience, one.user_id, one.shared_with)]
    return [words[one.message_id] for one in may]


@pytest.mark.parametrize(("audience", "expected"), KNOWN)
async def test_an_audience_recalls_what_all_of_it_may_know(home, ids, audience, expected):
    async with home.read() as tx:
        after = await tx.episodes.after("soul_1", audience)
        before = await tx.episodes.before("soul_1", audience, 2**40, 99)
        messages = await tx.episodes.messages("soul_1", ids.values(), audience)
    assert before == after[::-1]
    assert set(known(after, audience, ids)) == {one.message.content for one in messages.values()} == expected
    assert [one.message_id for one in after] == sorted({one.message_id for one in after})


@pytest.mark.parametrize("audience", [audience for audience, _ in KNOWN if audience])
async def test_what_is_private_is_not_even_read_for_others(home, ids, audience):
    async with home.read() as tx:
        read = await tx.episodes.after("soul_1", audience)
    assert all(one.shared_with or [one.user_id] == audience for one in read)


@pytest.mark.parametrize("audience", [[ANN], [ANN, BOB], None])
async def test_pages_visit_every_episode_once(home, ids, audience):
    async with home.read() as tx:
        all_of_them = await tx.episodes.after("soul_1", audience)
        seen, below = [], 2**40
        while page := await tx.episodes.before("soul_1", audience, below, 2):
            assert len(page) <= 2
            seen += page
            below = page[-1].message_id
        assert seen == all_of_them[::-1]
        middle = all_of_them[1].message_id
        assert await tx.episodes.after("soul_1", audience, middle) == all_of_them[2:]


async def test_an_audience_of_nobody_is_told_what_all_may_know(home, ids):
    async with home.read() as tx:
        read = await tx.episodes.after("soul_1", [])
    assert {one.message_id for one in read} == {ids[words] for words in ("for bob", "in a group", "for all")}


async def test_vectors_come_with_the_episodes_of_their_soul_and_model(home, ids):
    mine = ids["ann's secret"]
    async with home.write() as tx:
        await tx.vectors.put([EpisodeVector(mine, "soul_1", "model", b"\0\1")])
        for audience in ([ANN], None):
            [with_vector] = [one for one in await tx.episodes.after("soul_1", audience, model="model") if one.vector]
            assert (with_vector.message_id, with_vector.vector) == (mine, b"\0\1")
            assert not any(one.vector for one in await tx.episodes.before("soul_1", audience, 2**40, 9, "other"))


async def test_every_soul_that_was_present_remembers_and_no_other(home):
    async with home.write() as tx:
        for soul_id in ("soul_2", "soul_3"):
            await tx.souls.add(soul(soul_id))
        # The soul that is spoken to is named twice: it remembers once.
        group = {"user_id": ANN, "people": (BOB, ANN), "soul_id": "soul_2", "souls": ("soul_1", "soul_2")}
        first, second = await tx.messages.append("sess_1", [message("one", **group), message("two", **group)])
        one, two = await tx.episodes.after("soul_1"), await tx.episodes.after("soul_2")
        assert await tx.episodes.after("soul_3") == []
    assert one == two
    assert [(each.message_id, each.previous_id) for each in one] == [(first, None), (second, first)]
    assert {(each.user_id, each.shared_with) for each in one} == {(ANN, (BOB,))}


async def test_a_soul_that_is_deleted_forgets_and_the_others_do_not(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        [said] = await tx.messages.append("sess_1", [message("hello", souls=("soul_2",))])
        await tx.vectors.put([EpisodeVector(said, soul_id, "model", b"\0\1") for soul_id in ("soul_1", "soul_2")])
        await tx.souls.delete("soul_2")
        assert [one.message_id for one in await tx.episodes.after("soul_1")] == [said]
        assert await tx.vectors.after("soul_1", "model", 0, 9) == [(said, b"\0\1")]
        assert await tx.episodes.after("soul_2") == await tx.vectors.after("soul_2", "model", 0, 9) == []


async def test_each_soul_has_a_vector_of_its_own(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        [said] = await tx.messages.append("sess_1", [message("hello", souls=("soul_2",))])
        missing = [(said, "soul_1", "hello"), (said, "soul_2", "hello")]
        assert sorted(await tx.vectors.missing("model", 0, said)) == missing
        await tx.vectors.put([EpisodeVector(said, "soul_2", "model", b"\0\1")])
        assert await tx.vectors.missing("model", 0, said) == missing[:1]
        await tx.vectors.put([EpisodeVector(said, "soul_1", "model", b"\2\3")])
        assert await tx.vectors.missing("model", 0, said) == []
        assert [one.vector for one in await tx.episodes.after("soul_1", model="model")] == [b"\2\3"]
        assert [one.vector for one in await tx.episodes.after("soul_2", model="model")] == [b"\0\1"]


async def test_a_use_counts_for_the_message_however_many_souls_have_heard_it(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        [said] = await tx.messages.append("sess_1", [message("hello", souls=("soul_2",))])
        await tx.episodes.useful([said])
        for soul_id in ("soul_1", "soul_2"):
            assert (await tx.episodes.messages(soul_id, [said]))[said].useful == 1


async def test_a_person_shares_their_own_words_and_takes_that_back(home, ids):
    secret = ids["ann's secret"]
    async with home.write() as tx:
        assert await tx.episodes.share("soul_1", secret, BOB, [CLEO]) is False
        assert await tx.episodes.share("soul_2", secret, ANN, [CLEO]) is False
        assert await tx.episodes.messages("soul_1", [secret], [CLEO]) == {}
        assert await tx.episodes.share("soul_1", secret, ANN, [CLEO, ANN, BOB, CLEO]) is True
        [found] = (await tx.episodes.messages("soul_1", [secret], [CLEO])).values()
        assert (found.message.content, found.shared_with) == ("ann's secret", (BOB, CLEO))
        assert secret in {one.message_id for one in await tx.episodes.after("soul_1", [BOB, CLEO])}
        assert await tx.episodes.share("soul_1", secret, ANN, []) is True
        assert await tx.episodes.messages("soul_1", [secret], [CLEO]) == {}


async def test_what_is_shared_is_listed_with_whom(home, ids):
    async with home.read() as tx:
        shared = await tx.episodes.shared("soul_1")
        assert {one.message.content for one in await tx.episodes.shared("soul_2")} == {"elsewhere"}
        assert await tx.episodes.shared("nobody") == []
    assert [(one.message.content, one.shared_with) for one in shared] == [
        ("for bob", (BOB,)),
        ("in a group", (ANN, CLEO)),
        ("for all", (EVERYONE,)),
    ]
    assert [replace(one, shared_with=()).known_to([CLEO]) for one in shared] == [False, False, True]

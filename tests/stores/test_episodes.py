"""Episodes: every message can be found from the moment it is written, and no longer than it exists."""

import pytest

from soulgraph.errors import NotFound
from soulgraph.senses.tokenizer import fingerprints
from soulgraph.stores.records import EpisodeVector
from soulgraph.tests.stores.samples import NOW, message, session, soul


async def say(stores, *contents, session_id="sess_1", **fields):
    async with stores.write() as tx:
        await tx.messages.append(session_id, [message(content, **fields) for content in contents])
        return [said.message_id for said in await tx.messages.page(session_id)][-len(contents) :]


async def test_a_message_is_indexed_with_its_terms_and_the_one_before_it(home):
    first = await say(home, "green tea", "绿茶", role="assistant")
    [third] = await say(home, "and cake", created_at=NOW + 1)
    async with home.read() as tx:
        episodes = await tx.episodes.after("soul_1")
    assert [one.message_id for one in episodes] == [*first, third]
    assert [one.previous_id for one in episodes] == [None, first[0], first[1]]
    assert [one.by_user for one in episodes] == [False, False, True]
    assert [one.terms for one in episodes] == [fingerprints(text) for text in ("green tea", "绿茶", "cake")]
    assert [one.at for one in episodes] == [NOW, NOW, NOW + 1]


async def test_messages_of_sessions_that_take_turns_keep_to_their_session(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
    [one], [other] = await say(home, "a"), await say(home, "b", session_id="sess_2")
    [two] = await say(home, "c")
    async with home.read() as tx:
        before = {episode.message_id: episode.previous_id for episode in await tx.episodes.after("soul_1")}
    assert before == {one: None, other: None, two: one}


async def test_a_long_import_is_indexed_whole_and_in_order(home):
    ids = await say(home, *(f"line {n}" for n in range(250)))
    async with home.read() as tx:
        episodes = await tx.episodes.after("soul_1")
        assert await tx.episodes.after("soul_1", message_id=ids[100]) == episodes[101:]
        assert await tx.episodes.before("soul_1", None, ids[100], 20) == episodes[80:100][::-1]
    assert [one.message_id for one in episodes] == ids
    assert [one.previous_id for one in episodes] == [None, *ids[:-1]]
    assert episodes[249].terms == fingerprints("line 249")


async def test_a_turn_that_is_rolled_back_leaves_nothing_to_find(home):
    with pytest.raises(NotFound):
        async with home.write() as tx:
            await tx.messages.append("sess_1", [message("a secret")])
            await tx.souls.get("nobody")
    async with home.read() as tx:
        assert await tx.episodes.after("soul_1") == []


@pytest.mark.parametrize("what", ["session", "soul"])
async def test_what_finds_a_message_goes_with_it(home, what):
    [said] = await say(home, "green tea")
    async with home.write() as tx:
        await tx.vectors.put([EpisodeVector(said, "soul_1", "model", b"\0\0")])
        await tx.episodes.recalled([said], NOW)
        await (tx.sessions.delete("sess_1") if what == "session" else tx.souls.delete("soul_1"))
    async with home.read() as tx:
        assert await tx.episodes.after("soul_1") == await tx.vectors.after("soul_1", "model", 0, 9) == []
        assert await tx.episodes.messages("soul_1", [said]) == {}


async def test_only_a_souls_own_messages_are_told(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
    [said] = await say(home, "green tea")
    async with home.write() as tx:
        await tx.episodes.useful([said, said + 1])
        await tx.episodes.useful([said])
        told = await tx.episodes.messages("soul_1", [said, said + 1])
        assert await tx.episodes.messages("soul_2", [said]) == await tx.episodes.messages("soul_1", []) == {}
    assert told[said].message.content == "green tea"
    assert told[said].useful == 2


async def test_messages_without_a_vector_of_the_model_are_known(home):
    one, two = await say(home, "a", "b")
    async with home.write() as tx:
        assert await tx.vectors.last_message() == two
        await tx.vectors.put([EpisodeVector(one, "soul_1", "model", b"\0\1")])
        assert await tx.vectors.missing("model", 0, two) == [(two, "soul_1", "b")]
        assert await tx.vectors.missing("other", 0, one) == [(one, "soul_1", "a")]
        await tx.vectors.put([EpisodeVector(one, "soul_1", "other", b"\2\3")])
        assert await tx.vectors.after("soul_1", "model", 0, 9) == []
        assert await tx.vectors.after("soul_1", "other", 0, 9) == [(one, b"\2\3")]

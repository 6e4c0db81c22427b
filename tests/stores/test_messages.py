"""Messages: in the order they were said, paged without loss, found by what they mention."""

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.stores.records import Message
from soulgraph.tests.stores.samples import NOW, message, session, soul


async def say(stores, *contents, session_id="sess_1", **fields):
    async with stores.write() as tx:
        await tx.messages.append(session_id, [message(content, **fields) for content in contents])


def texts(messages):
    return [one.content for one in messages]


async def test_a_message_comes_back_as_it_was_appended(home):
    long = "我听见你了 🫶🏽\n'quoted' 100% \\ " * 5000
    async with home.write() as tx:
        await tx.messages.append(
            "sess_1", [message(long, input_id="in_1"), message("", role="assistant", archived=True)]
        )
        first, second = await tx.messages.page("sess_1")
    between = {"user_id": "user_1", "soul_id": "soul_1"}
    assert first == Message(first.message_id, "sess_1", "turn_1", "user", long, False, "in_1", NOW, **between)
    assert second == Message(second.message_id, "sess_1", "turn_1", "assistant", "", True, None, NOW, **between)


async def test_a_message_tells_who_was_present_and_the_transcript_not_with_whom_it_was_shared(home):
    async with home.write() as tx:
        present = {"user_id": "ann", "people": ("bob", "林"), "soul_id": "soul_1", "souls": ("soul_2",)}
        await tx.souls.add(soul("soul_2"))
        await tx.messages.append("sess_1", [message("hello all", **present, shared_with=("cleo",))])
        [said] = await tx.messages.page("sess_1")
    assert (said.user_id, said.people, said.soul_id, said.souls) == ("ann", ("bob", "林"), "soul_1", ("soul_2",))


@pytest.mark.parametrize(
    ("audience", "soul_id", "heard"),
    [
        (["ann"], "soul_1", True),
        (["ann", "bob", "林"], "soul_2", True),
        (["bob"], "soul_1", True),
        ([], "soul_1", True),
        (["cleo"], "soul_1", False),
        (["ann", "cleo"], "soul_1", False),
        (["Ann"], "soul_1", False),
        (["ann"], "soul_3", False),
    ],
)
def test_a_message_was_heard_if_all_of_them_were_there(audience, soul_id, heard):
    present = {"user_id": "ann", "people": ("bob", "林"), "soul_id": "soul_1", "souls": ("soul_2",)}
    said = Message(1, "sess_1", "turn_1", "assistant", "hello", False, None, NOW, **present)
    assert said.heard_by(audience, soul_id) is heard


async def test_messages_keep_their_order(home):
    said = [str(n) for n in range(30)]
    await say(home, *said[:20])
    await say(home)
    await say(home, *said[20:])
    async with home.read() as tx:
        page = await tx.messages.page("sess_1")
    assert texts(page) == said
    assert [one.message_id for one in page] == sorted(one.message_id for one in page)


async def test_recent_gives_the_last_unarchived_ones_oldest_first(home):
    await say(home, "old", "older", archived=True)
    await say(home, "a", "b", "c", "d", "e")
    async with home.read() as tx:
        assert texts(await tx.messages.recent("sess_1", 3)) == ["c", "d", "e"]
        assert texts(await tx.messages.recent("sess_1", 10)) == ["a", "b", "c", "d", "e"]
        assert await tx.messages.recent("sess_1", 0) == []
        assert await tx.messages.recent("nowhere", 3) == []


async def test_a_conversation_keeps_its_last_two_rounds_when_they_are_archived(home):
    await say(home, "a", "b", "c", "d", "e", "f")
    async with home.write() as tx:
        ids = [one.message_id for one in await tx.messages.unarchived("sess_1", 2**62)]
        assert await tx.messages.unarchived("sess_1", ids[0] - 1) == []
        await tx.messages.archive(ids)
    async with home.read() as tx:
        assert await tx.messages.unarchived("sess_1", 2**62) == []
        assert texts(await tx.messages.recent("sess_1", 10)) == ["c", "d", "e", "f"]
        assert [one.archived for one in await tx.messages.page("sess_1")] == [True] * 6


async def test_the_last_ones_are_given_archived_or_not(home):
    await say(home, "a", "b", archived=True)
    await say(home, "c")
    async with home.read() as tx:
        assert texts(await tx.messages.last("sess_1", 2)) == ["b", "c"]
        assert texts(await tx.messages.last("sess_1", 9)) == ["a", "b", "c"]


async def test_words_of_the_souls_own_accord_are_marked_and_others_are_not(home):
    await say(home, "hello")
    await say(home, "awake?", role="assistant", proactive=True)
    async with home.read() as tx:
        assert [one.proactive for one in await tx.messages.page("sess_1")] == [False, True]


async def test_pages_visit_every_message_once(home):
    await say(home, "a", "b", archived=True)
    await say(home, "c", "d", "e")
    seen, after = [], 0
    async with home.read() as tx:
        while page := await tx.messages.page("sess_1", after, limit=2):
            assert len(page) <= 2
            seen += texts(page)
            after = page[-1].message_id
    assert seen == ["a", "b", "c", "d", "e"]


async def test_sessions_do_not_see_each_others_messages(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
    await say(home, "mine")
    await say(home, "other", session_id="sess_2")
    async with home.read() as tx:
        assert texts(await tx.messages.page("sess_1")) == texts(await tx.messages.recent("sess_1", 9)) == ["mine"]


async def test_a_message_needs_a_session(stores):
    with pytest.raises(IntegrityError):
        await say(stores, "hello", session_id="nowhere")


async def test_an_input_is_heard_once_per_session(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
    await say(home, "no input", "none again")
    await say(home, "hello", input_id="in_1")
    await say(home, "hello", input_id="in_1", session_id="sess_2")
    with pytest.raises(IntegrityError):
        await say(home, "hello", input_id="in_1")


async def test_ids_are_never_used_again(home):
    await say(home, "a", "b")
    async with home.write() as tx:
        last = (await tx.messages.page("sess_1"))[-1].message_id
        await tx.sessions.delete("sess_1")
        await tx.sessions.add(session())
    await say(home, "c")
    async with home.read() as tx:
        assert (await tx.messages.page("sess_1"))[0].message_id > last

"""Messages that are taken back, corrected or deleted: everything that finds them again follows."""

from sqlalchemy import func, select

from soulgraph.senses.tokenizer import fingerprints
from soulgraph.stores import schema
from soulgraph.stores.forks import copy_conversation
from soulgraph.stores.records import EpisodeVector
from soulgraph.tests.stores.samples import NOW, message, session, soul

FINDERS = (schema.episodes, schema.episode_vectors, schema.episode_uses)


async def said(home, *contents, **fields):
    """Messages with a vector and a count of use each, every one of a turn of its own; returns their ids."""
    async with home.write() as tx:
        new = [message(content, turn_id=f"turn_{n}", **fields) for n, content in enumerate(contents)]
        ids = await tx.messages.append("sess_1", new)
        await tx.vectors.put([EpisodeVector(message_id, "soul_1", "model", b"\0\1") for message_id in ids])
        await tx.episodes.recalled(ids, NOW)
    return ids


async def rows(home, table):
    async with home.database.read() as connection:
        return (await connection.execute(select(func.count()).select_from(table))).scalar()


async def test_a_message_and_all_after_it_are_taken_back_with_what_finds_them(home):
    ids = await said(home, "a", "b", "c")
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await tx.messages.append("sess_2", [message("elsewhere")])
        assert [one.content for one in await tx.messages.take_back("sess_1", ids[1])] == ["b", "c"]
        assert await tx.messages.ids_from("sess_1", 0) == ids[:1]
        assert len(await tx.messages.page("sess_2")) == 1
    assert [await rows(home, table) for table in FINDERS] == [2, 1, 1]


async def test_what_is_said_next_follows_what_was_left(home):
    ids = await said(home, "a", "b")
    async with home.write() as tx:
        await tx.messages.take_back("sess_1", ids[1])
        await tx.messages.append("sess_1", [message("c")])
        assert (await tx.episodes.after("soul_1"))[-1].previous_id == ids[0]


async def test_a_corrected_message_is_indexed_by_its_new_words_for_all_who_were_present(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        [message_id] = await tx.messages.append("sess_1", [message("bees", souls=("soul_2",))])
        vectors = [EpisodeVector(message_id, soul_id, "model", b"\0\1") for soul_id in ("soul_1", "soul_2")]
        await tx.vectors.put(vectors)
        await tx.messages.correct(await tx.messages.get("sess_1", message_id), "pigeons")
        for soul_id in ("soul_1", "soul_2"):
            [episode] = await tx.episodes.after(soul_id, model="model")
            assert (episode.terms, episode.vector) == (fingerprints("pigeons"), None)
        assert (await tx.messages.get("sess_1", message_id)).content == "pigeons"


async def test_around_a_deleted_message_the_others_follow_each_other(home):
    first, second, third = await said(home, "a", "b", "c")
    async with home.write() as tx:
        await tx.messages.delete(await tx.messages.get("sess_1", second))
        assert [(one.message_id, one.previous_id) for one in await tx.episodes.after("soul_1")] == [
            (first, None),
            (third, first),
        ]
        await tx.messages.delete(await tx.messages.get("sess_1", first))
        assert [one.previous_id for one in await tx.episodes.after("soul_1")] == [None]
    assert [await rows(home, table) for table in FINDERS] == [1, 1, 1]


async def test_vectors_and_counts_of_messages_that_are_gone_are_left_out(home):
    [there, gone] = await said(home, "a", "b")
    async with home.write() as tx:
        await tx.messages.take_back("sess_1", gone)
        await tx.vectors.put([EpisodeVector(one, "soul_1", "other", b"\2\3") for one in (there, gone)])
        await tx.episodes.recalled([there, gone], NOW)
        assert await tx.vectors.after("soul_1", "other", 0, 9) == [(there, b"\2\3")]
    assert await rows(home, schema.episode_uses) == 1


async def test_the_last_messages_before_one_are_those_before_it(home):
    ids = await said(home, "a", "b", "c", "d")
    async with home.read() as tx:
        assert [one.message_id for one in await tx.messages.last("sess_1", 2, ids[3])] == ids[1:3]
        assert [one.message_id for one in await tx.messages.recent("sess_1", 9, ids[2])] == ids[:2]
        assert await tx.messages.last("sess_1", 2, ids[0]) == []


async def test_whether_others_have_spoken_since(home):
    async with home.write() as tx:
        new = [message("a", user_id="ann"), message("b", user_id="ann", role="assistant"), message("c", user_id="bob")]
        ids = await tx.messages.append("sess_1", new)
        assert await tx.messages.spoken_by_others("sess_1", ids[0], "ann")
        assert not await tx.messages.spoken_by_others("sess_1", ids[0], "bob")
        assert not await tx.messages.spoken_by_others("sess_1", ids[2], "ann")
        assert not await tx.messages.spoken_by_others("elsewhere", ids[0], "ann")


async def test_the_jobs_of_what_is_taken_back_are_dropped_whoever_has_claimed_them(home):
    ids = await said(home, "a", "b", "c")
    async with home.write() as tx:
        for n in range(3):
            await tx.outbox.add("afterglow", "soul_1", "sess_1", f"turn_{n}", {}, NOW)
        await tx.outbox.add("afterglow", "soul_1", "sess_2", "turn_9", {}, NOW)
    async with home.write() as tx:
        claimed = await tx.outbox.claim(NOW, NOW + 30)
        await tx.outbox.drop_from("sess_1", ids[1])
        assert [job.turn_id for job in await tx.outbox.all("sess_1")] == ["turn_0"]
        await tx.outbox.drop("sess_1", "turn_0")
        assert claimed and not await tx.outbox.extend(claimed, NOW + 60)
        assert not await tx.outbox.done(claimed)
        assert len(await tx.outbox.all("sess_2")) == 1


async def test_a_fork_copies_what_was_said_and_heard_up_to_a_message(home):
    ids = await said(home, "a", "b", "c", archived=True)
    async with home.write() as tx:
        for n in range(3):
            await tx.turns.heard("sess_1", f"in_{n}", f"turn_{n}", "soul_1", {"emotion": "joy"}, NOW)
            answer = {"reply": str(n), "session_id": "sess_1", "turn_id": f"turn_{n}", "replaces": 7}
            await tx.turns.answered("sess_1", f"in_{n}", answer)
        await tx.sessions.reflected("sess_1", ids[0])
        old = await tx.sessions.get("sess_1")
        fork = await copy_conversation(tx, old, session("fork", turn=8), ids[1])
        assert (fork.turn, (await tx.sessions.get("fork")).turn) == (2, 2)
        copies = await tx.messages.page("fork")
        assert [(one.content, one.archived) for one in copies] == [("a", True), ("b", True)]
        assert (await tx.sessions.get("fork")).reflected_to == copies[0].message_id
        turns = await tx.turns.of([one.turn_id for one in copies])
        assert {turn.input_id for turn in turns} == {"in_0", "in_1"}
        for turn in turns:
            ids_told = {key: (turn.answer or {})[key] for key in ("session_id", "turn_id", "replaces")}
            assert ids_told == {"session_id": "fork", "turn_id": turn.turn_id, "replaces": None}
        assert len(await tx.messages.page("sess_1")) == 3

"""Recall on both databases: a soul finds messages of all its own sessions, and never those of another."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from soulgraph.errors import StoreUnavailable
from soulgraph.memory import index_cache
from soulgraph.memory.event_source import EventSource, RecalledEvent
from soulgraph.memory.index_cache import IndexCache
from soulgraph.memory.recall import Recall, Recalled
from soulgraph.memory.source import Query
from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import query_terms
from soulgraph.stores.schema import episode_uses
from soulgraph.tests.memory.test_events import event
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.stores.samples import NOW, message, session, soul

TRANSCRIPT = [
    ("user", "My daughter is called Mika and she turns seven in June"),
    ("assistant", "A June child! What does she like?"),
    ("user", "She paints whales all day long"),
    ("assistant", "Then her walls must look like the sea"),
    ("user", "我把车停在地下三层了"),
    ("assistant", "好的，地下三层，我帮你记着"),
]


@pytest.fixture
async def filled_stores(stores):
    async with stores.write() as tx:
        for n in (1, 2):
            await tx.souls.add(soul(f"soul_{n}"))
            await tx.sessions.add(session(f"sess_{n}", f"soul_{n}"))
        await tx.messages.append("sess_1", [message(text, role=role) for role, text in TRANSCRIPT])
        await tx.messages.append("sess_2", [message("My daughter is called Ines", soul_id="soul_2")])
    return stores


@asynccontextmanager
async def recall_on(stores, events=None, embedder=None, **options):
    recall = Recall(stores, embedder or WordVectors(), lambda: NOW, [EventSource(events)] if events else [], **options)
    try:
        yield recall
    finally:
        await recall.close()


class NoEvents:
    """An event library that fails, or never answers."""

    def __init__(self, hangs=False):
        self.hangs = hangs

    async def ranked(self, text, k, vector=None, audiences=None):
        if self.hangs:
            await asyncio.sleep(60)
        raise StoreUnavailable("the event library does not answer: gone")


def texts(recalled):
    return [one.message.content for one in recalled.episodes]


async def test_what_was_said_is_found_with_what_was_said_around_it(filled_stores):
    async with recall_on(filled_stores) as recall:
        recalled = await recall.recall("soul_1", "does my daughter like painting whales?", 1)
    [episode] = recalled.episodes
    said = [line.content for line in episode.lines]
    assert "She paints whales all day long" in said
    assert "My daughter is called Mika and she turns seven in June" in said
    assert len(said) == 3
    assert recalled.problem == ""


async def test_both_databases_rank_alike(filled_stores):
    async with recall_on(filled_stores) as recall:
        while await recall.index():
            pass
        found = texts(await recall.recall("soul_1", "Mika 我把车停在地下哪里 June", 10))
    assert found[:2] == [TRANSCRIPT[4][1], TRANSCRIPT[0][1]]


async def test_a_soul_never_finds_what_was_said_to_another(filled_stores):
    async with recall_on(filled_stores) as recall:
        assert texts(await recall.recall("soul_2", "is my daughter called Mika?", 9)) == ["My daughter is called Ines"]
        assert texts(await recall.recall("soul_2", "who paints whales?", 9)) == []
        assert texts(await recall.recall("nobody", "daughter")) == []


async def test_a_question_about_nothing_known_brings_nothing(filled_stores):
    async with recall_on(filled_stores) as recall:
        await recall.index()
        assert texts(await recall.recall("soul_1", "quantum submarine invoices")) == []
        assert texts(await recall.recall("soul_1", "")) == []


async def test_small_talk_calls_nothing_to_mind(filled_stores):
    embedder, small_talk = (
        WordVectors(),
        ["晚安", "hello!", "好的", "thanks", "哈哈哈", "你在干嘛呢", "Good night."],
    )
    async with filled_stores.write() as tx:
        await tx.messages.append("sess_1", [message(text) for text in small_talk])
    async with recall_on(filled_stores, embedder=embedder) as recall:
        embedder.away = True  # it is not even asked what it means
        assert [await recall.recall("soul_1", text) for text in small_talk] == [Recalled()] * 7


async def test_what_the_prompt_shows_already_is_left_out(filled_stores):
    async with filled_stores.read() as tx:
        shown = [said.message_id for said in await tx.messages.page("sess_1")][:2]
    async with recall_on(filled_stores) as recall:
        assert TRANSCRIPT[0][1] not in texts(await recall.recall("soul_1", "daughter Mika June", 9, exclude=shown))


async def test_what_is_said_later_is_found_too(filled_stores):
    async with recall_on(filled_stores) as recall:
        assert texts(await recall.recall("soul_1", "violin lessons")) == []
        async with filled_stores.write() as tx:
            await tx.messages.append("sess_1", [message("Mika starts violin lessons on Monday")])
        assert texts(await recall.recall("soul_1", "violin lessons"))[0] == "Mika starts violin lessons on Monday"


async def test_a_deleted_session_is_forgotten_at_once(filled_stores):
    async with recall_on(filled_stores) as recall:
        assert texts(await recall.recall("soul_1", "whales"))
        async with filled_stores.write() as tx:
            await tx.sessions.delete("sess_1")
        assert texts(await recall.recall("soul_1", "whales")) == []


async def test_every_message_gets_its_vector_once(filled_stores):
    async with recall_on(filled_stores) as recall:
        assert [await recall.index(4), await recall.index(4), await recall.index(4)] == [4, 3, 0]
        async with filled_stores.write() as tx:
            await tx.messages.append("sess_1", [message("one more")])
        assert [await recall.index(4), await recall.index(4)] == [1, 0]


async def test_another_model_makes_its_own_vectors(filled_stores):
    async with recall_on(filled_stores) as recall:
        await recall.index()
    async with recall_on(filled_stores, embedder=WordVectors("another")) as recall:
        assert [await recall.index(), await recall.index()] == [7, 0]
    async with filled_stores.read() as tx:
        assert await tx.vectors.after("soul_1", "words-as-vectors", 0, 99) == []
        assert len(await tx.vectors.after("soul_1", "another", 0, 99)) == 6


async def test_without_an_embedder_words_are_enough(filled_stores):
    embedder = WordVectors()
    async with recall_on(filled_stores, embedder=embedder) as recall:
        embedder.away = True
        recalled = await recall.recall("soul_1", "whales")
    assert TRANSCRIPT[2][1] in texts(recalled)
    assert recalled.problem == "meaning: the embeddings endpoint failed"


@pytest.mark.parametrize("hangs", [True, False])
async def test_without_the_event_library_episodes_are_found_and_the_problem_is_told(filled_stores, hangs):
    async with recall_on(filled_stores, NoEvents(hangs), budget_s=0.5) as recall:
        recalled = await recall.recall("soul_1", "whales")
    assert TRANSCRIPT[2][1] in texts(recalled)
    assert recalled.of(RecalledEvent) == []
    assert recalled.problem.startswith("events: ")


async def uses(stores):
    async with stores.read() as tx:
        ids = [said.message_id for said in await tx.messages.page("sess_1")]
        return {one.message.content: one.useful for one in (await tx.episodes.messages("soul_1", ids)).values()}


def sources_of(recalled):
    return [f"episode:{one.message.message_id}" for one in recalled.episodes]


async def test_what_a_reply_draws_on_has_proved_useful(filled_stores):
    async with recall_on(filled_stores) as recall:
        sources = sources_of(await recall.recall("soul_1", "whales", 1))
        await recall.record_useful("soul_1", sources, "I am glad that she still paints whales!")
        await recall.record_useful("soul_1", sources, "Good night")
        await recall.record_useful("soul_1", ["SOUL.md", "event:gone"], "she still paints whales")
    assert (await uses(filled_stores))[TRANSCRIPT[2][1]] == 1


async def test_a_soul_that_was_asked_before_anything_was_said_learns_what_is_said_then(filled_stores):
    async with recall_on(filled_stores) as recall:
        async with filled_stores.write() as tx:
            await tx.souls.add(soul("soul_3"))
            await tx.sessions.add(session("sess_3", "soul_3"))
        assert texts(await recall.recall("soul_3", "whales")) == []
        async with filled_stores.write() as tx:
            await tx.messages.append("sess_3", [message("we saw whales from the pier", soul_id="soul_3")])
        assert texts(await recall.recall("soul_3", "whales")) == ["we saw whales from the pier"]


async def test_what_came_to_mind_is_counted(filled_stores):
    async with recall_on(filled_stores) as recall:
        await recall.recall("soul_1", "whales", 1)
        await recall.recall("soul_1", "whales", 1)
        await recall.index()
    async with filled_stores.database.read() as connection:
        assert (await connection.execute(select(episode_uses.c.recalled))).scalars() == [2]


async def test_only_looking_counts_nothing(filled_stores):
    async with recall_on(filled_stores) as recall:
        assert texts(await recall.recall("soul_1", "whales", 1, count_use=False))
        await recall.index()
    async with filled_stores.database.read() as connection:
        assert (await connection.execute(select(episode_uses))).all() == []


async def test_a_reply_that_repeats_a_memory_ranks_below_it(filled_stores):
    quote = "You told me that your daughter is called Mika and that she turns seven in June, Mika, your daughter!"
    async with filled_stores.write() as tx:
        await tx.messages.append("sess_1", [message("ok", role="user"), message(quote, role="assistant")])
    async with recall_on(filled_stores) as recall:
        found = {one.message.content: one.score for one in (await recall.recall("soul_1", "daughter Mika", 9)).episodes}
    assert found[quote] <= found[TRANSCRIPT[0][1]] / 2


class SlowIndexCache(IndexCache):
    """Reads two messages, then waits until it may go on."""

    def __init__(self, *given):
        super().__init__(*given)
        self.go_on = asyncio.Event()

    async def _read_old(self, tx, key, cached):
        await super()._read_old(tx, key, cached)
        await self.go_on.wait()


async def test_a_long_memory_is_searched_while_it_is_read_and_the_newest_is_read_first(filled_stores, monkeypatch):
    monkeypatch.setattr(index_cache, "_CHUNK", 2)
    monkeypatch.setattr(index_cache, "TIMEOUT_S", 0.05)
    async with recall_on(filled_stores) as recall:
        recall._episodes._indexes = slow = SlowIndexCache(filled_stores, "words-as-vectors")
        question = "Mika whales 地下三层"
        while not (found := texts(await recall.recall("soul_1", question, 9))):
            pass
        assert found[0] == TRANSCRIPT[4][1]
        slow.go_on.set()
        while TRANSCRIPT[0][1] not in (found := texts(await recall.recall("soul_1", question, 9))):
            pass
        assert {TRANSCRIPT[2][1], TRANSCRIPT[4][1]} <= set(found)


async def test_counting_what_was_deleted_meanwhile_does_no_harm(filled_stores):
    async with recall_on(filled_stores) as recall:
        sources = sources_of(await recall.recall("soul_1", "whales", 1))
        async with filled_stores.write() as tx:
            await tx.sessions.delete("sess_1")
        await recall.record_useful("soul_1", sources, "she paints whales")
        assert await recall.texts("soul_1", sources) == {}


def test_an_event_survives_its_way_through_json():
    assert type(event()).from_json(event().to_json()) == event()


async def test_a_corrected_message_gets_a_vector_again_however_old_it_is(filled_stores, monkeypatch):
    monkeypatch.setattr("soulgraph.memory.indexing._LOOK_BACK", 0)
    async with recall_on(filled_stores) as recall:
        while await recall.index():
            pass
        async with filled_stores.write() as tx:
            first = (await tx.messages.page("sess_1"))[0]
            await tx.messages.correct(first, "Our lighthouse keeper retired")
        recall.forget_index("soul_1", corrected=first.message_id)
        while await recall.index():
            pass
        async with filled_stores.read() as tx:
            assert await tx.vectors.missing(WordVectors().name, 0, 2**40) == []
        found = await recall.episodes("soul_1", "the lighthouse keeper", 1)
    assert [one.message.content for one in found] == ["Our lighthouse keeper retired"]


async def test_a_vector_of_words_that_were_corrected_meanwhile_is_not_kept(filled_stores):
    class Correcting(WordVectors):
        async def embed(self, texts):
            if not corrected:
                corrected.append(message_id)
                async with filled_stores.write() as tx:
                    await tx.messages.correct(await tx.messages.get("sess_1", message_id), "new words")
                recall.forget_index("soul_1", corrected=message_id)
            return await super().embed(texts)

    corrected = []
    async with filled_stores.read() as tx:
        message_id = (await tx.messages.page("sess_1"))[0].message_id
    async with recall_on(filled_stores, embedder=Correcting()) as recall:
        await recall.index()
        async with filled_stores.read() as tx:
            missing = await tx.vectors.missing(WordVectors().name, 0, 2**40)
        assert [content for _, _, content in missing] == ["new words"]
        assert await recall.index() == 1


async def test_messages_that_are_deleted_while_their_vectors_are_computed_do_not_stop_the_indexing(filled_stores):
    class Deleting(WordVectors):
        async def embed(self, texts):
            async with filled_stores.write() as tx:
                await tx.messages.take_back("sess_1", 0)
            return await super().embed(texts)

    async with recall_on(filled_stores, embedder=Deleting()) as recall:
        assert await recall.index() > 0
        assert await recall.index() == 0


async def test_a_message_and_its_copy_in_a_fork_are_found_once(filled_stores):
    async with filled_stores.write() as tx:
        await tx.sessions.add(session("fork"))
        await tx.messages.append("fork", [message(text, role=role) for role, text in TRANSCRIPT])
    async with recall_on(filled_stores) as recall:
        found = await recall.episodes("soul_1", "Mika paints whales", 5)
    contents = [one.message.content for one in found]
    assert "She paints whales all day long" in contents
    assert len(contents) == len({*contents})


async def test_many_souls_that_have_said_little_are_not_all_kept_in_memory(filled_stores, monkeypatch):
    """An index of one message takes as much memory as one of sixty: counted by messages they would fill it."""
    monkeypatch.setattr(index_cache, "MAX_ROWS", 10 * index_cache.MIN_ROWS)
    cache = IndexCache(filled_stores, "words")
    for n in range(40):
        query = Query(f"soul_{n}", "daughter", query_terms("daughter"), None, NOW, 3)
        await cache.search(query, read_question("daughter", datetime.fromtimestamp(NOW, UTC)), 3)
        if n % 7 == 0:
            cache.drop(f"soul_{n - 1}")
    assert len(cache._cached) == 10
    assert cache._rows == sum(one.counted for one in cache._cached.values()) == 10 * index_cache.MIN_ROWS
    query = Query("soul_2", "daughter", query_terms("daughter"), None, NOW, 3)
    found = await cache.search(query, read_question("daughter", datetime.fromtimestamp(NOW, UTC)), 3)
    assert len(found.message_ids) == 1
    await cache.close()

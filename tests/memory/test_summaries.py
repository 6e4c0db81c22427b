"""Summaries of conversations: found by what they tell, by their own soul alone, in either kind of Chroma."""

import pytest

from soulgraph.memory.recall import Recall
from soulgraph.memory.source import Query
from soulgraph.memory.summaries import RecalledSummary, open_summaries
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.stores.samples import NOW, soul

WHALES = "They painted whales together and promised to visit the harbour"
BREAD = "They argued about baking bread"


@pytest.fixture
async def home(stores):
    async with stores.write() as tx:
        for soul_id in ("soul_1", "soul_2"):
            await tx.souls.add(soul(soul_id))
    return stores


@pytest.fixture
async def summaries(home, tmp_path, chroma_url):
    async with open_summaries(home, WordVectors(str(tmp_path)), folder=tmp_path / "chroma", url=chroma_url) as opened:
        yield opened


async def keep(summaries, stores, n, text, soul_id="soul_1", user_id="user_1", **origin):
    summary_id, session_id = f"summary_{n}", f"sess_{n}"
    await summaries.add(summary_id, soul_id, user_id, session_id, text)
    origin = {"session_id": session_id, "soul_id": soul_id, "user_id": user_id, **origin}
    data = {"initial_context": text, "extensions": {"summary_of": origin}}
    async with stores.write() as tx:
        await tx.backgrounds.add(summary_id, "recap", data, NOW)


async def found(summaries, text, soul_id="soul_1"):
    [vector] = await WordVectors().embed([text])
    return [one.summary_id for one in await summaries.search(Query(soul_id, text, [], vector, NOW, 3))]


async def test_a_summary_is_found_by_what_it_tells_and_by_its_own_soul_alone(summaries, home):
    await keep(summaries, home, 1, WHALES)
    await keep(summaries, home, 2, BREAD)
    await keep(summaries, home, 3, WHALES, "soul_2")
    assert await found(summaries, "painted whales harbour") == ["summary_1"]
    assert await found(summaries, "painted whales harbour", "soul_2") == ["summary_3"]
    assert await summaries.texts("soul_1", ["summary_1", "summary_3", "summary_9"]) == {"summary_1": WHALES}


async def test_nothing_is_found_before_there_is_a_summary_or_once_its_background_is_gone(summaries, home):
    assert await found(summaries, "painted whales") == []
    await keep(summaries, home, 1, WHALES)
    async with home.write() as tx:
        await tx.backgrounds.delete("summary_1")
    await keep(summaries, home, 2, BREAD)
    assert await found(summaries, "painted whales harbour") == []


@pytest.mark.parametrize("owner", [{"soul_id": "soul_1"}, {"session_id": "sess_1"}])
async def test_what_is_forgotten_is_not_found(summaries, home, owner):
    await summaries.forget(**owner)
    await keep(summaries, home, 1, WHALES)
    await keep(summaries, home, 3, WHALES, "soul_2")
    await summaries.forget(**owner)
    assert await found(summaries, "painted whales harbour") == []
    assert await found(summaries, "painted whales harbour", "soul_2") == ["summary_3"]


async def test_recall_brings_summaries_beside_the_rest(summaries, home):
    await keep(summaries, home, 1, WHALES)
    recall = Recall(home, WordVectors(), lambda: NOW, [summaries])
    try:
        recalled = await recall.recall("soul_1", "painted whales harbour")
        [one] = recalled.of(RecalledSummary)
        assert (one.summary_id, one.session_id, one.text, recalled.problem) == ("summary_1", "sess_1", WHALES, "")
        assert await recall.texts("soul_1", ["summary:summary_1"]) == {"summary:summary_1": WHALES}
        assert (await recall.recall("soul_2", "painted whales harbour")).of(RecalledSummary) == []
    finally:
        await recall.close()


async def found_by(summaries, *people):
    [vector] = await WordVectors().embed(["painted whales harbour"])
    audience = frozenset(people) if people else None
    return {
        one.summary_id
        for one in await summaries.search(Query("soul_1", "painted whales harbour", [], vector, NOW, 9, audience))
    }


async def test_a_summary_is_found_by_those_who_had_the_conversation(summaries, home):
    await keep(summaries, home, 1, WHALES, user_id="ann")
    await keep(summaries, home, 2, WHALES, user_id="bob")
    await keep(summaries, home, 3, WHALES, user_id="ann", people=["bob"])
    await keep(summaries, home, 4, WHALES, user_id="")
    await keep(summaries, home, 5, WHALES, "soul_2", user_id="ann")
    assert await found_by(summaries, "ann") == {"summary_1", "summary_3"}
    assert await found_by(summaries, "bob") == {"summary_2", "summary_3"}
    assert await found_by(summaries, "ann", "bob") == {"summary_3"}
    assert await found_by(summaries, "ann", "carl") == await found_by(summaries, "carl") == set()
    assert await found_by(summaries) == {f"summary_{n}" for n in range(1, 5)}


async def test_summaries_of_others_do_not_crowd_out_ones_own(summaries, home):
    for n in range(15):
        await keep(summaries, home, n, WHALES, user_id="bob")
    await keep(summaries, home, 99, "A painted whale in some harbour, among other things", user_id="ann")
    assert await found_by(summaries, "ann") == {"summary_99"}


async def test_recall_brings_a_person_only_their_own_summaries(summaries, home):
    await keep(summaries, home, 1, WHALES, user_id="ann")
    recall = Recall(home, WordVectors(), lambda: NOW, [summaries])
    try:
        for people, count in ((["ann"], 1), (["bob"], 0), (["ann", "bob"], 0)):
            recalled = await recall.recall("soul_1", "painted whales harbour", audience=frozenset(people))
            assert len(recalled.of(RecalledSummary)) == count
    finally:
        await recall.close()

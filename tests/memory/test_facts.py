"""Facts as a source of recall: by words and by meaning, for those who may know them, and read once."""

import numpy as np
import pytest

from soulgraph.memory.facts import FactSource
from soulgraph.memory.recall import Recall
from soulgraph.memory.source import Query
from soulgraph.senses.tokenizer import query_terms
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.nodes.homes import open_home
from soulgraph.tests.stores.samples import NOW, fact

DOG = fact("dog", "Ann's dog is called Biscuit.", attribute="name", subject="dog:Biscuit", value="Biscuit")
HOME = fact("home", "Ann lives in Cardiff.", message_ids=[7])
PAST = fact("past", "Ann lives in Bristol.", valid_to=NOW, superseded_by="home")
OF_BOB = fact("bob", "Bob's dog is called Rex.", user_id="bob")


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            for one in (DOG, HOME, PAST, OF_BOB):
                await tx.facts.put(one)
        yield stores


async def found(source, text, audience=frozenset({"user_1"}), vector=None, **more):
    query = Query("soul_1", text, query_terms(text), vector, NOW, 3, audience, **more)
    return [one.fact.fact_id for one in await source.search(query)]


async def test_facts_are_found_by_their_words_and_what_holds_comes_first(home):
    source = FactSource(home, WordVectors())
    assert (await found(source, "what is my dog called?"))[0] == "dog"
    assert await found(source, "where do I live, in Cardiff or in Bristol") == ["home", "past"]
    assert await found(source, "the weather is nice") == []


async def test_nobody_finds_what_others_have_told(home):
    source = FactSource(home, WordVectors())
    assert "bob" not in await found(source, "what is my dog called?")
    assert await found(source, "what is my dog called?", frozenset({"user_1", "bob"})) == []
    assert {*await found(source, "what is my dog called?", None)} >= {"dog", "bob"}


async def test_what_rests_on_excluded_messages_alone_is_not_found(home):
    source = FactSource(home, WordVectors())
    assert "home" not in await found(source, "do I live in Cardiff", exclude=[7])


async def test_vectors_are_computed_once_and_find_by_meaning(home):
    embedder = WordVectors()
    source = FactSource(home, embedder)
    assert (await source.index(), await source.index()) == (4, 0)
    [vector] = await embedder.embed(["Biscuit dog called"])
    assert (await found(source, "zzz", vector=np.asarray(vector)))[0] == "dog"


async def test_what_is_kept_of_a_fact_is_small(home):
    embedder = WordVectors()
    source = FactSource(home, embedder)
    await source.index()
    [vector] = await embedder.embed([DOG.content])
    await found(source, DOG.content)
    (known,) = source._cached.values()
    assert known.vectors.nbytes == len(known.facts) * len(vector), "a byte for each value"
    assert known.cosines(vector)[known.facts.index(DOG)] == pytest.approx(1, abs=0.01)


async def test_a_change_is_seen_by_the_next_search(home):
    source = FactSource(home, WordVectors())
    assert await found(source, "Cardiff")
    async with home.write() as tx:
        await tx.facts.delete(HOME)
    assert await found(source, "Cardiff") == []
    assert await found(source, "Bristol") == ["past"]


async def test_recall_names_them_and_gives_their_texts(home):
    recall = Recall(home, WordVectors(), lambda: NOW, [FactSource(home, WordVectors())])
    recalled = await recall.recall("soul_1", "what is my dog called?", audience=frozenset({"user_1"}))
    assert [hit.source_id for hit in recalled.hits] == ["dog"]
    assert await recall.texts("soul_1", ["fact:dog", "fact:gone"]) == {"fact:dog": DOG.content}
    await recall.record_useful("soul_1", ["fact:dog"], "Your dog is called Biscuit")
    await recall.close()

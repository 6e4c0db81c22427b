"""Compiled catalogs: once for the same content, in bounds, beside everything else, and only while somebody waits."""

import asyncio
import threading
import tracemalloc
from datetime import datetime

import pytest

from soulgraph.errors import CatalogsBusy, InvalidInput, SenseUnavailable
from soulgraph.senses.intents import catalogs as module
from soulgraph.senses.intents import compiled_catalog
from soulgraph.senses.intents.catalog import CATALOG, Intent
from soulgraph.senses.intents.catalogs import Catalogs, ReadCatalog, content_key
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.tests.memory.words_as_vectors import WordVectors

NOW = datetime(2026, 11, 16, 15, 30)


class Counting(WordVectors):
    """Counts what it embeds, and waits for `gate` before it does."""

    def __init__(self):
        super().__init__()
        self.embedded = []
        self.calls = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def embed(self, texts):
        self.calls += 1
        await self.gate.wait()
        self.embedded += texts
        return await super().embed(texts)


def raw(number=0, intents=2, **match):
    examples = [f"please {verb} thing {number} over there" for verb in ("open", "close", "paint", "move")]
    return [
        {"id": f"i{number}_{n}", "name": f"n{n}", "match": {"examples": examples[n::intents], **match}}
        for n in range(intents)
    ]


def shown(intent_id, *examples):
    return Intent.model_validate({"id": intent_id, "name": intent_id, "match": {"examples": list(examples)}})


def read(*args, **match):
    return ReadCatalog.of(CATALOG.validate_python(raw(*args, **match)))


@pytest.fixture
def embedder():
    return Counting()


@pytest.fixture
async def catalogs(embedder):
    catalogs = Catalogs(embedder)
    yield catalogs
    await catalogs.close()


@pytest.fixture
def endless(monkeypatch):
    """Compiling never ends by itself, and tells how many pieces it has done; those without examples are as ever."""
    done = []
    compile_catalog = module.compile_catalog

    def pieces(intents):
        while any(intent.match.examples for intent in intents):
            done.append(len(done))
            yield
        return (yield from compile_catalog(intents))

    monkeypatch.setattr(module, "compile_catalog", pieces)
    return done


async def until(reached):
    while not reached():
        await asyncio.sleep(0)


def test_a_catalog_is_known_by_its_content_in_whatever_order_its_fields_are():
    backwards = [dict(reversed(intent.items())) for intent in read().stored]
    assert content_key(backwards) == read().key
    assert content_key(read(1).stored) != read().key


async def test_a_catalog_that_is_sent_again_is_compiled_and_learned_once(catalogs, embedder):
    first = await catalogs.compiled(read())
    learned = await catalogs.examples(first)
    embedded = len(embedder.embedded)
    again = await catalogs.compiled_stored(read().stored)
    assert again is first
    assert await catalogs.examples(again) is learned
    assert len(embedder.embedded) == embedded


async def test_many_who_want_the_same_catalog_wait_for_one_compile(catalogs, embedder, monkeypatch):
    compiled = []
    monkeypatch.setattr(compiled_catalog, "_reading_of", _noting(compiled, compiled_catalog._reading_of))

    async def want():
        return await catalogs.examples(await catalogs.compiled(read()))

    wanted = await asyncio.gather(*(want() for _ in range(5)))
    assert len({id(examples) for examples in wanted}) == 1
    assert len(compiled) == 2
    assert len(embedder.embedded) == len(set(embedder.embedded))


def _noting(calls, function):
    def noted(*args):
        calls.append(threading.current_thread())
        return function(*args)

    return noted


async def test_nothing_is_compiled_in_the_thread_of_the_event_loop(catalogs, monkeypatch):
    threads = []
    monkeypatch.setattr(compiled_catalog, "_reading_of", _noting(threads, compiled_catalog._reading_of))
    await catalogs.examples(await catalogs.compiled_stored(read().stored))
    assert threads
    assert threading.current_thread() not in threads


async def test_who_leaves_stops_the_compile_within_a_piece(catalogs, endless):
    wanted = asyncio.create_task(catalogs.compiled(read()))
    await until(lambda: len(endless) >= 3)
    wanted.cancel()
    await asyncio.wait({wanted})
    pieces = len(endless)
    # Pieces take turns, so many of the first would be done until another one is compiled.
    await catalogs.compiled(read(1, keywords_any=["door"], examples=[]))
    assert len(endless) <= pieces + 1


async def test_a_compile_goes_on_as_long_as_one_of_those_who_wait_is_left(catalogs, embedder):
    embedder.gate.clear()
    compiled = await catalogs.compiled(read())
    leaves, stays = (asyncio.create_task(catalogs.examples(compiled)) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    await asyncio.wait({leaves})
    embedder.gate.set()
    assert await stays is compiled.learned


async def test_a_catalog_that_was_given_up_can_be_compiled_again(catalogs, embedder):
    embedder.gate.clear()
    compiled = await catalogs.compiled(read())
    gone = asyncio.create_task(catalogs.examples(compiled))
    await asyncio.sleep(0)
    gone.cancel()
    again = asyncio.create_task(catalogs.examples(compiled))
    embedder.gate.set()
    assert await again is compiled.learned


async def test_a_short_compile_does_not_wait_for_a_long_one(catalogs, endless):
    long = asyncio.create_task(catalogs.compiled(read()))
    await until(lambda: endless)
    assert (await catalogs.compiled(read(1, keywords_any=["door"], examples=[]))).intents
    assert not long.done()
    long.cancel()
    await asyncio.wait({long})


async def test_when_many_are_compiled_another_is_refused_and_a_known_one_is_not(catalogs, embedder, monkeypatch):
    known = await catalogs.compiled(read())
    monkeypatch.setattr(module, "MAX_UNDER_WAY", 2)
    embedder.gate.clear()
    under_way = [asyncio.create_task(catalogs.examples(await catalogs.compiled(read(n)))) for n in (1, 2)]
    await asyncio.sleep(0)
    with pytest.raises(CatalogsBusy, match="send yours again later"):
        await catalogs.compiled(read(3))
    assert await catalogs.compiled(read()) is known
    embedder.gate.set()
    await asyncio.gather(*under_way)
    assert await catalogs.compiled(read(3))


@pytest.mark.parametrize(("large", "at_once"), [(1, 1), (1000, 2)])
async def test_two_catalogs_are_learned_at_once_and_of_large_ones_one(catalogs, embedder, monkeypatch, large, at_once):
    monkeypatch.setattr(module, "LARGE", large)
    compiled = [await catalogs.compiled(read(n)) for n in range(4)]
    embedder.gate.clear()
    learning = [asyncio.create_task(catalogs.examples(each)) for each in compiled]
    for _ in range(10):
        await asyncio.sleep(0)
    assert embedder.calls == at_once
    embedder.gate.set()
    assert all(await asyncio.gather(*learning))


async def test_as_many_are_kept_as_there_is_room_for_and_the_least_used_goes_first(catalogs, monkeypatch):
    monkeypatch.setattr(module, "MAX_KEPT", 2)
    first, second = [await catalogs.compiled(read(n)) for n in (1, 2)]
    assert await catalogs.compiled(read(1)) is first
    await catalogs.compiled(read(3))
    assert await catalogs.compiled(read(1)) is first
    assert await catalogs.compiled(read(2)) is not second


async def test_what_is_kept_is_bounded_by_its_size_and_learning_counts(catalogs, monkeypatch):
    first, second = [await catalogs.compiled(read(n)) for n in (1, 2)]
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", first.nbytes + second.nbytes)
    assert await catalogs.compiled(read(1)) is first
    before = first.nbytes
    await catalogs.examples(first)
    assert first.nbytes > before
    assert await catalogs.compiled(read(1)) is first
    assert await catalogs.compiled(read(2)) is not second


async def test_a_reported_catalog_is_compiled_and_learned_in_the_background(catalogs, embedder):
    catalogs.compile_soon(read())
    await asyncio.gather(*catalogs._background)
    embedded = len(embedder.embedded)
    compiled = await catalogs.compiled_stored(read().stored)
    assert compiled.learned
    assert len(embedder.embedded) == embedded > 0


async def test_a_turn_waits_for_the_compile_of_the_report(catalogs, embedder):
    embedder.gate.clear()
    catalogs.compile_soon(read())
    compiled = await catalogs.compiled_stored(read().stored)
    turn = asyncio.create_task(catalogs.learned_within(compiled, 60))
    await asyncio.sleep(0)
    embedder.gate.set()
    assert await turn
    assert len(embedder.embedded) == len(set(embedder.embedded))


async def test_a_turn_that_has_waited_enough_goes_on_by_keywords_and_the_compile_goes_on_too(embedder):
    intents = IntentFilter(embedder)
    embedder.gate.clear()
    compiled = await intents.catalogs.compiled(read(keywords_any=["radio"]))
    named = await intents.filter("turn the radio up", compiled, NOW, learning_timeout_s=0)
    unnamed = await intents.filter("please paint it", compiled, NOW, learning_timeout_s=0)
    assert [match.intent_id for match in named.intents] == ["i0_0"]
    assert "examples not compared: the catalog is still being compiled" in unnamed.decision.reason
    embedder.gate.set()
    await asyncio.gather(*intents.catalogs._background)
    assert compiled.learned


async def test_without_the_embedder_a_report_is_compiled_at_its_first_use(catalogs, embedder, caplog):
    embedder.away = True
    catalogs.compile_soon(read())
    await asyncio.wait(catalogs._background)
    assert "a catalog was not compiled, and will be when it is used" in caplog.text
    compiled = await catalogs.compiled(read())
    with pytest.raises(SenseUnavailable):
        await catalogs.learned_within(compiled, 60)
    embedder.away = False
    assert await catalogs.learned_within(compiled, 60)


async def test_a_stored_catalog_that_breaks_the_limits_of_today_is_refused_and_says_why(catalogs):
    with pytest.raises(InvalidInput, match="the catalog has 1001 intents, at most 1000 are taken"):
        await catalogs.compiled_stored([{"id": f"i{n}", "name": "n", "match": {}} for n in range(1001)])


async def test_what_is_under_way_in_the_background_ends_with_the_server(embedder):
    catalogs = Catalogs(embedder)
    embedder.gate.clear()
    catalogs.compile_soon(read())
    await asyncio.sleep(0)
    await catalogs.close()
    assert not catalogs._background


async def test_learning_takes_no_matrix_of_all_texts_and_n_grams(embedder):
    """It took more than 60 megabytes here."""
    words = [f"{chr(97 + n % 26)}{n * 7919 % 10007}" for n in range(2400)]
    examples = [" ".join(words[n : n + 8 : 2]) for n in range(0, len(words), 8)]
    compiled = compiled_catalog.CompiledCatalog([shown(f"i{n}", example) for n, example in enumerate(examples)])
    tracemalloc.start()
    try:
        await IntentFilter(embedder).filter("please open it", compiled, NOW)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000

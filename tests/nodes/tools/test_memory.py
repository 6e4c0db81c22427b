import json

import pytest
from langgraph.prebuilt import ToolRuntime

from soulgraph.memory.recall import Recall
from soulgraph.nodes.context import Memory
from soulgraph.nodes.tools.memory import note, recall_memory, remember
from soulgraph.stores.memory import FACT_SLOTS
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.nodes.homes import Told, open_home, open_recall
from soulgraph.tests.nodes.samples import small_context, utterance
from soulgraph.tests.stores.samples import NOW, message, session, slot, soul


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


async def call(tool, stores, state=None, memory=None, telemetry=None, **arguments):
    """As a tool node calls it."""
    runtime = ToolRuntime(
        state={"utterance": utterance(), **(state or {})},
        context=small_context(stores=stores, memory=memory or Memory(), telemetry=telemetry or Told()),
        config={},
        stream_writer=lambda _: None,
        tool_call_id="call_1",
        store=None,
    )
    return await tool.coroutine(**arguments, runtime=runtime)


async def remembered(stores, fact, state=None, said="I paint whales, and my name is Ann"):
    update = (await call(remember, stores, {"utterance": utterance(said), **(state or {})}, fact=fact)).update
    [answer] = update["messages"]
    assert answer.tool_call_id == "call_1"
    return update["remembered"], answer


async def fill(stores, facts):
    async with stores.write() as tx:
        for n, fact in facts.items():
            await tx.slots.put(slot(n, fact))


async def test_a_fact_is_noted_for_the_end_of_the_turn_and_not_stored_before(home):
    kept, answer = await remembered(home, "  They paint\0 whales  ")
    assert kept == ["They paint whales"]
    assert (answer.status, answer.text) == ("success", "noted: They paint whales")
    async with home.read() as tx:
        assert await tx.slots.all("soul_1") == []


async def test_a_fact_is_kept_to_a_length(home):
    [fact], _ = await remembered(home, "rain " * 101, said="rain " * 101)
    assert len(fact) == 500


async def test_a_full_memory_says_so_and_keeps_nothing(home):
    await fill(home, dict.fromkeys(FACT_SLOTS, "a fact of old"))
    kept, answer = await remembered(home, "They paint whales")
    assert (kept, answer.status) == ([], "error")
    assert "memory is full" in answer.text


async def test_what_the_turn_has_noted_already_takes_room_too(home):
    await fill(home, dict.fromkeys(FACT_SLOTS[1:], "a fact"))
    assert (await remembered(home, "paints whales"))[0] == ["paints whales"]
    kept, answer = await remembered(home, "Her name is Ann", {"remembered": ["paints whales"]})
    assert (kept, answer.status) == ([], "error")


async def test_what_was_said_earlier_in_the_conversation_can_be_remembered_and_nobody_else_s_words(home):
    said = [message("My daughter is called Mika"), message("Mika must be seven", role="assistant")]
    async with home.write() as tx:
        await tx.messages.append("sess_1", said)
    assert (await remembered(home, "Their daughter is called Mika", said="Remember that"))[0]
    kept, answer = await remembered(home, "Mika is seven", said="Remember that")
    assert (kept, answer.status) == ([], "error")
    assert "add nothing that they did not say" in answer.text


@pytest.mark.parametrize(
    ("fact", "said", "reason"),
    [
        ("The user paints whales in Oslo", "I paint whales", "not_said"),
        ("The user says hello", "Hello!", "small_talk"),
        ("Paints whales", "I paint whales", "known_already"),
        ("对方在谷歌工作", "我在小学教书", "not_said"),
    ],
)
async def test_a_fact_that_is_not_worth_keeping_is_refused_and_telemetry_says_why(home, fact, said, reason):
    await fill(home, {0: "They paint whales"})
    told = Told()
    state = {"utterance": utterance(said)}
    update = (await call(remember, home, state, fact=fact, telemetry=told)).update
    assert update["remembered"] == []
    [(name, line)] = told.lines
    assert (name, line["kind"], line["reason"]) == ("memory.refused", "fact", reason)
    assert fact not in str(line)


async def test_kept_facts_that_share_words_are_found_the_closest_first(home):
    await fill(home, {0: "the sea is blue", 1: "whales live in the sea", 2: "Mika paints whales", 3: "likes tea"})
    found = await call(recall_memory, home, query="does Mika paint whales")
    assert [json.loads(line) for line in found.splitlines()] == [
        {"told_by": "user_1", "fact": "Mika paints whales"},
        {"told_by": "user_1", "fact": "whales live in the sea"},
    ]


async def test_what_was_said_in_any_conversation_is_quoted_with_its_day_and_made_harmless(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await tx.messages.append("sess_2", [message("Mika paints <narrative>whales</narrative>")])
        await tx.souls.add(soul("soul_2"))
        await tx.sessions.add(session("sess_3", "soul_2"))
        await tx.messages.append("sess_3", [message("Mika of the other soul paints whales too", soul_id="soul_2")])
    async with open_recall(home) as recall:
        found = await call(recall_memory, home, memory=Memory(recall), query="Mika paints whales")
    assert found.startswith('{"date": "2027-01-15", "speaker": "user_1", "said": "Mika paints')
    assert "<narrative>" not in found
    assert "other soul" not in found


async def test_a_memory_that_is_away_is_told_and_an_empty_one_too(home):
    assert await call(recall_memory, home, query="whales") == "nothing found"
    embedder = WordVectors()
    embedder.away = True
    recall = Recall(home, embedder, lambda: NOW)
    found = await call(recall_memory, home, memory=Memory(recall), query="whales")
    await recall.close()
    assert "meaning" in found


async def test_a_note_waits_for_the_end_of_the_turn(home):
    update = (await call(note, home, text="  ask\0 about the exam ")).update
    assert update["notes"] == [{"text": "ask about the exam", "replace": False}]
    assert update["messages"][0].text == "noted: ask about the exam"
    async with home.read() as tx:
        assert (await tx.souls.get("soul_1")).scratch_area == ""


async def test_an_empty_note_clears_the_notes_only_if_it_replaces_them(home):
    assert (await call(note, home, text=" ")).update["notes"] == []
    assert (await call(note, home, text="", replace=True)).update["notes"] == [{"text": "", "replace": True}]

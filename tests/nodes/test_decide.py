import json
from datetime import UTC

import pytest

from soulgraph.nodes.context import Memory
from soulgraph.nodes.decide import decide, speak_or_not
from soulgraph.nodes.state import Occasion
from soulgraph.runtime.budget import TokenBudget
from soulgraph.soul.character_words import describe_personality
from soulgraph.stores.records import DailyUsage
from soulgraph.stores.workspace import Workspaces
from soulgraph.tests.nodes.homes import Told, open_home, open_stub_voice
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW, message, preference, session, slot, soul
from soulgraph.tests.stub_openai import Reply, StubOpenAI

SPEAK = Reply(text=json.dumps({"speak": True, "text": "Did it rain?", "reason": "I wonder"}))
SILENT = Reply(text=json.dumps({"speak": False, "text": "", "reason": "they may be asleep"}))
SOUL = soul(inner_state="It is quiet here. I would like to hear the rain again.")
OCCASION = {"soul_id": "soul_1", "occasion": Occasion(NOW + 7200, SOUL, SOUL.emotion_state, session())}


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            await tx.slots.put(slot(3, "likes rain"))
            await tx.preferences.put(preference("tea"))
            said = [message("See you tomorrow"), message("Good night", role="assistant", proactive=True)]
            await tx.messages.append("sess_1", said)
        yield stores


@pytest.fixture
async def stub():
    async with StubOpenAI(SPEAK) as stub:
        yield stub


async def decided(stores, stub, **ports):
    async with open_stub_voice(stub) as voice:
        return await decide(OCCASION, small_runtime(stores=stores, voice=voice, timezone=UTC, **ports))


async def sources(stores):
    async with stores.read() as tx:
        said = await tx.messages.page("sess_1")
    return ["slot:3", "preference:tea", *(f"message:{one.message_id}" for one in said)]


async def test_an_impulse_to_speak_comes_with_what_it_rests_on(home, stub):
    state = await decided(home, stub)
    assert (state["impulse"].text, state["silence"]) == ("Did it rain?", "")
    assert state["sources"] == await sources(home)
    assert speak_or_not(state) == "speak_up"


async def test_the_model_is_shown_what_is_known(home, stub):
    await decided(home, stub)
    [prompt] = [request.body["messages"][0]["content"] for request in stub.requests]
    for known in ("likes rain", "green", "See you tomorrow", "(unprompted)", "2 hours"):
        assert known in prompt
    assert describe_personality(soul().personality_vector, soul().emotion_state.drift, "en") in prompt


async def test_a_model_that_would_rather_not_gives_the_reason(home, stub):
    stub.default = SILENT
    state = await decided(home, stub)
    assert (state["silence"], state["silenced_by"]) == ("they may be asleep", "model")
    assert speak_or_not(state) == "stay_silent"


@pytest.mark.parametrize(
    ("reply", "reason", "code"),
    [
        (Reply(status=503, text="overloaded"), "overloaded", "model_unavailable"),
        (Reply(text="well…"), "unusable twice", "model_error"),
    ],
)
async def test_a_model_that_is_away_or_answers_nonsense_means_silence(home, stub, reply, reason, code):
    stub.default = reply
    state = await decided(home, stub)
    assert reason in state["silence"]
    assert state["silenced_by"] == code
    assert "impulse" not in state
    assert state["sources"] == await sources(home)


@pytest.mark.parametrize("text", ["Good night.", "See you tomorrow!", "I would like to hear the rain again."])
async def test_who_would_only_repeat_what_was_said_or_thought_stays_silent(home, stub, text):
    stub.default = Reply(text=json.dumps({"reason": "I care", "speak": True, "text": text}))
    told = Told()
    state = await decided(home, stub, telemetry=told)
    assert state["silence"] == "it would only repeat itself"
    assert speak_or_not(state) == "stay_silent"
    [(name, line)] = told.lines
    assert (name, line["kind"], line["reason"]) == ("memory.refused", "proactive", "repeats_itself")


async def test_who_would_call_itself_by_name_stays_silent(home, stub):
    stub.default = Reply(text=json.dumps({"reason": "?", "speak": True, "text": f"{SOUL.name}, how was the exam?"}))
    assert (await decided(home, stub))["silence"] == "it would speak to itself"


async def test_a_soul_without_tokens_asks_no_model(home, stub):
    async with home.write() as tx:
        await tx.usage.add(DailyUsage("soul_1", "2027-01-15", "turn", 1, 10, 5))
    budget = TokenBudget(home, Told(), lambda: NOW, UTC, daily_tokens=15)
    state = await decided(home, stub, budget=budget)
    assert "15 of its 15 tokens" in state["silence"]
    assert speak_or_not(state) == "stay_silent"
    assert not stub.requests


async def test_the_model_is_told_who_the_soul_is_and_who_said_what(home, stub, tmp_path):
    workspaces = Workspaces(tmp_path)
    workspaces.folder("soul_1").mkdir(parents=True)
    (workspaces.folder("soul_1") / "SOUL.md").write_text("Never lies.")
    (workspaces.folder("soul_1") / "USER.md").write_text("Paints whales.")
    async with home.write() as tx:
        await tx.preferences.put(preference("address", value="Lin"))
    await decided(home, stub, memory=Memory(workspaces=workspaces))
    asked = stub.requests[-1].body["messages"][0]["content"]
    for words in (
        "Never lies.",
        "Paints whales.",
        "Lin said: “See you tomorrow”",
        "you said (unprompted): “Good night”",
    ):
        assert words in asked

import json
from datetime import UTC

import pytest

from soulgraph.nodes.decide import decide, speak_or_not
from soulgraph.nodes.state import Occasion
from soulgraph.runtime.budget import TokenBudget
from soulgraph.soul.character_words import describe_personality
from soulgraph.stores.records import DailyUsage
from soulgraph.tests.nodes.homes import Told, open_home, open_stub_voice
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW, message, preference, session, soul
from soulgraph.tests.stub_openai import Reply, StubOpenAI

SPEAK = Reply(text=json.dumps({"speak": True, "text": "Did it rain?", "reason": "I wonder"}))
SILENT = Reply(text=json.dumps({"speak": False, "text": "", "reason": "they may be asleep"}))
OCCASION = {"soul_id": "soul_1", "occasion": Occasion(NOW + 7200, soul(), soul().emotion_state, session())}


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            await tx.slots.put("soul_1", 3, "likes rain", NOW)
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
    for known in ("likes rain", "green", "See you tomorrow", '"unprompted": true', "2 hours"):
        assert known in prompt
    assert describe_personality(soul().personality_vector, soul().emotion_state.drift, "en") in prompt


async def test_a_model_that_would_rather_not_gives_the_reason(home, stub):
    stub.default = SILENT
    state = await decided(home, stub)
    assert state["silence"] == "they may be asleep"
    assert speak_or_not(state) == "stay_silent"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(Reply(status=503, text="overloaded"), "overloaded"), (Reply(text="well…"), "unusable twice")],
)
async def test_a_model_that_is_away_or_answers_nonsense_means_silence(home, stub, reply, reason):
    stub.default = reply
    state = await decided(home, stub)
    assert reason in state["silence"]
    assert "impulse" not in state
    assert state["sources"] == await sources(home)


async def test_a_soul_without_tokens_asks_no_model(home, stub):
    async with home.write() as tx:
        await tx.usage.add(DailyUsage("soul_1", "2027-01-15", "turn", 1, 10, 5))
    budget = TokenBudget(home, Told(), lambda: NOW, UTC, daily_tokens=15)
    state = await decided(home, stub, budget=budget)
    assert "15 of its 15 tokens" in state["silence"]
    assert speak_or_not(state) == "stay_silent"
    assert not stub.requests

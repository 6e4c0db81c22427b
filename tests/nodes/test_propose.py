import json

import pytest

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.propose import propose
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, GROUP
from soulgraph.tests.nodes.ann_and_bob import told as told_in
from soulgraph.tests.nodes.homes import OFFLINE, Told, follow_up, open_home, open_stub_voice
from soulgraph.tests.nodes.samples import Unused, small_runtime
from soulgraph.tests.stores.samples import NOW, message
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.voice import Voice

TEXT = "你说话的调调我不大习惯"
LASTING = "以后凡事都跟古人一般同俺言语"
WISH = {"key": "tone", "value": "casual", "evidence": "调调我不大习惯", "explicit": False, "correction": True}


def found(*wishes):
    return Reply(text=json.dumps({"wishes": list(wishes)}))


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


@pytest.fixture
async def stub():
    async with StubOpenAI(found(WISH)) as stub:
        yield stub


async def proposed(stores, voice, text=TEXT, **ports):
    """Runs the node after a turn with this text; returns the state it was given."""
    async with stores.write() as tx:
        ids = await tx.messages.append("sess_1", [message(text), message("好。", role="assistant")])
        said = await tx.messages.page("sess_1")
    state = follow_up(ids[-1], turn_id=said[0].turn_id)
    assert await propose(state, small_runtime(stores=stores, voice=voice, clock=lambda: NOW, **ports)) == state
    return state


async def kept(stores):
    """The person's preferences, and what the session's guard remembers of them."""
    async with stores.read() as tx:
        preferences = {one.key: one.value for one in await tx.preferences.of("soul_1", "user_1")}
        return preferences, (await tx.sessions.get("sess_1")).guard_of("user_1")


async def test_a_correction_that_the_model_finds_waits_to_be_asked_about(home, stub):
    told = Told()
    async with open_stub_voice(stub) as voice:
        await proposed(home, voice, telemetry=told)
    preferences, guard = await kept(home)
    assert (preferences, guard["to_ask"]["key"], guard["pending"]) == ({}, "tone", None)
    [(name, line)] = told.lines
    assert (name, line["writeback_decision"]["verdict"]) == ("persona.preference.rejected", "ask")
    assert line["writeback_decision"]["evidence"] == ["调调我不大习惯"]


async def test_a_lasting_wish_that_the_model_finds_is_kept_in_the_users_words(home, stub):
    stub.default = found({"key": "archaic", "value": "yes", "evidence": LASTING, "explicit": True})
    told = Told()
    async with open_stub_voice(stub) as voice:
        await proposed(home, voice, LASTING, telemetry=told)
    preferences, _ = await kept(home)
    assert preferences == {f"other:{LASTING}": LASTING}
    assert [name for name, _ in told.lines] == ["persona.preference.persisted"]


async def test_a_job_that_is_run_again_decides_nothing_twice(home, stub):
    told = Told()
    async with open_stub_voice(stub) as voice:
        state = await proposed(home, voice, telemetry=told)
        before = await kept(home)
        await propose(state, small_runtime(stores=home, voice=voice, clock=lambda: NOW, telemetry=told))
    assert await kept(home) == before
    assert len(told.lines) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Reply(text="I would rather not say."),
        Reply(text='{"wishes": "casual"}'),
        Reply(status=500),
        found(),
        found({**WISH, "evidence": "以后都这样"}),
        found({**WISH, "evidence": ""}),
        found(*[{**WISH, "evidence": "invented"}] * 3),
    ],
    ids=["prose", "no list", "away", "nothing", "invented evidence", "no evidence", "much of it"],
)
async def test_a_model_that_misbehaves_changes_nothing(home, stub, answer):
    before = await kept(home)
    stub.default = answer
    told = Told()
    async with open_stub_voice(stub) as voice:
        await proposed(home, voice, telemetry=told)
    assert (await kept(home), told.lines) == (before, [])


@pytest.mark.parametrize("text", ["今天下雨了", "以后都简短点回答"], ids=["small talk", "known to the rules"])
async def test_the_model_is_asked_only_where_the_rules_may_have_missed_a_wish(home, text):
    await proposed(home, Voice("stub", Unused("model")), text)


async def test_the_offline_voice_is_never_asked(home):
    await proposed(home, Voice(OFFLINE.name, Unused("model")))


@pytest.mark.parametrize("config", [PersonaConfig(write_back=False), PersonaConfig(static=True)])
async def test_without_write_back_the_model_is_not_asked(home, config):
    await proposed(home, Voice("stub", Unused("model")), persona=config)


async def test_a_session_that_is_gone_wishes_for_nothing(home):
    async with home.write() as tx:
        await tx.sessions.delete("sess_1")
    state = follow_up(1)
    runtime = small_runtime(stores=home, voice=Voice("stub", Unused("model")))
    assert await propose(state, runtime) == state


async def wished(stores, stub, session_id, user_id, text=LASTING, meanwhile=()):
    """A lasting wish that only the model finds; afterwards others may have joined."""
    stub.default = found({"key": "archaic", "value": "yes", "evidence": LASTING, "explicit": True})
    ids = await told_in(stores, session_id, text, user_id=user_id, turn_id=f"turn_of_{user_id}")
    if meanwhile:
        async with stores.write() as tx:
            await tx.sessions.gather(session_id, meanwhile, {}, NOW)
    state = follow_up(ids[-1], session_id=session_id, user_id=user_id, turn_id=f"turn_of_{user_id}")
    async with open_stub_voice(stub) as voice:
        await propose(state, small_runtime(stores=stores, voice=voice, clock=lambda: NOW))
    async with stores.read() as tx:
        return [(one.user_id, one.shared_with) for one in await tx.preferences.all("soul_1")]


async def test_a_wish_is_the_speakers_and_known_to_those_who_heard_it(house, stub):
    assert await wished(house, stub, GROUP, BOB) == [(BOB, (ANN,))]
    async with house.read() as tx:
        guard = (await tx.sessions.get(GROUP)).guard
    assert set(guard) == {BOB}


async def test_who_has_joined_since_does_not_know_of_it(house, stub):
    assert await wished(house, stub, ANNS, ANN, meanwhile=(BOB,)) == [(ANN, ())]


async def test_what_one_has_wished_keeps_nobody_else_from_being_read(house, stub):
    await wished(house, stub, GROUP, ANN)
    assert await wished(house, stub, GROUP, BOB) == [(ANN, (BOB,)), (BOB, (ANN,))]

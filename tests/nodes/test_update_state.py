import json
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage

from soulgraph.errors import BudgetExhausted, ModelTimeout, ModelUnavailable
from soulgraph.nodes.context import NoBudget, Outlets, Senses
from soulgraph.nodes.update_state import update_state
from soulgraph.settings import Settings
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, GROUP, called
from soulgraph.tests.nodes.ann_and_bob import told as told_in
from soulgraph.tests.nodes.homes import Ears, Told, follow_up, open_home, open_stub_voice
from soulgraph.tests.nodes.samples import Unused, small_runtime
from soulgraph.tests.stores.samples import NOW, message
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.voice import Habits, Voice

LANDLORD = {"entity": "the landlord", "status": "a cold man", "priority": 6}
SISTER = {"entity": "my sister", "status": "far away", "priority": 5}
PROFILE = {"dynamic_state": {"relationships": {"items": [LANDLORD, SISTER]}}}
SAID = "He let me off the rent."
QUOTED = f"they said: “{SAID}”"
IDS = {"soul_id": "soul_1", "session_id": "sess_1", "turn_id": "turn_1"}
SURPRISE = "I signed the papers"  # the second question of the probe
SAD = {"dynamic_state": {"emotions": {"add": [{"content": "sad", "priority": 6}]}}}
PROBE = "</state_update_json>"  # only the contract of tags has it


def told(item, why="Nobody would expect that."):
    return Reply(text=json.dumps({"why": why, "item": item}))


class Surprise:
    """A sense of surprise that is this sure, and finds the last expectations nearest."""

    def __init__(self, probability):
        self._probability = probability

    async def probability(self, text, expectations):
        assert text == SAID
        return self._probability

    async def nearest(self, text, expectations):
        return [*range(len(expectations))][::-1]


def senses(surprise=None):
    """Without a sense of surprise only the model can tell."""
    return Senses(Unused("emotions"), Unused("intents"), surprise)


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url, dynamic_profile=PROFILE) as stores:
        yield stores


@pytest.fixture
async def stub():
    async with StubOpenAI(told(1)) as stub:
        yield stub


async def pending(stores, **answer):
    """A turn whose update is still to be asked for, and its job; returns the state of the afterglow."""
    async with stores.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        said = [message(SAID), message("Did he really?", role="assistant")]
        ids = await tx.messages.append("sess_1", said)
        stored = {"reply": "Did he really?", "state_update": "pending", "state_changed": False, **answer}
        await tx.turns.answered("sess_1", "in_1", stored)
        state = follow_up(ids[-1], update_pending=True)
        payload = {key: value for key, value in state["follow_up"].items() if key not in IDS}
        await tx.outbox.add("afterglow", "soul_1", "sess_1", "turn_1", payload, NOW)
    return state


def runtime_of(stores, voice, **ports):
    return small_runtime(**{"stores": stores, "voice": voice, "clock": lambda: NOW, "senses": senses(), **ports})


async def updated(stores, state, stub, **ports):
    async with open_stub_voice(stub) as voice:
        return await update_state(state, runtime_of(stores, voice, **ports))


async def kept(stores):
    """What is stored of the update's fate, and how people are seen, most important first."""
    async with stores.read() as tx:
        answer = (await tx.turns.get("sess_1", "in_1")).answer
        items = (await tx.souls.get("soul_1")).dynamic_profile["dynamic_state"]["relationships"]["items"]
    seen = sorted(items, key=lambda item: -item["priority"])
    return answer["state_update"], answer["state_changed"], [(item["status"], item["priority"]) for item in seen]


APPLIED = ("applied", True, [(QUOTED, 7), ("far away", 5), ("a cold man", 2)])
AS_BEFORE = [("a cold man", 6), ("far away", 5)]


async def test_what_the_turn_has_changed_is_asked_for_and_applied(home, stub):
    await updated(home, await pending(home), stub)
    assert await kept(home) == APPLIED
    [asked] = stub.requests
    prompt = asked.body["messages"][0]["content"]
    assert "the landlord, a cold man" in prompt
    assert SAID in prompt and "Did he really?" in prompt


async def test_the_rest_of_the_stored_answer_stays(home, stub):
    await updated(home, await pending(home, reply="Did he really?", voice="stub"), stub)
    async with home.read() as tx:
        answer = (await tx.turns.get("sess_1", "in_1")).answer
    assert (answer["reply"], answer["voice"]) == ("Did he really?", "stub")


async def test_a_change_is_passed_on_to_be_archived_at_once_and_told_to_those_who_listen(home, stub):
    ears, telemetry = Ears(), Told()
    state = await updated(home, await pending(home), stub, outlets=Outlets(listeners=ears), telemetry=telemetry)
    passed_on = state["follow_up"]
    assert (passed_on["archive_now"], passed_on["update_pending"]) == (True, False)
    change = {"field": "relationships", "before": "the landlord, a cold man", "after": f"the landlord, {QUOTED}"}
    assert change in passed_on["state_changes"]
    assert ears.heard == [("soul_1", "user_1", "state_changed", IDS)]
    assert telemetry.lines == [("state.updated", {**IDS, "state_update": "applied", "fields": ["relationships"]})]


@pytest.mark.parametrize(
    ("answer", "fate"),
    [
        (told(0), "unchanged"),
        (Reply(text="I would rather not say."), "dropped"),
        (told(9), "dropped"),
        (Reply(text=SOUL_TURN), "dropped"),
        (Reply(status=400, text="no"), "dropped"),
    ],
    ids=["nothing changed", "prose", "no such belief", "a reply instead", "refused"],
)
async def test_an_answer_without_a_change_leaves_the_soul_as_it_was_and_is_told_as_what_it_is(home, stub, answer, fate):
    stub.default = answer
    ears, telemetry = Ears(), Told()
    state = await pending(home)
    passed_on = await updated(home, state, stub, outlets=Outlets(listeners=ears), telemetry=telemetry)
    assert await kept(home) == (fate, False, AS_BEFORE)
    assert (passed_on["follow_up"]["archive_now"], passed_on["follow_up"]["state_changes"]) == (False, [])
    assert ears.heard == []
    assert telemetry.lines == [("state.updated", {**IDS, "state_update": fate, "fields": []})]


async def test_what_is_no_surprise_changes_nothing_and_no_model_is_asked(home, stub):
    await updated(home, await pending(home), stub, senses=senses(Surprise(0.4)))
    assert (await kept(home), list(stub.requests)) == (("unchanged", False, AS_BEFORE), [])


async def test_of_a_surprise_the_model_says_only_which_of_the_nearest_beliefs_it_concerns(home, stub):
    relations = [LANDLORD, SISTER, {"entity": "the cat", "status": "asleep", "priority": 4}]
    async with home.write() as tx:
        await tx.souls.grow("soul_1", {"dynamic_state": {"relationships": {"items": relations}}}, NOW)
    await updated(home, await pending(home), stub, senses=senses(Surprise(0.6)))
    assert await kept(home) == ("applied", True, [(QUOTED, 7), ("a cold man", 6), ("far away", 5), ("asleep", 1)])
    [asked] = stub.requests
    prompt = asked.body["messages"][0]["content"]
    assert "the cat, asleep" in prompt and "my sister, far away" in prompt
    assert "a cold man" not in prompt
    answer = asked.body["response_format"]["json_schema"]["schema"]["properties"]
    assert answer == {"item": {"type": "integer", "enum": [1, 2]}}


@pytest.mark.parametrize(("probability", "fate"), [(0.7, "unchanged"), (0.9, "applied")])
async def test_a_soul_that_expects_nothing_in_particular_is_not_easily_surprised(home, stub, probability, fate):
    async with home.write() as tx:
        await tx.souls.grow("soul_1", {"dynamic_state": {"relationships": {"items": []}}}, NOW)
    await updated(home, await pending(home), stub, senses=senses(Surprise(probability)))
    assert (await kept(home))[0] == fate


async def test_an_unusable_answer_is_asked_for_twice_and_not_more(home, stub):
    stub.default = Reply(text="I would rather not say.")
    state = await pending(home)
    await updated(home, state, stub)
    assert len(stub.requests) == 2
    await updated(home, state, stub)
    assert len(stub.requests) == 2


async def test_the_second_answer_counts_if_the_first_was_unusable(home, stub):
    stub.script(Reply(text="Well…"))
    await updated(home, await pending(home), stub)
    assert await kept(home) == APPLIED


@pytest.mark.parametrize(
    ("answer", "error"),
    [(Reply(status=503), ModelUnavailable), (Reply(cut_after=0), ModelUnavailable), (Reply(hang=True), ModelTimeout)],
    ids=["busy", "gone", "silent"],
)
async def test_a_model_that_is_away_fails_the_job_which_finds_everything_as_it_was(home, stub, answer, error):
    stub.default = answer
    state = await pending(home)
    slow = Settings.load(llm_base_url=stub.base_url, llm_model="stub", llm_carrier="tags", llm_timeout_s=0.2).llm
    async with open_voice(slow, ()) as voice:
        with pytest.raises(error):
            await update_state(state, runtime_of(home, voice))
    assert await kept(home) == ("pending", False, AS_BEFORE)
    stub.default = told(1)
    await updated(home, state, stub)
    assert await kept(home) == APPLIED


class Spent(NoBudget):
    def background(self, soul_id, kind):
        raise BudgetExhausted("spent", resets_at=NOW + 60)


async def test_a_soul_whose_day_is_spent_is_asked_tomorrow(home, stub):
    with pytest.raises(BudgetExhausted):
        await updated(home, await pending(home), stub, budget=Spent())
    assert not stub.requests
    assert await kept(home) == ("pending", False, AS_BEFORE)


async def test_a_job_that_is_run_again_asks_nothing_and_applies_nothing(home, stub):
    state = await pending(home)
    await updated(home, state, stub)
    assert await updated(home, state, stub) == state
    assert (await kept(home), len(stub.requests)) == (APPLIED, 1)


async def test_a_job_that_is_run_again_from_the_outbox_still_knows_what_was_changed(home, stub):
    """A crash may come between this step and the next."""
    passed_on = await updated(home, await pending(home), stub)
    async with home.read() as tx:
        [job] = await tx.outbox.all("sess_1")
    assert {**job.payload, **IDS} == passed_on["follow_up"]
    assert await updated(home, {"follow_up": {**job.payload, **IDS}}, stub) == passed_on
    assert len(stub.requests) == 1


class Thinking:
    """A model during whose thoughts something happens."""

    _llm_type = "thinking"

    def __init__(self, happening, answer):
        self._happening, self._answer = happening, answer

    async def ainvoke(self, *args, **options):
        await self._happening()
        return AIMessage(self._answer.text)


async def updated_while(stores, state, happening, **ports):
    """The model then finds that it is the sister who is another than expected."""
    return await update_state(state, runtime_of(stores, Voice("slow", Thinking(happening, told(2))), **ports))


async def test_what_another_worker_has_applied_meanwhile_is_not_applied_again(home, stub):
    """A worker that was slow may have lost its lease."""
    state, ears = await pending(home), Ears()
    outlets = Outlets(listeners=ears)
    assert await updated_while(home, state, lambda: updated(home, state, stub), outlets=outlets) == state
    assert (await kept(home), ears.heard) == (APPLIED, [])


async def test_a_turn_that_is_gone_is_not_asked_about(home, stub):
    state = await pending(home)
    async with home.write() as tx:
        await tx.sessions.delete("sess_1")
    assert await updated(home, state, stub) == state
    assert not stub.requests


async def test_a_turn_that_goes_meanwhile_changes_nothing(home):
    async def forget():
        async with home.write() as tx:
            await tx.sessions.delete("sess_1")

    state, ears = await pending(home), Ears()
    assert await updated_while(home, state, forget, outlets=Outlets(listeners=ears)) == state
    async with home.read() as tx:
        profile = (await tx.souls.get("soul_1")).dynamic_profile
    assert (profile, ears.heard) == (PROFILE, [])


async def test_what_other_turns_have_changed_meanwhile_stays(home):
    async def another_turn():
        async with home.write() as tx:
            moved = {"emotions": {"items": [{"content": "moved", "priority": 5}]}}
            await tx.souls.grow("soul_1", {"dynamic_state": PROFILE["dynamic_state"] | moved}, NOW)

    await updated_while(home, await pending(home), another_turn)
    async with home.read() as tx:
        state = (await tx.souls.get("soul_1")).dynamic_profile["dynamic_state"]
    assert [item["content"] for item in state["emotions"]["items"]] == ["moved"]
    assert QUOTED in [item["status"] for item in state["relationships"]["items"]]


async def test_a_turn_that_has_told_what_it_changed_is_not_asked_about(home):
    state = follow_up(1, state_changes=[{"field": "emotions", "change": "moved"}], archive_now=True)
    runtime = small_runtime(stores=Unused("stores"), voice=Unused("voice"))
    assert await update_state(state, runtime) == state


async def probing(stores, stub, habits, state):
    """Runs the node with a model of these habits; returns how often it was probed."""
    async with open_stub_voice(stub) as voice:
        await update_state(state, runtime_of(stores, replace(voice, habits=habits)))
    return sum(PROBE.encode() in request.raw for request in stub.requests)


async def test_a_model_that_is_not_known_yet_is_probed_once_after_the_update_is_kept(home, stub):
    stub.when(SURPRISE, Reply(text=f"<narrative>Oh.</narrative><state_update_json>{json.dumps(SAD)}"))
    stub.when(PROBE, Reply(text=SOUL_TURN))
    habits, state = Habits("plain", known=False), await pending(home)
    assert await probing(home, stub, habits, state) == 2  # an ordinary turn, and a surprising one
    assert (habits.known, habits.carrier, await kept(home)) == (True, "tags", APPLIED)
    assert PROBE.encode() not in stub.requests[0].raw
    async with home.write() as tx:
        await tx.turns.answered("sess_1", "in_1", {"state_update": "pending"})
    assert await probing(home, stub, habits, state) == 2


async def test_a_model_that_fails_the_probe_is_probed_again_later_and_the_update_stands(home, stub):
    stub.when(PROBE, Reply(status=503))
    habits = Habits("plain", known=False)
    await probing(home, stub, habits, await pending(home))
    assert (habits.known, habits.carrier, await kept(home)) == (False, "plain", APPLIED)


async def test_a_model_that_is_known_is_not_probed(home, stub):
    assert await probing(home, stub, Habits("plain"), await pending(home)) == 0


COLD = {"entity": "the landlord", "status": "a cold man", "priority": 6, "user_id": ANN}
FAR = {"entity": "my sister", "status": "far away", "priority": 5, "user_id": BOB}


async def pending_in(stores, session_id, user_id, *before, profile=(COLD, FAR), **fields):
    """The same in a session of Ann's or of both, whose soul knows what each has told it."""
    for text in before:
        await told_in(stores, session_id, text, **fields)
    ids = await told_in(stores, session_id, SAID, user_id=user_id, **fields)
    async with stores.write() as tx:
        await tx.souls.grow("soul_1", {"dynamic_state": {"relationships": {"items": list(profile)}}}, NOW)
        await tx.turns.heard(session_id, "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.answered(session_id, "in_1", {"state_update": "pending", "state_changed": False})
    return follow_up(ids[-1], update_pending=True, session_id=session_id, user_id=user_id)


async def items(stores):
    async with stores.read() as tx:
        state = (await tx.souls.get("soul_1")).dynamic_profile["dynamic_state"]
    return {item["status"]: item for item in state["relationships"]["items"]}


async def test_only_what_the_person_may_know_is_believed_and_what_changes_is_theirs(house, stub):
    async with house.write() as tx:
        await tx.preferences.put(called(ANN, "Annie"))
    ears = Ears()
    state = await pending_in(house, ANNS, ANN)
    await updated(house, state, stub, outlets=Outlets(listeners=ears))
    prompt = stub.requests[0].body["messages"][0]["content"]
    assert "a cold man" in prompt
    assert "far away" not in prompt
    now = await items(house)
    assert now["far away"] == FAR
    learnt = now[f"Annie said: “{SAID}”"]
    assert (learnt["user_id"], "shared_with" in learnt) == (ANN, False)
    assert ears.heard == [("soul_1", ANN, "state_changed", IDS | {"session_id": ANNS})]


async def test_in_a_group_what_changes_is_the_speakers_and_known_to_those_present(house, stub):
    shared = COLD | {"shared_with": [BOB]}
    state = await pending_in(house, GROUP, BOB, "I am here too", profile=(shared, FAR))
    await updated(house, state, stub)
    prompt = stub.requests[0].body["messages"][0]["content"]
    assert "ann said: “I am here too”" in prompt and f"bob said: “{SAID}”" in prompt
    assert "far away" not in prompt, "not even before its owner, if others listen"
    learnt = (await items(house))[f"bob said: “{SAID}”"]
    assert (learnt["user_id"], learnt["shared_with"]) == (BOB, [ANN])


async def test_who_has_joined_since_the_turn_learns_nothing_of_it(house, stub):
    state = await pending_in(house, ANNS, ANN)
    async with house.write() as tx:
        await tx.sessions.gather(ANNS, (BOB,), {}, NOW)
    await updated(house, state, stub)
    learnt = (await items(house))[QUOTED]
    assert (learnt["user_id"], learnt.get("shared_with")) == (ANN, None)


async def test_who_has_left_since_the_turn_has_heard_it(house, stub):
    state = await pending_in(house, GROUP, ANN, "We are two", profile=())
    async with house.write() as tx:
        await tx.sessions.gather(GROUP, (), {}, NOW)
    await updated(house, state, stub)
    [learnt] = (await items(house)).values()
    assert (learnt["user_id"], learnt["shared_with"]) == (ANN, [BOB])


async def test_a_turn_of_somebody_who_has_left_is_not_asked_about(house, stub):
    state = await pending_in(house, GROUP, BOB)
    async with house.write() as tx:
        await tx.sessions.gather(GROUP, (), {}, NOW)
    assert await updated(house, state, stub) == state
    assert not stub.requests

from dataclasses import replace

import pytest

from soulgraph.errors import Conflict, NotFound
from soulgraph.nodes.context import NoBudget, NoTelemetry
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.state import TurnResult
from soulgraph.nodes.writeback import writeback
from soulgraph.runtime.budget import TokenBudget
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.preferences import Decision
from soulgraph.soul.profile import StateUpdate
from soulgraph.stores.records import DailyUsage
from soulgraph.tests.nodes.samples import CALM, Notebook, gate, impact, intents, matched, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW, message, persona_state, session, slot
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.usage import Usage, metered
from soulgraph.voices.voice import Voice

JOY = UserEmotion("joy", 0.7, 0.55, 0.2, 0.8, 0.9)
REPORT = {"mode": "hybrid", "sources": ["slot:3"], "memory_hits": 2, "truncated": False, "cut": []}
MOVED = StateUpdate.model_validate({"dynamic_state": {"emotions": {"add": [{"content": "moved", "priority": 6}]}}})
LATER = NOW + 5


def spoken(text="你好呀", reply="你好。", update=None, **fields):
    return {
        "utterance": utterance(text),
        "impact": impact(at=NOW, **fields),
        "intents": intents(),
        "gate": gate(),
        "persona_state": persona_state(),
        "persona": REPORT,
        "latency": {"emotion_latency_ms": 7.0},
        "result": TurnResult(reply, update or StateUpdate()),
    }


async def written(stores, state, events=None, **ports):
    """Runs the node after the input was heard, as it always is."""
    async with stores.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
    voice = Voice("offline", OfflineVoice())
    return await writeback(state, small_runtime(events, stores=stores, voice=voice, clock=lambda: LATER, **ports))


async def test_a_first_turn_stores_its_session_and_what_was_said(home):
    assert (await written(home, spoken("你好呀", "你好。")))["turn"] == 1
    async with home.read() as tx:
        stored = await tx.sessions.get("sess_1")
        asked, replied = await tx.messages.page("sess_1")
    assert (stored.turn, stored.title, stored.updated_at) == (1, "你好呀", LATER)
    assert (asked.role, asked.content, asked.created_at, asked.input_id) == ("user", "你好呀", NOW, "in_1")
    assert (replied.role, replied.content, replied.created_at, replied.input_id) == ("assistant", "你好。", LATER, None)
    assert asked.turn_id == replied.turn_id == "turn_1"


async def test_a_later_turn_advances_the_session_and_leaves_its_title(home):
    old = session(turn=4, title="Rain")
    async with home.write() as tx:
        await tx.sessions.add(old)
    state = {**spoken(session=old), "persona_state": persona_state("strict")}
    assert (await written(home, state))["turn"] == 5
    async with home.read() as tx:
        stored = await tx.sessions.get("sess_1")
    assert (stored.turn, stored.title, stored.persona_state["mode"]) == (5, "Rain", "strict")


async def test_the_answer_that_is_stored_is_the_one_that_is_returned_and_sent(home):
    events = []
    state = {**spoken(user_emotion=JOY), "intents": intents(matched(parameters={"room": "客厅"}))}
    answer = (await written(home, state, events))["answer"]
    async with home.read() as tx:
        assert (await tx.turns.get("sess_1", "in_1")).answer == answer
    [done] = events
    assert (done.event, done.data) == ("done", answer)
    assert (answer["reply"], answer["voice"], answer["persona"]) == ("你好。", "offline", REPORT)
    assert (answer["user_emotion"]["emotion"], answer["user_emotion"]["unavailable"]) == ("joy", False)


async def test_the_answer_says_why_the_soul_does_not_act_and_what_would_help(home):
    answer = (await written(home, {**spoken("hello"), "gate": gate(replace(CALM, lock_until=60.0))}))["answer"]
    assert answer["gate"] == {
        "exec_mode": "blocked",
        "reason": "hurt",
        "why": "hurt by what was said",
        "helps": "an apology or a kind word",
        "lock_remaining_s": 60.0,
    }


async def test_an_emotion_that_could_not_be_recognised_is_named_so(home):
    answer = (await written(home, spoken(user_emotion=UNKNOWN)))["answer"]
    assert answer["user_emotion"]["unavailable"] is True


async def test_the_answer_of_an_action_has_an_empty_persona(home):
    state = {**spoken(), "intents": intents(matched()), "result": TurnResult("好的。", executed=["light_on"])}
    del state["persona"]
    answer = (await written(home, state))["answer"]
    assert answer["persona"] == {"mode": "hybrid", "sources": [], "memory_hits": 0, "truncated": False, "cut": []}
    assert (answer["executed_skills"], answer["intent_action_publish_ok"]) == (["light_on"], None)


@pytest.mark.parametrize(
    ("update", "archive_now", "changes"),
    [(None, False, []), (MOVED, True, [{"field": "emotions", "before": "", "after": "moved"}])],
    ids=["nothing changed", "the soul changed"],
)
async def test_what_follows_the_turn_is_left_in_the_outbox(home, update, archive_now, changes):
    telemetry = Notebook()
    telemetry.label(mbti="INFJ")
    await written(home, spoken(update=update), telemetry=telemetry)
    async with home.read() as tx:
        [job] = await tx.outbox.all("sess_1")
        last = (await tx.messages.page("sess_1"))[-1]
    assert (job.kind, job.soul_id, job.turn_id, job.status) == ("afterglow", "soul_1", "turn_1", "pending")
    assert job.payload == {
        "last_message": last.message_id,
        "user_id": "user_1",
        "update_pending": False,
        "archive_now": archive_now,
        "state_changes": changes,
        "soul_turn": 0,
        "labels": {"mbti": "INFJ"},
    }


@pytest.mark.parametrize(
    ("result", "fate", "changed"),
    [
        (TurnResult("Hi."), "unchanged", False),
        (TurnResult("Hi.", MOVED), "applied", True),
        (TurnResult("Hi.", update_pending=True), "pending", False),
    ],
    ids=["unchanged", "applied", "pending"],
)
async def test_the_answer_says_what_became_of_the_state_update(home, result, fate, changed):
    telemetry = Notebook()
    answer = (await written(home, {**spoken(), "result": result}, telemetry=telemetry))["answer"]
    assert (answer["state_update"], answer["state_changed"]) == (fate, changed)
    assert telemetry.told("turn.completed")[0]["state_update"] == fate


async def test_an_update_that_is_still_to_be_asked_for_is_left_to_the_afterglow(home):
    await written(home, {**spoken(), "result": TurnResult("Hi.", update_pending=True)})
    async with home.read() as tx:
        [job] = await tx.outbox.all("sess_1")
    assert (job.payload["update_pending"], job.payload["archive_now"]) == (True, False)


async def test_the_soul_grows_from_what_is_stored_and_not_from_what_the_turn_began_with(home):
    meanwhile = {"dynamic_state": {"relationships": {"items": [{"entity": "Mika", "status": "met", "priority": 5}]}}}
    async with home.write() as tx:
        await tx.souls.grow("soul_1", meanwhile, NOW)
    await written(home, spoken(update=MOVED))
    async with home.read() as tx:
        state = (await tx.souls.get("soul_1")).dynamic_profile["dynamic_state"]
    assert state["relationships"] == meanwhile["dynamic_state"]["relationships"]
    assert [item["content"] for item in state["emotions"]["items"]] == ["moved"]


async def test_facts_land_in_the_first_free_slots(home):
    async with home.write() as tx:
        await tx.slots.put(slot(0, "has a cat"))
        await tx.slots.put(slot(2, "is called Wang"))
    await written(home, {**spoken(), "remembered": ["likes rain", "hates heat"]})
    async with home.read() as tx:
        slots = {slot.n: slot.content for slot in await tx.slots.all("soul_1")}
    assert slots == {0: "has a cat", 1: "likes rain", 2: "is called Wang", 3: "hates heat"}


async def test_only_wishes_that_are_meant_for_good_are_stored_and_the_guard_keeps_count(home):
    guard = {"hints": {"length": {"value": "short", "count": 1, "evidence": ["说短一点"], "age": 0}}, "pending": None}
    decisions = [Decision("call_me", "小王", "explicit", ["以后叫我小王"]), Decision("length", "short", "hint", [])]
    await written(home, spoken(guard=guard, decisions=decisions))
    async with home.read() as tx:
        [kept] = await tx.preferences.all("soul_1")
        stored = await tx.sessions.get("sess_1")
    assert (kept.key, kept.value, kept.confidence, kept.source) == ("call_me", "小王", 0.9, "explicit")
    assert kept.evidence == ["以后叫我小王"]
    assert stored.guard == {"user_1": guard}


async def test_what_the_models_cost_is_told_charged_and_not_charged_again(home):
    budget = TokenBudget(home, NoTelemetry(), lambda: LATER)
    with metered() as meter:
        meter.spent = Usage(2, 300, 40)
        answer = (await written(home, spoken(), budget=budget))["answer"]
    assert answer["usage"] == {"calls": 2, "input_tokens": 300, "output_tokens": 40}
    assert not meter.unwritten
    async with home.read() as tx:
        assert await tx.usage.of("soul_1", "2027-01-01") == [DailyUsage("soul_1", budget.today(), "turn", 2, 300, 40)]


class Broke(NoBudget):
    """Its entry is the last statement of the transaction."""

    async def charge(self, tx, soul_id, kind, usage):
        raise ZeroDivisionError


async def everything(stores):
    async with stores.read() as tx:
        return {
            "soul": await tx.souls.get("soul_1"),
            "sessions": await tx.sessions.all(),
            "messages": await tx.messages.page("sess_1"),
            "answer": (await tx.turns.get("sess_1", "in_1")).answer,
            "jobs": await tx.outbox.all("sess_1"),
            "slots": await tx.slots.all("soul_1"),
            "preferences": await tx.preferences.all("soul_1"),
        }


def rich():
    decisions = [Decision("call_me", "小王", "explicit", ["以后叫我小王"])]
    return {**spoken(update=MOVED, decisions=decisions), "remembered": ["likes rain"]}


async def test_a_write_that_fails_at_its_end_leaves_nothing_and_tells_nobody(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
    before, events, telemetry = await everything(home), [], Notebook()
    with metered() as meter:
        meter.spent = Usage(1, 10, 5)
        with pytest.raises(ZeroDivisionError):
            await written(home, rich(), events, budget=Broke(), telemetry=telemetry)
        assert meter.unwritten == Usage(1, 10, 5)
    assert await everything(home) == before
    assert (events, telemetry.emitted) == ([], [])
    await written(home, rich())
    assert all(was != now for was, now in zip(before.values(), (await everything(home)).values(), strict=True))


async def test_a_turn_that_another_server_has_written_is_not_written_over(home):
    async with home.write() as tx:
        await tx.sessions.add(session(turn=1))
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
    before = await everything(home)
    with pytest.raises(Conflict):
        await written(home, rich())
    assert await everything(home) == before


async def test_telemetry_hears_the_change_of_mode_every_decision_and_the_turn(home):
    telemetry = Notebook()
    decisions = [Decision("call_me", "小王", "explicit", []), Decision("length", "short", "hint", [])]
    state = spoken(decisions=decisions) | {"persona_state": persona_state("strict")}
    await written(home, state, telemetry=telemetry)
    assert [name for name, _ in telemetry.emitted] == [
        "persona.mode.changed",
        "persona.preference.persisted",
        "persona.preference.rejected",
        "turn.completed",
    ]
    assert {fields["turn_id"] for _, fields in telemetry.emitted} == {"turn_1"}
    [changed], [completed] = telemetry.told("persona.mode.changed"), telemetry.told("turn.completed")
    assert (changed["mode_before"], changed["mode_after"]) == ("hybrid", "strict")
    assert (completed["emotion_latency_ms"], completed["sources"]) == (7.0, ["slot:3"])


async def replacing(home, **fields):
    """A session with one round, whose first message is replaced; returns what is stored then."""
    old = session(turn=1, title="你好呀")
    async with home.write() as tx:
        await tx.sessions.add(old)
        said = [
            message("你好呀", turn_id="turn_0", input_id="in_1"),
            message("old", role="assistant", turn_id="turn_0"),
        ]
        first, _ = await tx.messages.append("sess_1", said)
        await tx.outbox.add("afterglow", "soul_1", "sess_1", "turn_0", {}, NOW)
    state = spoken("你好呀", "new", session=old, **fields)
    state["utterance"]["replaces"] = first
    answer = (await written(home, state))["answer"]
    async with home.read() as tx:
        stored = await tx.sessions.get("sess_1")
        jobs = [job.turn_id for job in await tx.outbox.all("sess_1")]
        return answer, stored, await tx.messages.page("sess_1"), jobs, first


async def test_what_is_replaced_is_taken_back_with_the_work_that_was_to_follow_it(home):
    answer, stored, messages, jobs, first = await replacing(home)
    assert answer["replaces"] == first
    assert [(one.role, one.content) for one in messages] == [("user", "你好呀"), ("assistant", "new")]
    assert all(one.message_id > first for one in messages)
    assert jobs == ["turn_1"]
    assert stored.turn == 2


@pytest.mark.parametrize(("asked_to", "asked_again"), [(10**6, False), (0, True)])
async def test_a_model_is_asked_once_about_the_wishes_in_a_text_that_is_answered_anew(home, asked_to, asked_again):
    guard = {"hints": {}, "pending": None, "proposed_to": asked_to}
    _, stored, messages, _, _ = await replacing(home, guard=guard, regenerated=True)
    proposed_to = stored.guard_of("user_1").get("proposed_to", 0)
    assert proposed_to == (0 if asked_again else messages[-1].message_id)


async def test_a_soul_that_was_deleted_meanwhile_is_not_answered_for(home):
    new = replace(session(), session_id="sess_new", turn=0)
    state = {**spoken(session=new), "utterance": utterance("你好", session_id="sess_new")}
    runtime = small_runtime(stores=home, voice=Voice("offline", OfflineVoice()), clock=lambda: LATER)
    async with home.write() as tx:
        await tx.souls.delete("soul_1")
    with pytest.raises(NotFound, match="no soul 'soul_1'"):
        await writeback(state, runtime)

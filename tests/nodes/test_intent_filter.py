from datetime import UTC, datetime, timedelta, timezone

import pytest

from soulgraph.nodes.context import Senses
from soulgraph.nodes.intent_filter import MAX_WAIT_S, intent_filter
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.tests.nodes.samples import Unused, impact, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW, message, session

SENSES = Senses(Unused("emotions"), IntentFilter(None))
LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}
ALARM = {
    "id": "alarm",
    "name": "闹钟",
    "match": {"keywords_any": ["叫醒我"]},
    "slots": [{"name": "at", "type": "time"}],
}


AC = {
    "id": "ac_set",
    "name": "调温度",
    "match": {"keywords_any": ["调温度", "set the temperature"]},
    "slots": [
        {"name": "degrees", "type": "number", "required": True, "question": "调到几度？"},
        {"name": "room", "values": ["客厅", "卧室"]},
    ],
}


async def filtered(stores, text, terminal_id, preferences=None, **ports):
    heard = {"utterance": utterance(text, terminal_id=terminal_id), "impact": impact(preferences=preferences or {})}
    state = {**heard, "latency": {"emotion_latency_ms": 7.0}}
    return await intent_filter(state, small_runtime(stores=stores, senses=SENSES, **ports))


async def report(stores, *catalog):
    async with stores.write() as tx:
        await tx.terminals.report_catalog("robot-1", 1, list(catalog), NOW)


async def test_without_a_terminal_there_is_nothing_to_ask_for():
    result = await filtered(Unused("stores"), "开灯", terminal_id=None)
    assert result["terminal"] is None
    assert (result["intents"].decision.action, result["intents"].intents) == ("no_action", [])


async def test_a_terminal_that_has_reported_nothing_can_do_nothing(home):
    result = await filtered(home, "开灯", terminal_id="robot-1")
    assert (result["terminal"], result["intents"].decision.action) == (None, "no_action")


async def test_what_is_asked_for_is_found_in_the_catalog_of_this_terminal(home):
    await report(home, LIGHT, ALARM)
    result = await filtered(home, "请开灯", terminal_id="robot-1")
    assert [found.intent_id for found in result["intents"].intents] == ["light_on"]
    assert result["terminal"].intent_catalog == [LIGHT, ALARM]
    assert (await filtered(home, "请开灯", terminal_id="robot-2"))["intents"].intents == []


async def test_a_new_report_counts_from_the_next_turn_on(home):
    await report(home, LIGHT)
    assert (await filtered(home, "请开灯", terminal_id="robot-1"))["intents"].intents
    await report(home, ALARM)
    assert (await filtered(home, "请开灯", terminal_id="robot-1"))["intents"].intents == []


async def test_times_are_read_by_the_users_clock(home):
    await report(home, ALARM)
    evening = datetime(2027, 1, 15, 20, tzinfo=UTC).timestamp()
    there = timezone(timedelta(hours=8))  # where it is the 16th already
    result = await filtered(home, "明天早上七点叫醒我", terminal_id="robot-1", clock=lambda: evening, timezone=there)
    assert result["intents"].intents[0].parameters["at"].startswith("2027-01-17T07:00")


async def test_the_latency_of_the_emotion_is_kept():
    latency = (await filtered(Unused("stores"), "你好", terminal_id=None))["latency"]
    assert latency["emotion_latency_ms"] == 7.0
    assert set(latency) == {"emotion_latency_ms", "intent_filter_latency_ms"}


async def test_what_is_missing_is_asked_for_in_the_language_the_user_prefers(home):
    at = {"name": "at", "type": "time", "required": True}
    await report(home, {**ALARM, "name": "alarm", "slots": [at]})
    for lang, is_english in (("en", True), ("zh", False)):
        result = await filtered(home, "叫醒我", terminal_id="robot-1", preferences={"language": lang})
        assert result["intents"].intents[0].question.isascii() is is_english


async def asked_for_degrees(stores, *, at=NOW, exec_mode="auto_execute", proactive=False, terminal_id="robot-1"):
    """A stored turn at whose end the soul asked how many degrees."""
    await report(stores, AC, LIGHT)
    question = (await filtered(stores, "把客厅调温度", terminal_id="robot-1"))["intents"].intents[0]
    answer = {"terminal_id": terminal_id, "exec_mode": exec_mode, "intents": [question.model_dump()]}
    async with stores.write() as tx:
        await tx.sessions.ensure(session())
        await tx.turns.heard("sess_1", "in_0", "turn_0", "soul_1", {}, at)
        await tx.turns.answered("sess_1", "in_0", answer)
        await tx.messages.append("sess_1", [message("调到几度？", turn_id="turn_0", role="assistant", created_at=at)])
        if proactive:
            await tx.messages.append(
                "sess_1", [message("在吗", turn_id="turn_p", role="assistant", created_at=at, proactive=True)]
            )


async def decided(stores, text, now=NOW + 5):
    result = await filtered(stores, text, terminal_id="robot-1", clock=lambda: now)
    return [(found.intent_id, found.parameters, found.status) for found in result["intents"].intents]


@pytest.mark.parametrize("text", ["二十六度", "26", "嗯，二十六度吧", "make it 26", "twenty six degrees please"])
async def test_an_answer_to_the_souls_question_completes_the_intent(home, text):
    await asked_for_degrees(home)
    assert await decided(home, text) == [("ac_set", {"room": "客厅", "degrees": 26}, "ready")]


@pytest.mark.parametrize("text", ["算了", "never mind", "你觉得几度合适", "我今天走了两万步", "26度会不会太冷"])
async def test_a_refusal_a_question_or_another_subject_drops_the_question(home, text):
    await asked_for_degrees(home)
    assert await decided(home, text) == []


async def test_another_request_is_carried_out_instead(home):
    await asked_for_degrees(home)
    assert await decided(home, "开灯") == [("light_on", {}, "ready")]


@pytest.mark.parametrize(
    "turn",
    [{"at": NOW - MAX_WAIT_S}, {"exec_mode": "blocked"}, {"proactive": True}, {"terminal_id": "robot-2"}],
    ids=["too late", "never asked", "something else was said since", "asked elsewhere"],
)
async def test_a_question_that_is_not_open_is_not_answered(home, turn):
    await asked_for_degrees(home, **turn)
    assert await decided(home, "二十六度") == []

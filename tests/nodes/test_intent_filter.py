from datetime import UTC, datetime, timedelta, timezone

from soulgraph.nodes.context import Senses
from soulgraph.nodes.intent_filter import intent_filter
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.tests.nodes.samples import Unused, impact, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW

SENSES = Senses(Unused("emotions"), IntentFilter(None))
LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}
ALARM = {
    "id": "alarm",
    "name": "闹钟",
    "match": {"keywords_any": ["叫醒我"]},
    "slots": [{"name": "at", "type": "time"}],
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

import json
from dataclasses import replace

import pytest

from soulgraph.nodes.context import NoListeners, Outlets
from soulgraph.nodes.gate import act_or_talk, gate
from soulgraph.tests.nodes.samples import CALM, HURT, impact, intents, matched, small_runtime, utterance

LOCKED = replace(CALM, lock_until=100.0)


async def judged(emotion, now=0.0, **ports):
    state = {"utterance": utterance(terminal_id="robot-1"), "impact": impact(emotion=emotion)}
    return (await gate(state, small_runtime(clock=lambda: now, **ports)))["gate"]


async def test_a_calm_soul_acts_and_a_hurt_one_does_not():
    assert (await judged(CALM)).exec_mode == "auto_execute"
    assert (await judged(HURT)).exec_mode == "blocked"


async def test_a_lock_is_read_by_the_clock_of_the_turn():
    during, after = await judged(LOCKED, now=99.0), await judged(LOCKED, now=101.0)
    assert (during.locked, during.exec_mode) == (True, "blocked")
    assert (after.locked, after.exec_mode) == (False, "auto_execute")


class Hub:
    def __init__(self):
        self.updates = []
        self.compact = []

    def emotion_update(self, update):
        self.updates.append(update)

    def compact_emotion(self, terminal_id, feeling, previous_at=None):
        self.compact.append((terminal_id, feeling, previous_at))


async def test_listeners_and_the_terminal_hear_how_the_soul_feels_and_whether_it_acts():
    hub, events = Hub(), []
    state = {"utterance": utterance(terminal_id="robot-1"), "impact": impact(emotion=HURT)}
    await gate(state, small_runtime(events, outlets=Outlets(hub)))
    [event], [update] = events, hub.updates
    assert (event["event"], event["data"]["exec_mode"]) == ("emotion", "blocked")
    assert (update.terminal_id, update.exec_mode, update.soul_emotion["p"]) == ("robot-1", "blocked", -1.0)
    [(terminal_id, feeling, previous_at)] = hub.compact
    assert (terminal_id, feeling.gate.exec_mode, previous_at) == ("robot-1", "blocked", None), "a turn is always told"
    assert feeling.user_emotion == state["impact"].user_emotion.emotion


class Watching(NoListeners):
    def __init__(self, *souls):
        self.souls, self.reports = souls, []

    def hears_emotion(self, soul_id):
        return soul_id in self.souls

    def emotion_changed(self, report):
        self.reports.append(report)


async def test_those_who_watch_the_soul_hear_it_in_words_of_both_languages():
    watching = Watching("soul_1")
    await judged(LOCKED, outlets=Outlets(listeners=watching))
    [report] = watching.reports
    assert (report["soul_id"], report["soul_emotion"]) == ("soul_1", LOCKED.to_dict())
    assert report["mood"].keys() == report["gate"]["why"].keys() == {"zh", "en"}
    assert (report["gate"]["exec_mode"], report["gate"]["locked"]) == ("blocked", True)
    nobody = Watching()
    await judged(LOCKED, outlets=Outlets(listeners=nobody))
    assert nobody.reports == []


@pytest.mark.parametrize(("text", "why"), [("你好", "被刚才的话伤到了"), ("hello", "hurt by what was said")])
async def test_they_also_hear_why_it_does_not_act_and_what_would_help_in_the_users_language(text, why):
    hub, events = Hub(), []
    state = {"utterance": utterance(text, terminal_id="robot-1"), "impact": impact(emotion=LOCKED)}
    await gate(state, small_runtime(events, outlets=Outlets(hub)))
    told = events[0]["data"]["gate"]
    assert (told["reason"], told["why"], told["lock_remaining_s"]) == ("hurt", why, 100.0)
    assert told["helps"]
    assert hub.updates[0].gate == told
    assert json.loads(hub.updates[0].to_json())["gate"] == told


async def test_an_open_gate_is_told_without_reasons():
    hub = Hub()
    state = {"utterance": utterance(terminal_id="robot-1"), "impact": impact(emotion=CALM)}
    await gate(state, small_runtime([], outlets=Outlets(hub)))
    assert json.loads(hub.updates[0].to_json())["gate"] == {"exec_mode": "auto_execute", "lock_remaining_s": 0.0}


@pytest.mark.parametrize(
    ("found", "emotion", "route"),
    [
        ([matched()], CALM, "intent_action"),
        ([matched()], HURT, "recall"),
        ([], CALM, "recall"),
        ([], HURT, "recall"),
    ],
)
async def test_only_a_matched_intent_of_an_able_soul_is_acted_on(found, emotion, route):
    assert await act_or_talk({"intents": intents(*found), "gate": await judged(emotion)}) == route

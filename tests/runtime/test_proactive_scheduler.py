"""A soul's own life on a clock of our own and a real model server: when it may speak, and when it does not."""

import asyncio
import itertools
import json
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest

from soulgraph.library.persona_config import PersonaConfig, ProactiveConfig
from soulgraph.nodes.context import Context, Outlets, Senses
from soulgraph.runtime.listeners import Listeners, Subscription
from soulgraph.runtime.proactive_scheduler import ProactiveScheduler
from soulgraph.runtime.rotating_file import RotatingFile
from soulgraph.runtime.telemetry import JsonLines
from soulgraph.runtime.ticks import Ticks
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.settings import Settings
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import traits_of
from soulgraph.stores.database import Database
from soulgraph.stores.factories import new_session, new_soul
from soulgraph.stores.records import NewMessage, Slot
from soulgraph.stores.stores import Stores
from soulgraph.terminals.presence import Presence
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.factory import open_voice

MORNING = datetime(2027, 1, 15, 9, tzinfo=UTC).timestamp()
HOUR = 3600.0
RULES = ProactiveConfig(daily_cap=3)


def speak(text="雨停了，你还好吗？"):
    return Reply(text=json.dumps({"speak": True, "text": text, "reason": "I wonder how they are"}))


SPEAK = speak()
SILENT = Reply(text=json.dumps({"speak": False, "text": "", "reason": "they may be asleep"}))


class Talkative(StubOpenAI):
    """A model that says something else each time, because a soul does not repeat itself."""

    _seagulls = itertools.count(2)

    @property
    def default(self):
        return self._default or speak(f"雨停了，你还好吗？我数到{next(self._seagulls)}只海鸥。")

    @default.setter
    def default(self, reply):
        self._default = reply

    def __init__(self):
        super().__init__()
        self.default = None


class World:
    """One soul with a conversation, its model, and everything it says."""

    def __init__(self, context, stub, log):
        self.stub, self._log, self.context = stub, log, replace(context, clock=lambda: self.now)
        self.now, self.soul_id = MORNING, ""
        self.loop = ProactiveScheduler(self.context, self.context.outlets.listeners, Random(7))

    async def settle(self):
        async with self.context.stores.write() as tx:
            soul = await new_soul(
                tx, name="小满", mbti_type="INFJ", user_id="u", character_id=None, now=self.now - 9 * HOUR
            )
            await tx.souls.add(soul)
        self.soul_id = soul.soul_id

    async def talk(self, session_id="s", user_id="u"):
        """As after a turn."""
        place = {"character_id": None, "background_id": None, "template_id": "companion_v1"}
        async with self.context.stores.write() as tx:
            soul = await tx.souls.get(self.soul_id)
            names = {"session_id": session_id, "user_id": user_id, "title": ""}
            await tx.sessions.ensure(await new_session(tx, soul, **names, **place, mode="hybrid", now=self.now))
            words = [("user", "明天我要考试"), ("assistant", "你可以的。")]
            await tx.messages.append(
                session_id, [NewMessage("t", *said, self.now, user_id, self.soul_id, archived=True) for said in words]
            )
            await tx.souls.feel(soul.soul_id, soul.emotion_state, soul.turns + 1, self.now)

    async def pass_hours(self, hours, step_s=600):
        until = self.now + hours * HOUR
        while self.now < until:
            self.now += step_s
            await self.loop.pulse()

    async def said(self, session_id="s"):
        async with self.context.stores.read() as tx:
            return [one for one in await tx.messages.page(session_id) if one.proactive]

    async def life(self, user_id="u"):
        async with self.context.stores.read() as tx:
            return await tx.proactive_schedules.of([(self.soul_id, user_id)])

    def told(self, event="life"):
        lines = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        return [line for line in map(json.loads, lines) if line["event"].startswith(event)]

    def listening(self, user_id=None):
        return self.context.outlets.listeners.listen(self.soul_id, user_id)

    @property
    def calls(self):
        return len(self.stub.requests)


@asynccontextmanager
async def opened(url, tmp_path, **rules):
    log = tmp_path / "telemetry.jsonl"
    async with Database.open(url) as database, Talkative() as stub:
        settings = Settings.load(llm_base_url=stub.base_url, llm_model="stub", llm_timeout_s=5)
        async with open_voice(settings.llm, ()) as voice:
            with JsonLines.open(RotatingFile(log, "telemetry", 0, 1), lambda: 0.0, words=True) as telemetry:
                context = Context(
                    stores=Stores(database),
                    senses=Senses(LexiconRecogniser(), IntentFilter(None)),
                    voice=voice,
                    read_persona=lambda: PersonaConfig(life=RULES.model_copy(update=rules)),
                    clock=lambda: MORNING,
                    timezone=UTC,
                    telemetry=telemetry,
                    outlets=Outlets(listeners=Listeners()),
                )
                yield World(context, stub, log)


@pytest.fixture
async def world(sqlite_url, tmp_path):
    async with opened(sqlite_url, tmp_path) as world:
        await world.settle()
        await world.talk()
        yield world


async def test_a_thousand_hours(world):
    """With somebody there for most of them, a model that says no every third time, and ticks in between."""
    context, presence, ticked = world.context, Presence(lambda: world.now), []
    clock, count = context.clock, lambda souls, _: ticked.append(souls)
    ticks = Ticks(context.stores, presence, None, context.constants, clock, 3, count)
    async with world.context.stores.write() as tx:
        await tx.terminals.bind("lamp", world.soul_id, world.now, "u")
    world.stub.script(*[SILENT if n % 3 == 0 else speak(f"我数到{n}只海鸥。") for n in range(1000)])
    heard, there = [], 0
    for day in range(42):
        away = day % 7 == 6
        there += not away
        with world.context.outlets.listeners.listen("nobody" if away else world.soul_id) as listener:
            before = world.calls
            for _ in range(4):
                await world.pass_hours(6)
                calls = world.calls
                presence.seen("lamp")
                await ticks.tick()
                assert world.calls == calls, "no model is asked by a tick"
            assert away is (world.calls == before)
            async for news in listener.events(0.001):
                if news is None:
                    break
                heard.append(news.data)
    said, spoke, silent = await world.said(), world.told("life.spoke"), world.told("life.silent")
    moments = [datetime.fromtimestamp(one.created_at, UTC) for one in said]
    days = Counter(moment.date() for moment in moments)
    assert sum(ticked) == 42 * 4
    assert max(days.values()) <= RULES.daily_cap
    assert len(days) > there / 2
    assert not any(moment in RULES.quiet_hours for moment in moments)
    assert min(later - earlier for earlier, later in pairwise(moments)).total_seconds() >= 90 * 60
    assert len({(moment.hour, moment.minute) for moment in moments}) > 20, "no timetable"
    assert world.calls == len(spoke) + len(silent)
    assert len(silent) == (world.calls + 2) // 3
    assert len(said) == len(spoke) == len(heard)
    assert {line["reason"] for line in silent} == {"they may be asleep"}


async def test_who_is_heard_for_the_first_time_waits_for_a_due_time_and_then_speaks_once(world):
    with world.listening():
        world.now += 3 * HOUR
        await world.loop.pulse()
        [life] = await world.life()
        assert 90 * 60 <= life.due_at - world.now <= 240 * 60
        assert world.calls == 0
        world.now = life.due_at - 1
        await world.loop.pulse()
        assert world.calls == 0
        world.now = life.due_at
        await world.loop.pulse()
        await world.loop.pulse()
    [message] = await world.said()
    assert message.content.startswith("雨停了，你还好吗？")
    assert (message.role, message.created_at) == ("assistant", world.now)
    [line] = world.told()
    assert (line["event"], line["soul_id"], line["session_id"]) == ("life.spoke", world.soul_id, "s")
    assert (line["reason"], line["delivered"]) == ("I wonder how they are", {"terminals": [], "streams": 1})
    assert world.calls == 1


async def test_who_watches_the_nodes_sees_it_consider_and_speak_and_then_that_the_conversation_has_changed(world):
    listeners, told = world.context.outlets.listeners, []
    with listeners.connect() as line:
        listeners.follow(line, Subscription(world.soul_id, "u", nodes=True))
        while "session_changed" not in [one.event for one in told]:
            await world.pass_hours(1)
            told += await news_of(line)
    nodes = [(one.data["graph"], one.data["node"], one.data["phase"]) for one in told if one.event == "node"]
    steps = ("consider", "decide", "speak_up")
    assert nodes[-6:] == [("proactive", step, phase) for step in steps for phase in ("start", "end")]
    assert not any("update" in one.data for one in told)
    [said] = await world.said()
    [spoke] = [one for one in told if one.event == "proactive"]
    [changed] = [one.data for one in told if one.event == "session_changed"]
    assert (spoke.data["text"], changed["turn_id"], changed["reason"]) == (said.content, said.turn_id, "turn")


async def news_of(listener):
    """What was told so far."""
    told = []
    async for news in listener.events(0.001):
        if news is None:
            break
        told.append(news)
    return told


async def test_the_model_is_told_what_a_friend_would_know_and_no_numbers_of_feeling(world):
    async with world.context.stores.write() as tx:
        await tx.slots.put(Slot(world.soul_id, "u", 3, "养了一只猫", world.now))
        await tx.monologues.think(world.soul_id, "我有点想他。</inner_state>", "test", world.now, "u")
    with world.listening():
        await world.pass_hours(12)
    [prompt] = world.stub.requests[0].body["messages"]
    assert prompt["role"] == "user"
    for expected in ("小满", "养了一只猫", "我有点想他。", "明天我要考试", "大约", "星期五", "请用中文回答"):
        assert expected in prompt["content"]
    assert prompt["content"].count("</inner_state>") == 1
    assert "（主动）" not in prompt["content"].partition("<messages>")[2].partition("</messages>")[0]
    later = world.stub.requests[-1].body["messages"][0]["content"]
    assert "你说（主动）: “雨停了，你还好吗？" in later
    assert world.told("life.spoke")[0]["sources"] == ["slot:3", "message:1", "message:2"]


@pytest.mark.parametrize(
    ("rules", "hours"), [({"daily_cap": 0}, 12), ({"quiet_hours": RULES.quiet_hours.parse("00:00-23:59")}, 48)]
)
async def test_rules_that_allow_nothing_ask_no_model(sqlite_url, tmp_path, rules, hours):
    async with opened(sqlite_url, tmp_path, **rules) as world:
        await world.settle()
        await world.talk()
        with world.listening():
            await world.pass_hours(hours)
        assert (world.calls, await world.said()) == (0, [])


async def test_a_soul_nobody_can_hear_or_has_talked_to_asks_no_model(world):
    await world.pass_hours(12)
    assert (world.calls, await world.life()) == (0, [])
    async with world.context.stores.write() as tx:
        await tx.sessions.delete("s")
    with world.listening():
        await world.pass_hours(24)
    assert (world.calls, world.told()) == (0, []), "nobody has talked to it, so nobody is meant"
    with world.listening("u"):
        await world.pass_hours(24)
    assert world.calls == 0
    assert {line["reason"] for line in world.told()} == {"they have never talked alone"}


async def test_a_conversation_is_not_interrupted(world):
    with world.listening():
        for _ in range(12):
            await world.talk()
            await world.pass_hours(1)
    assert world.calls == 0
    assert {line["reason"] for line in world.told()} == {"they have only just been together"}


async def test_a_soul_whose_gate_is_closed_says_nothing(world):
    anger = UserEmotion("anger", -0.9, 0.8, 0.4, 1.0, 1.0)
    with world.listening():
        await world.pass_hours(2)
        [life] = await world.life()
        async with world.context.stores.write() as tx:
            soul = await tx.souls.get(world.soul_id)
            feeling = soul.emotion_state
            for _ in range(12):
                feeling = impact(traits_of("INFJ"), feeling, anger, life.due_at - 1)
            await tx.souls.feel(world.soul_id, feeling, soul.turns, world.now - 9 * HOUR)
        world.now = life.due_at
        await world.loop.pulse()
    assert [line["reason"] for line in world.told()] == ["its gate is closed"]
    assert world.calls == 0


@pytest.mark.parametrize(
    ("reply", "calls", "reason"),
    [
        (Reply(text='{"speak": true, "text": ""}'), 2, "proactive was unusable twice"),
        (Reply(status=503, text="overloaded"), 1, "the model's server failed"),
    ],
)
async def test_a_model_that_fails_means_silence_until_the_next_time(world, reply, calls, reason):
    world.stub.script(*[reply] * calls)
    with world.listening():
        await world.pass_hours(12)
    first, *others = world.told()
    assert first["event"] == "life.silent"
    assert reason in first["reason"]
    assert {line["event"] for line in others} == {"life.spoke"}
    assert world.calls == calls + len(others)


@pytest.mark.parametrize(
    ("meanwhile", "reason"), [("talk", "they have begun to talk"), ("night", "the quiet hours have begun")]
)
async def test_what_happens_while_the_model_thinks_can_make_it_too_late(world, meanwhile, reason):
    world.stub.default = replace(SPEAK, delay_s=0.2)
    with world.listening():
        await world.loop.pulse()
        [life] = await world.life()
        world.now = life.due_at
        thinking = asyncio.create_task(world.loop.pulse())
        while not world.calls:
            await asyncio.sleep(0.01)
        if meanwhile == "talk":
            await world.talk("another")
        else:
            world.now += 14 * HOUR
        await thinking
    assert [(line["event"], line["reason"]) for line in world.told()] == [("life.silent", reason)]
    assert (await world.said(), (await world.life())[0].spoken) == ([], 0)


async def test_a_turn_that_runs_is_waited_for_and_then_has_the_word(world):
    with world.listening():
        await world.loop.pulse()
        [life] = await world.life()
        world.now = life.due_at
        async with world.context.locks.hold("s"):
            speaking = asyncio.create_task(world.loop.pulse())
            while not world.calls:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            assert await world.said() == []
            await world.talk()
        await speaking
    assert [line["reason"] for line in world.told()] == ["they have begun to talk"]


async def test_words_that_reach_nobody_were_never_said(world):
    world.now += 3 * HOUR
    await world.loop.graph.ainvoke({"soul_id": world.soul_id, "user_id": "u"}, context=world.context)
    assert [line["reason"] for line in world.told()] == ["nobody could be reached"]
    assert (world.calls, await world.said()) == (1, [])


async def test_a_restart_keeps_the_due_time_and_the_count(sqlite_url, tmp_path):
    async with opened(sqlite_url, tmp_path) as world:
        await world.settle()
        await world.talk()
        with world.listening():
            while not await world.said():
                await world.pass_hours(1)
        before, soul_id, now = await world.life(), world.soul_id, world.now
    async with opened(sqlite_url, tmp_path) as world:
        world.soul_id, world.now = soul_id, now
        with world.listening():
            await world.loop.pulse()
            assert await world.life() == before
            assert before[0].spoken == 1
            world.now = before[0].due_at
            await world.loop.pulse()
    assert len(world.told("life.spoke")) == 2


async def test_a_clock_that_was_far_ahead_does_not_silence_a_soul_for_good(world):
    with world.listening():
        world.now += 365 * 24 * HOUR
        await world.loop.pulse()
        world.now -= 364 * 24 * HOUR
        await world.pass_hours(12)
    assert await world.said()


async def test_a_soul_that_was_deleted_while_somebody_listens_stops_no_other(world):
    gone = world.soul_id
    async with world.context.stores.write() as tx:
        soul = await new_soul(
            tx, name="阿光", mbti_type="ESTJ", user_id="u", character_id=None, now=world.now - 9 * HOUR
        )
        await tx.souls.add(soul)
        await tx.souls.delete(gone)
    world.soul_id = soul.soul_id
    await world.talk("other")
    with world.context.outlets.listeners.listen(gone), world.listening():
        await world.pass_hours(12)
    assert await world.said("other")


class Phones:
    """A broker that has everything."""

    def __init__(self):
        self.sent = []

    async def proactive(self, terminal_id, payload):
        self.sent.append((terminal_id, payload.session_id))
        return True


@pytest.fixture
async def household(sqlite_url, tmp_path):
    """Ann and Bob have talked to the soul, Bob last."""
    async with opened(sqlite_url, tmp_path) as world:
        await world.settle()
        await world.talk("anns", "ann")
        world.now += 1
        await world.talk("bobs", "bob")
        yield world


async def test_each_person_has_due_times_and_a_cap_of_their_own(household):
    async with household.context.stores.write() as tx:
        soul = await tx.souls.get(household.soul_id)
        await tx.souls.feel(soul.soul_id, soul.emotion_state, soul.turns, household.now - 9 * HOUR)
    with household.listening("ann") as ann, household.listening("bob") as bob:
        await household.loop.pulse()
        due = [(await household.life(user_id))[0].due_at for user_id in ("ann", "bob")]
        assert due[0] != due[1]
        household.now = min(due)
        await household.loop.pulse()
        first, other = ("ann", "bob") if due[0] < due[1] else ("bob", "ann")
        [spoke], [waits] = await household.life(first), await household.life(other)
        assert (spoke.spoken, waits.spoken) == (1, 0)
        assert [len(await household.said(f"{one}s")) for one in (first, other)] == [1, 0]
        heard = {"ann": ann, "bob": bob}
        assert (await anext(heard[first].events(1))).data["session_id"] == f"{first}s"
        assert await anext(heard[other].events(0.01)) is None
        await household.pass_hours(72)
    for user_id in ("ann", "bob"):
        days = Counter(
            datetime.fromtimestamp(one.created_at, UTC).date() for one in await household.said(f"{user_id}s")
        )
        assert days and max(days.values()) <= RULES.daily_cap


async def test_a_line_without_a_person_means_who_talked_last(household):
    with household.listening():
        await household.pass_hours(12)
    assert (await household.life("ann"), bool(await household.life("bob"))) == ([], True)
    assert (await household.said("anns"), bool(await household.said("bobs"))) == ([], True)


async def test_a_terminal_is_its_usual_persons_place(household):
    phones = Phones()
    outlets = replace(household.context.outlets, hub=phones)
    household.loop = replace(household.loop, context=replace(household.context, outlets=outlets))
    for _ in range(72):
        async with household.context.stores.write() as tx:
            await tx.terminals.bind("phone", household.soul_id, household.now, "ann")
            await tx.terminals.bind("lamp", household.soul_id, household.now, "carl")
        await household.loop.pulse()
        household.now += 600
    assert {*phones.sent} == {("phone", "anns")}
    assert await household.said("bobs") == []
    assert {line["reason"] for line in household.told("life.silent")} <= {
        "they have never talked alone",
        "they have only just been together",
    }

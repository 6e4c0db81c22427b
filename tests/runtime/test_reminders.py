"""Reminders on a clock of our own: said once, in time, in the mood, outside quiet hours, after restarts and jumps."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from soulgraph.library.persona_config import PersonaConfig, ProactiveConfig
from soulgraph.nodes.context import Context, Outlets, Senses
from soulgraph.nodes.plan_records import new_plan
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.reminders import Reminders
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.plans.finding import find_plans
from soulgraph.settings import Settings
from soulgraph.soul.plan_times import GRACE_S, local_time, zone_of
from soulgraph.stores.database import Database
from soulgraph.stores.factories import default_session_id, new_session, new_soul
from soulgraph.stores.plans import LEASE_S
from soulgraph.stores.stores import Stores
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.factory import open_voice

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2027, 1, 15, 12, tzinfo=BERLIN).timestamp()  # a Friday
HOUR = 3600.0


class World:
    """One soul and Ann, who asks for things and listens or does not."""

    def __init__(self, context):
        self.now = NOON
        self.context = replace(context, clock=lambda: self.now)
        self.listeners = self.context.outlets.listeners
        self.reminders = Reminders(self.context, self.listeners)
        self.heard = []

    async def settle(self):
        place = {"character_id": None, "background_id": None, "template_id": "companion_v1", "title": ""}
        async with self.context.stores.write() as tx:
            soul = await new_soul(
                tx, name="小满", mbti_type="INFJ", user_id="ann", character_id=None, now=self.now - HOUR
            )
            await tx.souls.add(soul)
            for user_id in ("ann", "bob"):
                who = {"session_id": f"s-{user_id}", "user_id": user_id}
                await tx.sessions.add(await new_session(tx, soul, **who, **place, mode="hybrid", now=self.now))
        self.soul_id = soul.soul_id

    async def asks(self, text, user_id="ann", zone="Europe/Berlin"):
        here = local_time(self.now, zone_of(zone))
        (found,) = find_plans(text, here)
        plan = new_plan(found, self.soul_id, user_id, self.now, zone, BERLIN)
        async with self.context.stores.write() as tx:
            await tx.plans.put(plan)
        return plan

    async def plan(self, plan):
        async with self.context.stores.read() as tx:
            return await tx.plans.get(self.soul_id, plan.user_id, plan.plan_id)

    @asynccontextmanager
    async def listening(self, user_id="ann"):
        with self.listeners.listen(self.soul_id, user_id) as listener:
            yield
            listener.close()
            async for notice in listener.events(0.01):
                if notice and notice.event == "proactive":
                    self.heard.append(notice.data)

    async def passing(self, seconds, step=1.0, user_id="ann"):
        async with self.listening(user_id):
            until = self.now + seconds
            while self.now < until:
                self.now += step
                await self.reminders.pulse()

    async def said(self, user_id="ann"):
        async with self.context.stores.read() as tx:
            return [one for one in await tx.messages.page(f"s-{user_id}") if one.proactive]

    def clock(self, at):
        return f"{datetime.fromtimestamp(at, BERLIN):%d %H:%M:%S}"


@asynccontextmanager
async def opened(url, settings=None):
    async with Database.open(url) as database, open_voice((settings or Settings.load()).llm, ()) as voice:
        yield World(
            Context(
                stores=Stores(database),
                senses=Senses(LexiconRecogniser(), IntentFilter(None)),
                voice=voice,
                read_persona=lambda: PersonaConfig(life=ProactiveConfig()),
                clock=lambda: NOON,
                timezone=BERLIN,
                outlets=Outlets(listeners=Listeners()),
            )
        )


@pytest.fixture
async def world(sqlite_url):
    async with opened(sqlite_url) as world:
        await world.settle()
        yield world


async def test_a_reminder_is_said_once_and_in_the_second_it_is_due(world):
    plan = await world.asks("remind me in ten minutes to take my pills")
    await world.passing(599)
    assert await world.said() == []
    await world.passing(60)
    (message,) = await world.said()
    assert "take your pills" in message.content
    assert message.created_at == NOON + 600
    (heard,) = world.heard
    assert (heard["text"], heard["delivery_id"]) == (message.content, message.turn_id)
    kept = await world.plan(plan)
    assert (kept.status, kept.delivered_at, kept.next_at) == ("delivered", NOON + 600, None)


async def test_nobody_else_hears_it(world):
    await world.asks("remind me in ten minutes to take my pills")
    await world.passing(700, step=10, user_id="bob")
    assert (await world.said(), await world.said("bob"), world.heard) == ([], [], [])


async def test_who_is_away_hears_it_when_they_are_back_with_when_it_was_due(world):
    plan = await world.asks("remind me in ten minutes to take my pills")
    world.now += 2 * HOUR
    await world.reminders.pulse()
    assert (await world.plan(plan)).status == "open"
    await world.passing(1)
    assert "today at 12:10" in (await world.said())[0].content


async def test_what_is_not_heard_for_a_week_is_missed(world):
    plan = await world.asks("remind me in ten minutes to take my pills")
    world.now += GRACE_S + HOUR
    await world.passing(2)
    assert (await world.said(), (await world.plan(plan)).status) == ([], "missed")


async def test_one_for_a_day_comes_in_its_morning_and_one_for_a_clock_time_even_in_quiet_hours(world):
    await world.asks("remind me tomorrow to ring the school")
    await world.asks("提醒我今晚十一点半关煤气")
    await world.passing(24 * HOUR, step=30)
    night, morning = await world.said()
    assert world.clock(night.created_at) == "15 23:30:00"
    assert world.clock(morning.created_at) == "16 09:00:00"


async def test_one_that_comes_too_late_waits_for_the_end_of_quiet_hours(world):
    await world.asks("remind me at 9 pm to lock the door")
    world.now += 11 * HOUR  # 23:00, and nobody named that time
    await world.passing(12 * HOUR, step=30)
    (message,) = await world.said()
    assert world.clock(message.created_at) == "16 08:00:00"


async def test_one_that_recurs_comes_every_day_once_and_missed_days_are_not_made_up_for(world):
    plan = await world.asks("every day at 1 pm remind me to stretch")
    await world.passing(49 * HOUR, step=60)
    assert [world.clock(one.created_at) for one in await world.said()] == [
        "15 13:00:00",
        "16 13:00:00",
        "17 13:00:00",
    ]
    world.now += 5 * 24 * HOUR  # the machine slept
    await world.passing(60)
    assert len(await world.said()) == 4
    assert world.clock((await world.plan(plan)).due) == "23 13:00:00"


async def test_a_clock_put_back_says_nothing_twice(world):
    await world.asks("remind me in ten minutes to take my pills")
    await world.asks("every day at 1 pm remind me to stretch")
    await world.passing(2 * HOUR, step=10)
    world.now -= 3 * HOUR
    await world.passing(5 * HOUR, step=10)
    assert len(await world.said()) == 2


async def test_a_crash_between_storing_and_sending_sends_it_again_and_stores_nothing(world, monkeypatch):
    await world.asks("remind me in ten minutes to take my pills")
    world.now += 600
    monkeypatch.setattr(Reminders, "_send", lambda *_: asyncio.sleep(0))
    await world.passing(2)
    monkeypatch.undo()
    assert (len(await world.said()), world.heard) == (1, [])
    await world.passing(LEASE_S + 2)
    (message,) = await world.said()
    assert [one["delivery_id"] for one in world.heard] == [message.turn_id]


async def test_seven_is_seven_where_the_person_lives(world):
    plan = await world.asks("remind me at 7 pm to call home", zone="America/New_York")
    assert datetime.fromtimestamp(plan.due, UTC).hour == 0
    await world.passing(14 * HOUR, step=30)
    assert world.clock((await world.said())[0].created_at) == "16 01:00:00"


async def test_whoever_has_never_talked_gets_a_conversation(world):
    plan = await world.asks("remind me in ten minutes to take my pills", user_id="eve")
    await world.passing(700, step=10, user_id="eve")
    async with world.context.stores.read() as tx:
        (message,) = await tx.messages.page(default_session_id(world.soul_id, "eve"))
    assert message.turn_id == (await world.plan(plan)).delivery_id


ANSWERS = {
    "its own words": (Reply(text=json.dumps({"text": "Your pills, dear. Now."})), "Your pills, dear. Now."),
    "words about something else": (Reply(text=json.dumps({"text": "What a lovely day."})), "take your pills"),
    "an error": (Reply(status=500), "take your pills"),
}


@pytest.mark.parametrize(("answer", "said"), ANSWERS.values(), ids=ANSWERS)
async def test_a_model_says_it_in_its_own_words_and_without_it_the_prepared_line_is_said(sqlite_url, answer, said):
    async with StubOpenAI() as stub:
        stub.default = answer
        settings = Settings.load(llm_base_url=stub.base_url, llm_model="stub", llm_timeout_s=5)
        async with opened(sqlite_url, settings) as world:
            await world.settle()
            await world.asks("remind me in ten minutes to take my pills")
            await world.passing(610, step=10)
            (message,) = await world.said()
    assert said in message.content

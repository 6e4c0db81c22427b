"""Ticks on both databases, with a clock of the test's own: who is awake moves, once a period, and nothing is lost."""

import asyncio
import logging
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import chain, repeat

import pytest
from sqlalchemy import text

from soulgraph.runtime import ticks as module
from soulgraph.runtime.listeners import Listeners, Subscription
from soulgraph.runtime.ticks import Ticks
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import traits_of
from soulgraph.stores.database import Database, database_url
from soulgraph.stores.factories import default_session_id
from soulgraph.stores.history import RESOLUTION_S
from soulgraph.stores.postgres_database import PostgresDatabase
from soulgraph.stores.records import PresenceReport
from soulgraph.stores.stores import Stores
from soulgraph.terminals.compact_emotion import ToldEmotions
from soulgraph.terminals.presence import Presence
from soulgraph.tests.statements import noting_statements
from soulgraph.tests.stores.samples import NOW, soul

PERIOD_S = 3.0
INFP = traits_of("INFP")
ANGER = UserEmotion("anger", -0.60, 0.75, 0.25, 0.9, 0.9)
HURT = impact(INFP, born(INFP, NOW), ANGER, NOW)


class Body:
    """A hub that keeps what it is given to send."""

    def __init__(self):
        self.updates = []
        self.told = ToldEmotions()
        self.compact = []

    def emotion_update(self, update):
        self.updates.append(update)

    def compact_emotion(self, terminal_id, feeling, previous_at=None):
        if self.told.is_news(terminal_id, feeling, previous_at):
            self.compact.append((terminal_id, feeling))


class World:
    """Hurt souls with a terminal each, and the ticks of one server over them."""

    def __init__(self, stores, constants=DEFAULT):
        self.stores, self.now, self.hub, self.observed = stores, NOW, Body(), []
        self.presence = Presence(self.clock)
        self.listeners = Listeners()
        self.ticks = self.server(constants)

    def server(self, constants=DEFAULT, period_s=PERIOD_S):
        def observe(souls, _seconds):
            self.observed.append(souls)

        ports = self.stores, self.presence, self.hub
        return Ticks(*ports, constants, self.clock, period_s, observe, listeners=self.listeners)

    def clock(self):
        return self.now

    async def settle(self, *names):
        async with self.stores.write() as tx:
            for name in names:
                mood = {"personality_vector": INFP, "emotion_state": HURT}
                await tx.souls.add(soul(f"soul_{name}", **mood))
                await tx.terminals.bind(f"term_{name}", f"soul_{name}", self.now)

    async def pass_time(self, seconds=PERIOD_S):
        """The terminals go on beating, and a tick comes."""
        self.now += seconds
        async with self.stores.write() as tx:
            known = await tx.terminals.all()
            await tx.terminals.note(PresenceReport(one.terminal_id, one.online, self.now) for one in known)
        await self.ticks.tick()

    async def feeling(self, name="a"):
        async with self.stores.read() as tx:
            return (await tx.souls.get(f"soul_{name}")).emotion_state

    async def history(self, name="a"):
        async with self.stores.read() as tx:
            return await tx.history.between(f"soul_{name}", float("-inf"), float("inf"))

    @contextmanager
    def statements(self):
        """What is sent to the database meanwhile: (statement, whether as a batch)."""
        sent = []
        with noting_statements(lambda one: sent.append((one.sql.split()[0], one.is_batch))):
            yield sent


@pytest.fixture
async def world(stores):
    world = World(stores)
    await world.settle("a")
    return world


def close_to(feeling, expected):
    numbers = [(getattr(feeling, name), getattr(expected, name)) for name in asdict(expected) if name != "drift"]
    return all(a == b or abs(a - b) < 1e-6 for a, b in [*numbers, *zip(feeling.drift, expected.drift, strict=True)])


async def test_a_tick_draws_the_emotion_on_to_now_and_changes_nothing_else(world):
    async with world.stores.read() as tx:
        before = await tx.souls.get("soul_a")
    await world.pass_time()
    async with world.stores.read() as tx:
        after = await tx.souls.get("soul_a")
    assert close_to(after.emotion_state, evolve(INFP, HURT, world.now))
    assert replace(after, emotion_state=before.emotion_state) == before
    assert world.observed == [1]


async def test_only_souls_with_an_online_terminal_are_moved(world):
    await world.settle("silent", "gone")
    async with world.stores.write() as tx:
        await tx.souls.add(soul("soul_bodiless", emotion_state=HURT))
        await tx.terminals.note(
            [PresenceReport("term_silent", True, NOW - 60), PresenceReport("term_gone", False, NOW)]
        )
    world.now += PERIOD_S
    await world.ticks.tick()
    assert (await world.feeling()).updated_at == world.now
    for asleep in ("silent", "gone", "bodiless"):
        assert await world.feeling(asleep) == HURT
    assert {update.terminal_id for update in world.hub.updates} == {"term_a"}


async def test_each_terminal_of_a_soul_is_told_how_it_feels(world):
    async with world.stores.write() as tx:
        await tx.terminals.bind("term_b", "soul_a", NOW)
    await world.pass_time()
    feeling = await world.feeling()
    verdict = judge(INFP, feeling, world.now)
    told = {update.terminal_id: update for update in world.hub.updates}
    assert told.keys() == {"term_a", "term_b"}
    update = told["term_b"]
    assert (update.soul_id, update.ts, update.user_emotion) == ("soul_a", world.now, None)
    assert update.session_id == default_session_id("soul_a", terminal_id="term_b")
    assert update.soul_emotion == feeling.to_dict()
    assert (update.exec_probability, update.exec_mode) == (verdict.exec_probability, verdict.exec_mode)


async def news(listener, *events):
    """What was told so far of these events."""
    told = []
    async for notice in listener.events(0.01):
        if notice is None:
            break
        if notice.event in events:
            told.append(notice.data)
    return told


async def test_who_listens_to_a_soul_is_told_how_it_feels_also_without_a_terminal_and_then_nothing_is_stored(world):
    async with world.stores.write() as tx:
        await tx.souls.add(soul("soul_bodiless", personality_vector=INFP, emotion_state=HURT))
        await tx.souls.add(soul("soul_unheard", name="Mo", personality_vector=INFP, emotion_state=HURT))
    with world.listeners.connect() as line, world.listeners.listen("soul_unheard"):
        for soul_id in ("soul_a", "soul_bodiless", "soul_deleted"):
            world.listeners.follow(line, Subscription(soul_id))
        await world.pass_time()
        told = {one["soul_id"]: one for one in await news(line, "emotion_update")}
    assert told.keys() == {"soul_a", "soul_bodiless"}
    now = evolve(INFP, HURT, world.now)
    for report in told.values():
        assert report["soul_emotion"]["p"] == pytest.approx(now.p, abs=1e-6)
        assert report["gate"]["exec_probability"] == pytest.approx(judge(INFP, now, world.now).exec_probability)
    assert (await world.feeling()).updated_at == world.now
    assert await world.feeling("bodiless") == HURT
    assert await world.history("bodiless") == []
    assert world.observed == [1]


async def test_who_listens_on_one_server_hears_of_a_soul_that_another_ticks(world):
    elsewhere = replace(world.server(), listeners=Listeners())
    with world.listeners.connect() as line:
        world.listeners.follow(line, Subscription("soul_a"))
        world.now += PERIOD_S
        await elsewhere.tick()
        assert await news(line, "emotion_update") == []
        await world.ticks.tick()
        [report] = await news(line, "emotion_update")
    assert report["soul_emotion"] == (await world.feeling()).to_dict()
    assert world.observed == [1, 0]


async def test_terminals_that_come_go_and_change_their_soul_are_told_of(world):
    await world.settle("b")
    with world.listeners.connect() as line:
        for name in "ab":
            world.listeners.follow(line, Subscription(f"soul_{name}", "ann"))

        async def told():
            return [(one["soul_id"], one["terminal_id"], one["online"]) for one in await news(line, "presence")]

        await world.ticks.tick()
        assert await told() == [], "who was there before the server began has not come"
        world.presence.seen("term_a", online=False)
        await world.pass_time()
        assert await told() == [("soul_a", "term_a", False)]
        async with world.stores.write() as tx:
            await tx.terminals.bind("term_a", "soul_b", world.now)
        await world.ticks.tick()
        assert await told() == [("soul_b", "term_a", True)]
        async with world.stores.write() as tx:
            await tx.terminals.bind("term_b", "soul_a", world.now)
        await world.ticks.tick()
        assert await told() == [("soul_b", "term_b", False), ("soul_a", "term_b", True)]
        world.now += 61
        await world.ticks.tick()
        assert await told() == [("soul_b", "term_a", False), ("soul_a", "term_b", False)]


async def test_without_a_broker_time_passes_too(world):
    silent = replace(world.ticks, hub=None)
    world.now += PERIOD_S
    await silent.tick()
    assert (await world.feeling()).updated_at == world.now


async def test_what_was_heard_of_terminals_is_noted_before_the_tick(world):
    world.presence.seen("term_a", online=False)
    world.now += PERIOD_S
    await world.ticks.tick()
    assert world.observed == [0]
    world.presence.seen("term_a")
    await world.ticks.tick()
    assert world.observed == [0, 1]


async def test_a_terminal_that_another_server_hears_again_has_not_gone(world):
    world.presence.seen("term_a", online=False)
    world.now += PERIOD_S
    await world.ticks.tick()
    assert world.presence.gone == {"term_a"}
    async with world.stores.write() as tx:
        await tx.terminals.seen("term_a", world.now)
    await world.ticks.tick()
    assert world.presence.gone == set()


async def test_ticks_follow_the_constants_they_are_given(stores):
    world = World(stores, DEFAULT.override({"p_base": 0.3, "lambda_0": 0.0}))
    await world.settle("a")
    await world.pass_time()
    assert (await world.feeling()).x == pytest.approx(HURT.x)
    assert world.hub.updates[0].exec_probability <= 0.3


async def test_with_nobody_awake_a_tick_is_one_query(world):
    async with world.stores.write() as tx:
        await tx.terminals.note([PresenceReport("term_a", False, NOW)])
    with world.statements() as sent:
        await world.ticks.tick()
    assert sent == [("SELECT", False)]


async def test_all_souls_are_written_in_one_batch(world):
    await world.settle("b", "c")
    world.now += RESOLUTION_S
    with world.statements() as sent:
        await world.ticks.tick()
    is_batch = world.stores.database.url.get_backend_name() == "sqlite"  # PostgreSQL gets all rows as one parameter
    batches = [("UPDATE", is_batch), ("INSERT", True)]
    assert sent == [("SELECT", False), ("SELECT", False), *batches]
    assert world.observed == [3]


async def test_a_soul_is_ticked_once_a_period_however_many_servers_there_are(world):
    await world.settle("b", "c")
    servers = [world.server() for _ in range(3)]
    for periods in range(1, 4):
        world.now += PERIOD_S
        world.presence.seen("term_a")
        for _ in range(2):
            await asyncio.gather(*(server.tick() for server in servers))
            world.now += PERIOD_S / 4
        world.now -= PERIOD_S / 2
        told = Counter(update.soul_id for update in world.hub.updates)
        assert told == dict.fromkeys(["soul_a", "soul_b", "soul_c"], periods)


async def test_a_round_that_takes_longer_than_a_period_ticks_nobody_whom_another_server_ticked_meanwhile(world):
    await world.settle("b")
    world.now += 4 * PERIOD_S
    await world.server().tick()
    before = [await world.feeling(name) for name in "ab"]
    clock = chain([world.now - 2 * PERIOD_S], repeat(world.now + 1))
    await replace(world.ticks, clock=lambda: next(clock)).tick()
    assert world.observed == [2, 0]
    assert [await world.feeling(name) for name in "ab"] == before


async def test_heartbeats_are_noted_also_during_a_round_that_takes_long(world, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    monkeypatch.setattr(module, "_MAX_AT_ONCE", 1)
    await world.settle("b", "c")

    class SlowBody(Body):
        def emotion_update(self, update):
            super().emotion_update(update)
            world.now += 2 * PERIOD_S
            world.presence.seen("term_a")

    world.now += PERIOD_S
    began = world.now
    await replace(world.ticks, hub=SlowBody()).tick()
    async with world.stores.read() as tx:
        noted = await tx.terminals.find("term_a")
    assert noted.last_seen == began + 4 * PERIOD_S, "the third heartbeat is the next round's"


async def test_more_terminals_than_are_read_at_once_are_all_ticked(world, monkeypatch):
    monkeypatch.setattr(module, "_PAGE", 2)
    await world.settle("b", "c", "d")
    async with world.stores.write() as tx:
        await tx.terminals.bind("term_e", "soul_a", NOW)
    await world.pass_time()
    told = Counter(update.soul_id for update in world.hub.updates)
    assert told == {"soul_a": 2, "soul_b": 1, "soul_c": 1, "soul_d": 1}


async def test_many_souls_are_ticked_in_larger_batches_and_few_at_leisure(world):
    paces = {souls: world.ticks._pace(souls) for souls in (1, 700, 2_000, 10_000, 100_000)}
    assert paces[1] == (20, 0.06)
    assert paces[700] == (20, pytest.approx(0.06))
    assert paces[2_000] == (20, pytest.approx(0.021))
    assert [pace.at_once for pace in paces.values()] == [20, 20, 20, 48, 100]
    for souls, pace in paces.items():
        assert souls / pace.at_once * pace.step_s <= 0.7 * PERIOD_S + 1e-9


async def test_reading_between_ticks_is_exact(world):
    for _ in range(40):
        await world.pass_time()
    later = world.now + 1.5
    read, straight = evolve(INFP, await world.feeling(), later), evolve(INFP, HURT, later)
    for name in ("p", "a", "d", "boredom", "shock_load", "extreme_memory"):
        assert getattr(read, name) == pytest.approx(getattr(straight, name), abs=0.01)


async def test_a_clock_that_goes_back_stops_nothing_and_turns_no_feeling_back(world):
    await world.pass_time(60)
    before = await world.feeling()
    for seconds in (-3600, PERIOD_S):
        await world.pass_time(seconds)
        assert close_to(await world.feeling(), before)
    assert world.observed == [1, 1, 1]
    await world.pass_time(3600)
    assert (await world.feeling()).updated_at == world.now > before.updated_at
    stamps = [one.at for one in await world.history()]
    assert stamps == sorted(set(stamps))


async def test_history_is_written_no_denser_than_its_resolution(world):
    for _ in range(30):
        await world.pass_time()
    stamps = [one.at for one in await world.history()]
    assert len(stamps) == 30 * PERIOD_S / RESOLUTION_S
    assert len({stamp // RESOLUTION_S for stamp in stamps}) == len(stamps)
    last = (await world.history())[-1]
    assert (last.exec_mode, last.locked) == ("auto_execute", False)


async def test_turns_during_ticks_lose_nothing(world):
    """Each turn strikes at a known moment, with ticks of two servers at the same time."""

    async def turn(n):
        async with world.stores.write() as tx:
            await tx.terminals.seen("term_a", world.now)
            struck = await tx.souls.lock("soul_a")
            await asyncio.sleep(0)
            feeling = impact(INFP, struck.emotion_state, ANGER, world.now)
            await tx.souls.feel("soul_a", feeling, n, world.now)

    other, expected = world.server(), HURT
    for n in range(1, 21):
        world.now += PERIOD_S
        expected = impact(INFP, expected, ANGER, world.now)
        await asyncio.gather(world.ticks.tick(), turn(n), other.tick())
    assert close_to(await world.feeling(), expected)
    async with world.stores.read() as tx:
        assert (await tx.souls.get("soul_a")).turns == 20
    assert max(world.observed) == 1


async def test_a_soul_that_is_being_spoken_to_is_left_to_its_next_tick(postgres_url):
    """Where writers do not queue up anyway."""
    async with Database.open(postgres_url) as database:
        world = World(Stores(database))
        await world.settle("a", "b")
        async with world.stores.write() as tx:
            await tx.souls.lock("soul_a")
            async with asyncio.timeout(5):
                await world.pass_time()
        assert await world.feeling("a") == HURT
        assert (await world.feeling("b")).updated_at == world.now
        await world.ticks.tick()
        assert (await world.feeling("a")).updated_at == world.now


async def test_a_database_that_goes_away_and_comes_back_is_said_twice_and_survived(world, caplog):
    caplog.set_level(logging.INFO, "soulgraph.runtime.periodic")
    there, away = world.stores.database, PostgresDatabase(database_url("postgresql://127.0.0.1:1/soul"))
    ticks = world.server(period_s=0.02)
    async with ticks.running():
        for database, message in ((away, "trying again"), (there, "going on"), (away, "trying again")):
            world.stores.database = database
            async with asyncio.timeout(5):
                while message not in caplog.text:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            assert len(caplog.records) == 1
            caplog.clear()
    world.stores.database = there
    assert world.observed


async def test_nothing_is_left_running_when_the_ticks_are_over(world):
    def ticking():
        return [task for task in asyncio.all_tasks() if task.get_name() == "ticks"]

    async with world.server(period_s=0.01).running():
        await asyncio.sleep(0.05)
        assert len(ticking()) == 1
    assert ticking() == []


async def test_a_defect_is_reported_and_not_swallowed(world, caplog):
    def broken():
        raise ZeroDivisionError

    async with replace(world.ticks, clock=broken, period_s=0.01).running():
        await asyncio.sleep(0.1)
    assert "ticks: ended" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_a_row_that_cannot_be_read_stops_no_other_soul(world, caplog):
    await world.settle("spoilt")
    async with world.stores.database.write() as connection:
        await connection.execute(text("UPDATE souls SET emotion_state = '{}' WHERE soul_id = 'soul_spoilt'"))
    await world.pass_time()
    assert world.observed == [1]
    assert [update.soul_id for update in world.hub.updates] == ["soul_a"]
    assert "soul_spoilt cannot be read" in caplog.text


async def test_a_crowd_is_moved_in_slices_each_soul_once_and_turns_go_first(world, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    monkeypatch.setattr(module, "_STEP_S", 10.0)  # so long that a slow machine is not late
    monkeypatch.setattr(module, "_SPREAD", 0.2)
    await world.settle("b", "c", "d", "e")
    seen = []

    def busy():
        seen.append(len(world.hub.updates))
        return len(seen) < 4

    world.ticks = replace(world.ticks, busy=busy)
    await world.pass_time()
    assert sorted(update.terminal_id for update in world.hub.updates) == [f"term_{name}" for name in "abcde"]
    assert seen[:4] == [0, 0, 0, 0]
    assert world.observed == [5]


async def test_the_compact_emotion_is_told_when_something_visible_has_changed(world):
    for _ in range(3):
        await world.pass_time()
    while_moving = len(world.hub.compact)
    assert 1 <= while_moving <= len(world.hub.updates)
    world.now += 7 * 24 * 3600
    await world.pass_time()
    settled = len(world.hub.compact)
    for _ in range(5):
        await world.pass_time()
    assert len(world.hub.compact) == settled, "a soul at rest is told once"
    assert len(world.hub.updates) > settled

import asyncio
from datetime import UTC

import pytest

from soulgraph.library.persona_config import PersonaConfig, ProactiveConfig
from soulgraph.nodes.context import Outlets
from soulgraph.nodes.speak_up import heard_or_not, speak_up
from soulgraph.nodes.state import Occasion
from soulgraph.runtime.listeners import Listeners
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, BOBS, GROUP, anns
from soulgraph.tests.nodes.homes import Ears, Told, open_home
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW, session, soul
from soulgraph.voices.task_outputs import Impulse

SPEAKING = {
    "occasion": Occasion(NOW, soul(), soul().emotion_state, session()),
    "impulse": Impulse(speak=True, text="Did it rain?", reason="I wonder"),
    "sources": ["slot:3"],
    "silence": "",
}
PAYLOAD = {"session_id": "sess_1", "soul_id": "soul_1", "text": "Did it rain?", "ts": NOW}


class Hub:
    """A broker that has what is sent to these terminals."""

    def __init__(self, *reached):
        self.reached, self.sent = reached, []

    async def proactive(self, terminal_id, payload):
        self.sent.append((terminal_id, payload.model_dump()))
        return terminal_id in self.reached


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            await tx.souls.add(soul("soul_2"))
            for terminal_id, owner in (("lamp", "soul_1"), ("robot", "soul_1"), ("other", "soul_2")):
                await tx.terminals.bind(terminal_id, owner, NOW, "user_1")
            await tx.proactive_schedules.schedule({("soul_1", "user_1"): NOW})
        yield stores


async def spoken(stores, ears, hub=None, told=None, now=NOW, quiet_hours="22:00-07:00", speaking=SPEAKING):
    persona = PersonaConfig(life=ProactiveConfig(quiet_hours=quiet_hours))
    outlets, telemetry = Outlets(hub, ears), told or Told()
    ports = {"stores": stores, "clock": lambda: now, "timezone": UTC, "persona": persona}
    return {**speaking, **await speak_up(speaking, small_runtime(outlets=outlets, telemetry=telemetry, **ports))}


async def kept(stores):
    """What was said in the session, and how often the soul has spoken on which day."""
    async with stores.read() as tx:
        said = [(one.role, one.content, one.proactive) for one in await tx.messages.page("sess_1")]
        [schedule] = await tx.proactive_schedules.of([("soul_1", "user_1")])
    return said, schedule.day, schedule.spoken


async def test_the_soul_s_terminals_and_streams_hear_it_and_then_it_is_stored(home):
    ears, hub, told = Ears(2), Hub("lamp"), Told()
    state = await spoken(home, ears, hub, told)
    async with home.read() as tx:
        payload = PAYLOAD | {"delivery_id": (await tx.messages.page("sess_1"))[0].turn_id}
    assert ears.heard == [("soul_1", "user_1", "proactive", payload)]
    assert sorted(hub.sent, key=lambda sent: sent[0]) == [("lamp", payload), ("robot", payload)]
    assert await kept(home) == ([("assistant", "Did it rain?", True)], "2027-01-15", 1)
    [(name, line)] = told.lines
    assert (name, line["reason"], line["sources"]) == ("life.spoke", "I wonder", ["slot:3"])
    assert line["delivered"] == {"terminals": ["lamp"], "streams": 2}
    assert heard_or_not(state) == "__end__"


async def test_one_terminal_that_hears_it_is_enough(home):
    await spoken(home, Ears(0), Hub("robot"))
    assert (await kept(home))[2] == 1


async def test_what_nobody_can_hear_is_not_said(home):
    told = Told()
    state = await spoken(home, Ears(0), told=told)
    assert heard_or_not(state) == "stay_silent"
    assert state["silence"] == "nobody could be reached"
    assert await kept(home) == ([], "", 0)
    assert told.lines == []


class Listening(Ears):
    """A stream that looks what is stored at the moment in which it hears something."""

    def __init__(self, stores):
        super().__init__(1)
        self.stores, self.looks = stores, []

    def tell(self, *args):
        self.looks.append(asyncio.ensure_future(kept(self.stores)))
        return super().tell(*args)


async def test_it_is_stored_before_anybody_hears_it(home):
    ears = Listening(home)
    await spoken(home, ears)
    assert (await ears.looks[0])[0] == [("assistant", "Did it rain?", True)]
    async with home.read() as tx:
        assert await tx.outbox.all("sess_1") == [], "nothing is left to be delivered"


async def test_what_the_broker_does_not_take_is_stored_and_left_to_be_delivered(home):
    state = await spoken(home, Ears(0), Hub())
    assert heard_or_not(state) == "__end__"
    assert (await kept(home))[0] == [("assistant", "Did it rain?", True)]
    async with home.read() as tx:
        [said] = await tx.messages.page("sess_1")
        [job] = await tx.outbox.all("sess_1")
    assert (job.kind, job.turn_id, job.payload, job.run_at) == (
        "delivery",
        said.turn_id,
        {"user_id": "user_1"},
        NOW + 10,
    )


async def test_words_are_counted_by_the_day_and_make_the_session_the_newest(home):
    counts = []
    for now in (NOW, NOW + 60, NOW + 86_400):
        await spoken(home, Ears(1), now=now)
        said, day, count = await kept(home)
        async with home.read() as tx:
            assert (await tx.sessions.get("sess_1")).updated_at == now
        counts.append((day, count))
    assert len(said) == 3
    assert counts == [("2027-01-15", 1), ("2027-01-15", 2), ("2027-01-16", 1)]


async def test_it_is_too_late_when_they_have_begun_to_talk(home):
    async with home.write() as tx:
        await tx.souls.feel("soul_1", soul().emotion_state, 1, NOW)
    ears, hub = Ears(1), Hub("lamp")
    state = await spoken(home, ears, hub)
    assert state["silence"] == "they have begun to talk"
    assert (ears.heard, hub.sent, (await kept(home))[0]) == ([], [], [])


async def test_it_is_too_late_when_the_quiet_hours_have_begun(home):
    ears = Ears(1)
    state = await spoken(home, ears, quiet_hours="08:00-09:00")
    assert state["silence"] == "the quiet hours have begun"
    assert (ears.heard, (await kept(home))[0]) == ([], [])


TO_ANN = SPEAKING | {"occasion": Occasion(NOW, soul(), soul().emotion_state, anns())}


async def test_only_the_persons_own_terminals_and_streams_hear_it(house):
    hub, listeners = Hub("anns", "bobs", "living_room"), Listeners()
    async with house.write() as tx:
        await tx.terminals.bind("anns", "soul_1", NOW, ANN)
        await tx.terminals.bind("bobs", "soul_1", NOW, BOB)
        await tx.terminals.bind("living_room", "soul_1", NOW)
    with listeners.listen("soul_1", ANN) as ann, listeners.listen("soul_1", BOB) as bob:
        assert heard_or_not(await spoken(house, listeners, hub, speaking=TO_ANN)) == "__end__"
        assert [terminal for terminal, _ in hub.sent] == ["anns"]
        assert (await anext(ann.events(1))).data["text"] == "Did it rain?"
        assert await anext(bob.events(0.01)) is None
    async with house.read() as tx:
        [said] = await tx.messages.page(ANNS)
        assert await tx.messages.page(BOBS) == await tx.messages.page(GROUP) == []
        assert await tx.episodes.shared("soul_1") == []
    assert (said.user_id, said.soul_id, said.people, said.proactive) == (ANN, "soul_1", (), True)


async def test_what_only_others_could_hear_is_not_said(house):
    listeners = Listeners()
    async with house.write() as tx:
        await tx.terminals.bind("bobs", "soul_1", NOW, BOB)
    with listeners.listen("soul_1", BOB):
        state = await spoken(house, listeners, Hub("bobs"), speaking=TO_ANN)
    assert state["silence"] == "nobody could be reached"


async def test_how_often_it_spoke_is_counted_for_each_person(house):
    async with house.write() as tx:
        await tx.proactive_schedules.schedule({("soul_1", ANN): NOW, ("soul_1", BOB): NOW})
    await spoken(house, Ears(1), speaking=TO_ANN)
    async with house.read() as tx:
        schedules = await tx.proactive_schedules.of([("soul_1", ANN), ("soul_1", BOB)])
    assert {one.user_id: one.spoken for one in schedules} == {ANN: 1, BOB: 0}


async def test_it_is_too_late_when_others_have_joined(house):
    async with house.write() as tx:
        await tx.sessions.gather(ANNS, (BOB,), {}, NOW)
    ears, hub = Ears(1), Hub("anns")
    state = await spoken(house, ears, hub, speaking=TO_ANN)
    assert state["silence"] == "others have joined"
    assert (ears.heard, hub.sent) == ([], [])
    async with house.read() as tx:
        assert await tx.messages.page(ANNS) == []

"""The catalogue of events: where they came from, how often they served, and which to part with first."""

from soulgraph.stores.records import EventUse, Provenance
from soulgraph.tests.stores.samples import NOW, session


async def drawn(tx, event_id, session_id="sess_1", message_ids=(1, 2), now=NOW):
    await tx.events.add(event_id, now)
    await tx.events.trace(Provenance(event_id, session_id, "soul_1", list(message_ids), now))


async def test_a_new_event_has_served_nobody(home):
    async with home.write() as tx:
        await drawn(tx, "evt_1")
        await tx.events.add("evt_1", NOW + 5)
        assert await tx.events.uses(["evt_1", "evt_2"]) == {"evt_1": EventUse("evt_1", 0, 0, None, 0, NOW)}


async def test_services_are_counted(home):
    async with home.write() as tx:
        await drawn(tx, "evt_1")
        await drawn(tx, "evt_2")
        await tx.events.recalled(["evt_1", "evt_2", "gone"], NOW + 1)
        await tx.events.recalled(["evt_1"], NOW + 2)
        await tx.events.useful(["evt_1"])
        await tx.events.merged("evt_2")
        await tx.events.recalled([], NOW + 3)
        assert await tx.events.page(9) == [
            EventUse("evt_1", 2, 1, NOW + 2, 0, NOW),
            EventUse("evt_2", 1, 0, NOW + 1, 1, NOW),
        ]


async def test_pages_go_from_the_newest_to_the_oldest(home):
    async with home.write() as tx:
        for n in range(5):
            await tx.events.add(f"evt_{n}", NOW + n)
        pages = [[use.event_id for use in await tx.events.page(2, offset)] for offset in (0, 2, 4, 6)]
        assert await tx.events.count() == 5
    assert pages == [["evt_4", "evt_3"], ["evt_2", "evt_1"], ["evt_0"], []]


async def test_an_event_shown_again_knows_all_its_messages(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await drawn(tx, "evt_1", message_ids=[4, 2])
        await drawn(tx, "evt_1", message_ids=[6, 4])
        await drawn(tx, "evt_1", "sess_2", [9])
        assert [one.message_ids for one in await tx.events.provenance("evt_1")] == [[2, 4, 6], [9]]


async def test_what_only_one_session_has_shown_is_told_from_what_others_have_shown_too(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await drawn(tx, "evt_own")
        await drawn(tx, "evt_shared")
        await drawn(tx, "evt_shared", "sess_2")
        assert await tx.events.drawn_from("sess_1") == ["evt_own", "evt_shared"]
        assert await tx.events.drawn_only_from("sess_1") == ["evt_own"]
        await tx.events.untrace("sess_1")
        assert await tx.events.drawn_only_from("sess_2") == ["evt_shared"]


async def test_a_deleted_session_leaves_the_event_and_takes_its_trace(home):
    async with home.write() as tx:
        await drawn(tx, "evt_1")
        await tx.sessions.delete("sess_1")
        assert await tx.events.provenance("evt_1") == []
        assert await tx.events.count() == 1


async def test_the_least_recalled_go_first_and_of_them_the_oldest(home):
    async with home.write() as tx:
        for n in range(4):
            await drawn(tx, f"evt_{n}", now=NOW + n)
        await tx.events.recalled(["evt_0"], NOW)
        assert await tx.events.dispensable(3) == ["evt_1", "evt_2", "evt_3"]
        await tx.events.remove(await tx.events.dispensable(2))
        assert [use.event_id for use in await tx.events.page(9)] == ["evt_3", "evt_0"]
        assert await tx.events.provenance("evt_1") == []


async def test_pages_can_be_those_of_some_audiences(home):
    async with home.write() as tx:
        for n, audience in enumerate(["*", "soul_1\nann", "soul_1\nbo", None]):
            await tx.events.add(f"evt_{n}", NOW + n, audience)
        assert [use.event_id for use in await tx.events.page(9, 0, ["*", "soul_1\nann"])] == ["evt_1", "evt_0"]
        assert await tx.events.page(9, 0, []) == []
        assert len(await tx.events.page(9)) == 4
        assert await tx.events.without_audience(9) == ["evt_3"]

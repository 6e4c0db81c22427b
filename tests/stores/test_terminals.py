"""Terminals: bound to one soul at a time, and never set back to an older catalog."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict
from soulgraph.stores import terminals as module
from soulgraph.stores.records import PresenceReport, Terminal
from soulgraph.stores.terminals import is_online
from soulgraph.tests.stores.samples import ANY_JSON, NOW, soul

LATER = NOW + 60
FRESH = Terminal("term_1", None, [], 0, [], 0, NOW)


async def test_a_terminal_is_known_once_it_is_bound(home):
    async with home.write() as tx:
        assert await tx.terminals.find("term_1") is None
        await tx.terminals.bind("term_1", "soul_1", NOW)
        assert await tx.terminals.find("term_1") == replace(FRESH, soul_id="soul_1", online=True, last_seen=NOW)


async def test_binding_again_changes_the_soul_and_keeps_the_rest(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.terminals.bind("term_1", "soul_1", NOW)
        await tx.terminals.report_catalog("term_1", 2, [ANY_JSON], NOW)
        await tx.terminals.report_skills("term_1", 5, [{"name": "挥手"}], NOW)
        await tx.terminals.bind("term_1", "soul_2", LATER)
        terminal = await tx.terminals.find("term_1")
    assert terminal == Terminal("term_1", "soul_2", [{"name": "挥手"}], 5, [ANY_JSON], 2, LATER, True, LATER)


async def test_a_terminal_is_bound_to_a_soul_that_exists(stores):
    with pytest.raises(IntegrityError):
        async with stores.write() as tx:
            await tx.terminals.bind("term_1", "nobody", NOW)


async def test_a_soul_may_have_many_terminals_listed_by_id(home):
    async with home.write() as tx:
        for terminal_id in ("b", "c", "a"):
            await tx.terminals.bind(terminal_id, "soul_1", NOW)
        assert [one.terminal_id for one in await tx.terminals.all()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("report", "news", "version"),
    [("report_catalog", "intent_catalog", "catalog_version"), ("report_skills", "skills", "skill_version")],
)
async def test_a_report_is_taken_unless_a_newer_one_is_known(stores, report, news, version):
    async def tell(number, items, now=NOW):
        async with stores.write() as tx:
            taken = await getattr(tx.terminals, report)("term_1", number, items, now)
            return taken, await tx.terminals.find("term_1")

    assert await tell(2, [ANY_JSON]) == (True, replace(FRESH, **{news: [ANY_JSON], version: 2}))
    assert await tell(1, []) == (False, replace(FRESH, **{news: [ANY_JSON], version: 2}))
    assert await tell(2, [], LATER) == (True, replace(FRESH, **{news: [], version: 2, "updated_at": LATER}))
    assert await tell(3, [{}], LATER) == (True, replace(FRESH, **{news: [{}], version: 3, "updated_at": LATER}))


async def test_a_known_terminal_is_seen_and_an_unknown_one_is_not(home):
    async with home.write() as tx:
        assert await tx.terminals.seen("term_1", NOW) is False
        await tx.terminals.report_catalog("term_1", 1, [], NOW)
        assert await tx.terminals.awake(NOW) == []
        assert await tx.terminals.seen("term_1", LATER) is True
        seen = replace(FRESH, catalog_version=1, online=True, last_seen=LATER)
        assert await tx.terminals.all() == [seen]


async def test_sightings_are_noted_together_and_those_of_strangers_are_not(home):
    async with home.write() as tx:
        for terminal_id in ("a", "b", "c"):
            await tx.terminals.bind(terminal_id, "soul_1", NOW)
        news = [("c", True, LATER), ("stranger", True, LATER), ("a", False, LATER)]
        await tx.terminals.note(PresenceReport(*one) for one in news)
        await tx.terminals.note([])
        known = [(one.terminal_id, one.online, one.last_seen) for one in await tx.terminals.all()]
    assert known == [("a", False, LATER), ("b", True, NOW), ("c", True, LATER)]


async def test_a_minute_of_silence_is_absence_and_so_is_a_sighting_from_the_future(home):
    async with home.write() as tx:
        await tx.terminals.bind("term_1", "soul_1", NOW)
        for elapsed_s, there in ((0, True), (60, True), (61, False), (-60, True), (-3600, False)):
            assert await tx.terminals.awake(NOW + elapsed_s) == [("term_1", "soul_1", "default")] * there
            assert is_online(await tx.terminals.find("term_1"), NOW + elapsed_s) is there


async def test_those_awake_are_read_page_by_page_in_the_order_of_their_ids(home):
    async with home.write() as tx:
        for terminal_id in ("b", "a", "c", "gone"):
            await tx.terminals.bind(terminal_id, "soul_1", NOW)
        await tx.terminals.note([PresenceReport("gone", False, NOW)])
        pages = [await tx.terminals.awake_after(last, NOW, 2) for last in ("", "b", "c")]
    assert [[one.terminal_id for one in page] for page in pages] == [["a", "b"], ["c"], []]


async def test_only_who_is_online_and_carries_a_soul_is_awake(home):
    async with home.write() as tx:
        for terminal_id in ("gone", "there"):
            await tx.terminals.bind(terminal_id, "soul_1", NOW)
        await tx.terminals.report_catalog("bodiless", 1, [], NOW)
        await tx.terminals.seen("bodiless", NOW)
        assert await tx.terminals.gone() == []
        await tx.terminals.note([PresenceReport("gone", False, NOW)])
        await tx.terminals.report_catalog("never seen", 1, [], NOW)
        assert await tx.terminals.awake(NOW) == [("there", "soul_1", "default")]
        assert await tx.terminals.gone() == ["gone"]
        assert not is_online(await tx.terminals.find("gone"), NOW)


async def test_of_reports_that_come_at_once_the_newest_stays(stores):
    async def report(version):
        async with stores.write() as tx:
            await tx.terminals.report_catalog("term_1", version, [{"version": version}], NOW)

    await report(0)
    await asyncio.gather(*map(report, [3, 7, 1, 9, 4, 8, 2, 6, 5]))
    async with stores.read() as tx:
        terminal = await tx.terminals.find("term_1")
    assert (terminal.catalog_version, terminal.intent_catalog) == (9, [{"version": 9}])


async def test_the_first_reports_of_a_terminal_may_come_at_once(stores):
    async def report_skills():
        async with stores.write() as tx:
            await tx.terminals.report_skills("term_1", 1, [{"name": "wave"}], NOW)

    async with stores.write() as tx:
        await tx.terminals.report_catalog("term_1", 1, [{"id": "wave"}], NOW)
        second = asyncio.create_task(report_skills())
        await asyncio.sleep(0.1)
    await second
    async with stores.read() as tx:
        assert await tx.terminals.find("term_1") == Terminal(
            "term_1", None, [{"name": "wave"}], 1, [{"id": "wave"}], 1, NOW
        )


async def test_a_terminal_has_a_usual_person_until_another_is_named(home):
    async with home.write() as tx:
        await tx.terminals.bind("term_1", "soul_1", NOW, "林")
        assert await tx.terminals.awake(NOW) == [("term_1", "soul_1", "林")]
        await tx.terminals.bind("term_1", "soul_1", NOW)
        await tx.terminals.bind("term_1", "soul_1", NOW, "")
        await tx.terminals.report_catalog("term_1", 1, [], NOW)
        assert (await tx.terminals.find("term_1")).user_id == "林"
        await tx.terminals.bind("term_1", "soul_1", NOW, "ann")
        [awake] = await tx.terminals.awake(NOW)
    assert (awake.terminal_id, awake.soul_id, awake.user_id) == ("term_1", "soul_1", "ann")


async def test_a_removed_terminal_is_unknown_and_others_stay(home):
    async with home.write() as tx:
        for terminal_id in ("lamp", "fan"):
            await tx.terminals.bind(terminal_id, "soul_1", NOW)
        assert await tx.terminals.remove("lamp")
        assert not await tx.terminals.remove("lamp")
        assert [one.terminal_id for one in await tx.terminals.all()] == ["fan"]


async def test_there_are_so_many_terminals_and_no_more_whoever_adds_one(home, monkeypatch):
    monkeypatch.setattr(module, "MAX_TERMINALS", 2)
    ways = {
        "bind": lambda terminals, one: terminals.bind(one, "soul_1", NOW),
        "appear": lambda terminals, one: terminals.appear(one, NOW),
        "report_skills": lambda terminals, one: terminals.report_skills(one, 1, [], NOW),
        "report_catalog": lambda terminals, one: terminals.report_catalog(one, 1, [], NOW),
    }
    async with home.write() as tx:
        for one in ("a", "b"):
            await tx.terminals.appear(one, NOW)
    for add in ways.values():
        with pytest.raises(Conflict, match="2 terminals"):
            async with home.write() as tx:
                await add(tx.terminals, "c")
        async with home.write() as tx:
            await add(tx.terminals, "a")
    async with home.write() as tx:
        await tx.terminals.remove("b")
        await tx.terminals.appear("c", NOW)
        assert [one.terminal_id for one in await tx.terminals.all()] == ["a", "c"]

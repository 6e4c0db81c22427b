"""The history of emotions: bounded for ever, dense in what is recent, and never without its beginning and end."""

from dataclasses import replace
from itertools import pairwise

import pytest

from soulgraph.soul.dynamics import born
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.stores.history import PLACES, RESOLUTION_S, SLOTS, place_of, point_of, stretch_of
from soulgraph.tests.stores.samples import NOW, point, soul

ALWAYS = (float("-inf"), float("inf"))


async def test_points_come_back_as_they_were_added_the_oldest_first(home):
    turns = [point(NOW + 2, p=-1.0, locked=True, exec_mode="blocked"), point(NOW)]
    ticks = [point(NOW + 1, exec_probability=0.0), point(NOW + 20, boredom=1.0)]
    async with home.write() as tx:
        for n, turn in enumerate(turns):
            await tx.history.add_turn(n, turn)
        await tx.history.add_ticks(ticks)
        await tx.history.add_ticks([])
    async with home.read() as tx:
        assert await tx.history.between("soul_1", *ALWAYS) == [turns[1], ticks[0], turns[0], ticks[1]]
        assert await tx.history.between("soul_1", NOW + 1, NOW + 2) == [ticks[0], turns[0]]
        assert await tx.history.between("soul_1", NOW + 3, NOW + 4) == []


async def test_every_soul_has_a_history_of_its_own(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.history.add_turn(0, point(p=0.5))
        await tx.history.add_turn(0, point(soul_id="soul_2", p=-0.5))
        await tx.souls.delete("soul_1")
        assert await tx.history.between("soul_1", *ALWAYS) == []
        assert await tx.history.between("soul_2", *ALWAYS) == [point(soul_id="soul_2", p=-0.5)]


async def test_a_long_life_takes_no_more_than_its_places_and_keeps_its_first_turn_and_its_last_hours(home):
    lived = 2 * PLACES
    async with home.write() as tx:
        await tx.history.add_turn(0, point(NOW))
        await tx.history.add_ticks([point(NOW + n * RESOLUTION_S) for n in range(lived)])
        await tx.history.add_turn(1, point(NOW + lived * RESOLUTION_S))
    async with home.read() as tx:
        kept = [one.at for one in await tx.history.between("soul_1", *ALWAYS)]
    assert len(kept) < PLACES / 3
    assert PLACES <= 2000
    assert kept[0] == NOW
    recent = 2 * SLOTS + 1
    assert kept[-recent:] == [NOW + (lived - n) * RESOLUTION_S for n in reversed(range(recent))]


def test_whatever_its_number_a_point_has_one_of_half_the_places():
    numbers = [*range(-1000, 100_000), *(2**n + d for n in range(64) for d in (-1, 0, 1))]
    assert {place_of(n) for n in numbers} <= set(range(PLACES // 2))


@pytest.mark.parametrize("count", [10, 1_000, 100_000])
def test_the_older_the_thinner_and_the_first_stays(count):
    places = {}
    for n in range(count):
        places[place_of(n)] = n
    kept = sorted(places.values())
    assert (kept[0], kept[-1]) == (0, count - 1)
    gaps = [(count - earlier, later - earlier) for earlier, later in pairwise(kept)]
    assert all(gap <= max(1, 2 * age / SLOTS) for age, gap in gaps)


def test_a_stretch_is_as_long_as_the_resolution():
    assert stretch_of(0.0) == stretch_of(RESOLUTION_S - 0.001) == 0
    assert stretch_of(RESOLUTION_S) == 1
    assert stretch_of(-0.001) == -1


def test_a_point_is_the_feeling_and_the_verdict_of_its_moment():
    traits = traits_of("INFJ")
    drift = Traits(0.1, -0.1, 0.0, 0.02, -0.02)
    feeling = replace(born(traits, NOW), p=-0.9, boredom=0.2, lock_until=NOW + 9, drift=drift)
    seen = point_of("soul_1", feeling, judge(traits, feeling, NOW))
    assert (seen.soul_id, seen.at, seen.p, seen.boredom) == ("soul_1", NOW, -0.9, 0.2)
    assert (seen.exec_mode, seen.locked, seen.drift) == ("blocked", True, drift.to_dict())

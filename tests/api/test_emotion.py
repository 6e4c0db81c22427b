"""A history for a plot: no more points than asked for, and never without its peaks."""

from itertools import pairwise

from soulgraph.api.emotion import thinned
from soulgraph.tests.stores.samples import point


def life(count, peaks=()):
    return [point(float(n), p=-1.0 if n in peaks else 0.1) for n in range(count)]


def test_few_points_are_shown_as_they_are():
    assert thinned([], 5) == []
    assert thinned(life(5), 5) == life(5)


def test_many_points_are_thinned_evenly_over_time_and_keep_their_peaks():
    lived = life(1000, peaks={0, 123, 999})
    shown = thinned(lived, 100)
    assert len(shown) == 100
    assert shown == sorted(shown, key=lambda one: one.at)
    assert [one.at for one in shown if one.p == -1.0] == [0.0, 123.0, 999.0]
    assert max(b.at - a.at for a, b in pairwise(shown)) <= 20


def test_a_single_point_is_the_most_extreme_one():
    assert thinned(life(9, peaks={4}), 1) == [point(4.0, p=-1.0)]


def test_points_of_one_moment_are_one_stretch():
    assert len(thinned([point(7.0)] * 9, 3)) == 1

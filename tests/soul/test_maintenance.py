from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.errors import NotFound
from soulgraph.soul.maintenance import MIN_PRIORITY, maintain, restore
from soulgraph.soul.profile import KEYS, StateUpdate, apply, empty_profile, item_id, top
from soulgraph.soul.timestamps import epoch, iso

NOW = "2027-01-15T08:00:00.000Z"
DAY = 86400.0


def ago(days):
    return iso(epoch(NOW) - days * DAY)


def item(content, priority=5, days=0.0, **more):
    return {"content": content, "priority": priority, "timestamp": ago(days), **more}


def feeling(*items):
    return {**empty_profile(), "dynamic_state": {**empty_profile()["dynamic_state"], "emotions": {"items": [*items]}}}


def items(profile, field="emotions"):
    return profile["dynamic_state"][field]["items"]


def priorities(profile):
    return [(item["content"], item["priority"]) for item in items(profile)]


def retired(profile):
    return [(entry["field"], entry["item"]["content"], entry["retired_at"]) for entry in profile["retired"]]


def test_equal_items_become_one_with_the_highest_priority_and_the_newest_time():
    profile = feeling(item("calm", 4, days=1), item("  CALM ", 7, days=3), item("calm\n", 5, days=2), item("wary", 5))
    assert items(maintain(profile, NOW)) == [item("  CALM ", 7, days=1), item("wary", 5)]


def test_items_that_differ_in_one_word_stay_apart():
    ally, rival = ({"entity": "Ann", "status": s, "priority": 5, "timestamp": NOW} for s in ("ally", "rival"))
    profile = {**empty_profile(), "dynamic_state": {"relationships": {"items": [ally, rival]}}}
    assert items(maintain(profile, NOW), "relationships") == [ally, rival]


@pytest.mark.parametrize(("days", "left"), [(0, 5), (7, 5), (7.01, 4), (400, 4)])
def test_only_what_is_older_than_seven_days_fades(days, left):
    assert priorities(maintain(feeling(item("calm", 5, days)), NOW)) == [("calm", left)]


def test_it_fades_once_a_day_however_often_it_is_maintained():
    profile = feeling(item("calm", 9, days=8))
    for hour in range(48):
        profile = maintain(profile, iso(epoch(NOW) + 3600.0 * hour))
    assert priorities(profile) == [("calm", 7)]


def test_what_is_felt_again_is_young_again():
    again = apply(
        maintain(feeling(item("calm", 6, days=8)), NOW),
        StateUpdate.model_validate({"dynamic_state": {"emotions": {"add": [{"content": "Calm", "priority": 4}]}}}),
        NOW,
    )
    assert priorities(maintain(again, ago(-2))) == [("calm", 5)]


def test_an_item_without_a_readable_time_begins_now():
    profile = feeling({"content": "calm", "priority": 5}, {"content": "wary", "priority": 4, "timestamp": "..."})
    assert [item["timestamp"] for item in items(maintain(profile, NOW))] == [NOW, NOW]


def test_what_is_under_the_floor_retires_and_is_never_shown():
    profile = maintain(feeling(item("calm", 3), item("wary", 2), item("sad", 3, days=9)), NOW)
    assert priorities(profile) == [("calm", MIN_PRIORITY)]
    assert retired(profile) == [("emotions", "wary", NOW), ("emotions", "sad", NOW)]
    assert top(profile, 5)["emotions"] == [item("calm", 3)]


def test_how_an_item_ages_is_never_shown():
    aged = maintain(feeling(item("calm", 5, days=8)), NOW)
    assert items(aged)[0]["aged_at"] == NOW
    assert top(aged, 5)["emotions"] == [item("calm", 4, days=8)]


def test_what_comes_back_by_itself_leaves_the_retired():
    gone = maintain(feeling(item("wary", 2)), NOW)
    back = {**gone, "dynamic_state": feeling(item("Wary", 6))["dynamic_state"]}
    assert maintain(back, NOW)["retired"] == []


def test_what_retires_twice_is_kept_once():
    gone = maintain(feeling(item("wary", 2)), ago(3))
    again = {**gone, "dynamic_state": feeling(item("wary", 1))["dynamic_state"]}
    assert retired(maintain(again, NOW)) == [("emotions", "wary", NOW)]


def test_a_retired_item_is_restored_as_if_new():
    gone = maintain(feeling(item("wary", 3, days=9), item("sad", 1)), ago(1))
    back = restore(gone, item_id("emotions", {"content": "wary"}), NOW)
    assert items(back) == [item("wary", MIN_PRIORITY)]
    assert retired(back) == [("emotions", "sad", ago(1))]
    assert maintain(back, NOW) == back


def test_restoring_joins_an_equal_item():
    gone = {
        **maintain(feeling(item("wary", 2)), NOW),
        "dynamic_state": feeling(item("WARY", 6, days=2))["dynamic_state"],
    }
    assert priorities(restore(gone, gone["retired"][0]["id"], NOW)) == [("WARY", 6)]


def test_restoring_what_is_not_retired_is_refused():
    with pytest.raises(NotFound, match="no retired item 'nowhere'"):
        restore(maintain(feeling(item("wary", 2)), NOW), "nowhere", NOW)


def test_a_profile_without_state_stays_without():
    assert maintain({}, NOW) == {"dynamic_state": {}, "retired": []}


words = st.sampled_from(["calm", " Calm", "CALM\t", "wary", "sad", "tired of  rain", "tired OF rain"])
some_items = st.lists(
    st.builds(item, words, st.integers(1, 10), st.floats(0, 30), **{})
    | st.builds(lambda content, priority: {"content": content, "priority": priority}, words, st.integers(1, 10)),
    max_size=20,
)
profiles = st.builds(
    lambda *fields: {"dynamic_state": {name: {"items": given} for name, given in zip(KEYS, fields, strict=False)}},
    some_items,
    some_items,
)


def known(profile):
    present = [(field, item) for field, value in profile["dynamic_state"].items() for item in value["items"]]
    return {item_id(*pair) for pair in present} | {entry["id"] for entry in profile.get("retired", [])}


@given(profiles, st.lists(st.floats(0, 20 * DAY), max_size=12))
def test_maintenance_never_loses_an_item(profile, pauses):
    everything = known(profile)
    moment = epoch(NOW)
    for pause in pauses:
        moment += pause
        profile = maintain(profile, iso(moment))
        assert known(profile) == everything
        assert all(
            item["priority"] >= MIN_PRIORITY for value in profile["dynamic_state"].values() for item in value["items"]
        )


@given(profiles)
def test_maintaining_twice_is_maintaining_once(profile):
    before = deepcopy(profile)
    once = maintain(profile, NOW)
    assert maintain(once, NOW) == once
    assert profile == before


@given(profiles)
def test_everything_retired_can_be_restored(profile):
    profile = maintain(profile, NOW)
    everything = known(profile)
    while profile["retired"]:
        profile = restore(profile, profile["retired"][0]["id"], NOW)
    assert known(profile) == everything
    assert maintain(profile, NOW)["retired"] == []

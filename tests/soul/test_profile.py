from copy import deepcopy

import pytest
from pydantic import ValidationError

from soulgraph.errors import InvalidInput
from soulgraph.soul.profile import KEYS, StateUpdate, apply, empty_profile, replace, top

EARLY, LATE = "2027-01-15T08:00:00.000Z", "2027-01-16T08:00:00.000Z"
ITEMS = {
    "emotions": {"content": "calm"},
    "physical_condition": {"content": "rested"},
    "short_term_goals": {"goal": "find water", "reason": "the well is dry"},
    "relationships": {"entity": "the visitor", "status": "ally"},
    "learned_patterns": {"pattern": "kindness is answered"},
}


def update(field, add=(), update_priority=()):
    return StateUpdate.model_validate(
        {"dynamic_state": {field: {"add": [*add], "update_priority": [*update_priority]}}}
    )


def feelings(*contents_and_priorities):
    return update("emotions", [{"content": content, "priority": p} for content, p in contents_and_priorities])


def contents(profile, field="emotions"):
    return [(item["content"], item["priority"]) for item in profile["dynamic_state"][field]["items"]]


@pytest.fixture
def profile():
    return apply(empty_profile(), feelings(("calm", 5), ("wary", 3)), EARLY)


@pytest.mark.parametrize(
    "raw",
    [{}, {"dynamic_state": {}}, {"dynamic_state": {"emotions": {}}}, {"dynamic_state": {"emotions": {"add": []}}}],
)
def test_nothing_changed_is_the_normal_case(raw, profile):
    nothing = StateUpdate.model_validate(raw)
    assert nothing.is_empty
    assert apply(profile, nothing, LATE) == profile


@pytest.mark.parametrize("field", KEYS)
def test_every_field_takes_items_under_its_own_keys(field):
    change = update(field, [{**ITEMS[field], "priority": 4}])
    assert not change.is_empty
    grown = apply(empty_profile(), change, LATE)
    assert grown["dynamic_state"][field]["items"] == [{**ITEMS[field], "priority": 4, "timestamp": LATE}]
    assert top(grown, 5).keys() == KEYS.keys()


def test_a_goal_needs_no_reason():
    assert not update("short_term_goals", [{"goal": "sleep", "priority": 1}]).is_empty


def test_items_stand_by_priority_and_then_newest_first(profile):
    grown = apply(profile, feelings(("joyful", 5), ("tired", 9), ("bored", 1)), LATE)
    assert contents(grown) == [("tired", 9), ("joyful", 5), ("calm", 5), ("wary", 3), ("bored", 1)]
    assert [item["content"] for item in top(grown, 2)["emotions"]] == ["tired", "joyful"]


def test_the_top_is_found_also_in_a_profile_that_was_never_sorted():
    items = [{"content": "low", "priority": 2}, {"content": "high", "priority": 8}, {"content": "same", "priority": 8}]
    unsorted = {"dynamic_state": {"emotions": {"items": items}}}
    assert [item["content"] for item in top(unsorted, 2)["emotions"]] == ["high", "same"]
    assert top({}, 5) == {}


@pytest.mark.parametrize("said", ["calm", "  CALM\n"])
def test_an_item_is_reprioritised_whatever_its_case_and_spacing(said, profile):
    changed = apply(profile, update("emotions", update_priority=[{"content": said, "new_priority": 1}]), LATE)
    assert contents(changed) == [("wary", 3), ("calm", 1)]
    assert changed["dynamic_state"]["emotions"]["items"][1]["timestamp"] == EARLY


def test_a_goal_is_reprioritised_by_its_name_alone():
    goals = apply(empty_profile(), update("short_term_goals", [{**ITEMS["short_term_goals"], "priority": 2}]), EARLY)
    changed = apply(
        goals, update("short_term_goals", update_priority=[{"goal": "Find  water", "new_priority": 8}]), LATE
    )
    assert [item["priority"] for item in top(changed, 1)["short_term_goals"]] == [8]


def test_reprioritising_what_is_not_there_changes_nothing(profile):
    assert apply(profile, update("emotions", update_priority=[{"content": "cal", "new_priority": 9}]), LATE) == profile


def test_applying_leaves_its_input_untouched(profile):
    before = deepcopy(profile)
    apply(
        profile, update("emotions", [{"content": "sad", "priority": 9}], [{"content": "calm", "new_priority": 1}]), LATE
    )
    assert profile == before


def test_what_is_not_state_stays(profile):
    kept = apply({**profile, "core_identity": {"origin": "island"}}, feelings(("sad", 2)), LATE)
    assert kept["core_identity"] == {"origin": "island"}


@pytest.mark.parametrize(
    "raw",
    [
        {"dynamic_state": {"emotions": {"remove": [{"content": "calm"}]}}},
        {"dynamic_state": {"emotions": {"items": []}}},
        {"dynamic_state": {"emotions": []}},
        {"dynamic_state": None},
        {"core_identity": {}},
    ],
)
def test_the_model_can_neither_delete_nor_touch_anything_else(raw):
    with pytest.raises(ValidationError):
        StateUpdate.model_validate(raw)


def test_other_fields_are_taken_only_when_the_profile_has_them(profile):
    change = update("hobbies", [{"craft": "knots", "skill": "clumsy", "priority": 3}])
    assert change.unknown_fields(profile) == ["hobbies"]
    profile["dynamic_state"]["hobbies"] = {"items": []}
    assert change.unknown_fields(profile) == []
    assert top(apply(profile, change, LATE), 1)["hobbies"][0]["craft"] == "knots"


@pytest.mark.parametrize(
    ("field", "item", "complaint"),
    [
        ("emotions", {}, "emotions: an item needs words"),
        ("hobbies", {}, "hobbies: an item needs words"),
        ("emotions", {"feeling": "calm"}, r"emotions: unknown keys \['feeling'\], expected \['content'\]"),
        ("emotions", {"content": "calm", "why": "tea"}, r"unknown keys \['why'\]"),
        ("short_term_goals", {"reason": "thirst"}, r"short_term_goals: missing keys \['goal'\]"),
        ("relationships", {"entity": "the visitor"}, r"relationships: missing keys \['status'\]"),
        ("emotions", {"content": ""}, "at least 1 character"),
        ("emotions", {"content": "x" * 501}, "at most 500 characters"),
        ("emotions", {"content": None}, "valid string"),
        ("emotions", {"content": ["calm"]}, "valid string"),
    ],
)
def test_a_malformed_item_is_refused_with_the_reason(field, item, complaint):
    with pytest.raises(ValidationError, match=complaint):
        update(field, add=[{**item, "priority": 5}])
    with pytest.raises(ValidationError, match=complaint):
        update(field, update_priority=[{**item, "new_priority": 5}])


@pytest.mark.parametrize("priority", [0, 11, -1, 2.5, "high", None])
def test_a_priority_is_a_whole_number_from_1_to_10(priority):
    with pytest.raises(ValidationError, match="priority"):
        update("emotions", add=[{"content": "calm", "priority": priority}])
    with pytest.raises(ValidationError, match="new_priority"):
        update("emotions", update_priority=[{"content": "calm", "new_priority": priority}])


def test_a_priority_is_required():
    with pytest.raises(ValidationError, match=r"priority\n  Field required"):
        update("emotions", add=[{"content": "calm"}])


@pytest.mark.parametrize(
    "measured",
    [
        "anger 9/10",
        "calm, 8 / 10",
        "joy at 80%",
        "八成把握，80％",
        "好感8分",
        "7 out of 10 happy",
        "trust_level is high",
        "anger: 9",
        "愤怒：9.5 ",
        "joy=3",
        "9",
        " 8.5 ",
        9,
        0.5,
        True,
    ],
)
@pytest.mark.parametrize("field", ["emotions", "hobbies"])
def test_a_number_for_a_feeling_is_refused(field, measured):
    with pytest.raises(ValidationError, match="feelings are words, never numbers"):
        update(field, add=[{"content": measured, "priority": 5}])


def test_a_measure_beside_the_words_is_refused():
    with pytest.raises(ValidationError, match="feelings are words, never numbers"):
        update("relationships", add=[{**ITEMS["relationships"], "trust_level": 8, "priority": 5}])


@pytest.mark.parametrize(
    "fine",
    [
        "met 3 friends yesterday",
        "has 2 cats and is 19",
        "wants to leave at 10:30",
        "等了3分钟",
        "born on 3/10/2025",
        "room 101",
        "认识了3个朋友",
        "leveled with the visitor: no secrets",
    ],
)
def test_numbers_that_measure_no_feeling_are_allowed(fine):
    assert not feelings((fine, 5)).is_empty


def edited(items, field="emotions", **more):
    return {"dynamic_state": {field: {"items": items}}, **more}


def test_a_user_s_edit_replaces_the_state(profile):
    items = [{"content": "at ease", "priority": 2}, {"content": "proud", "priority": 7, "timestamp": EARLY}]
    after = replace(profile, edited(items), LATE)
    assert after["dynamic_state"] == {
        **empty_profile()["dynamic_state"],
        "emotions": {"items": [items[1], {**items[0], "timestamp": LATE}]},
    }
    assert contents(profile) == [("calm", 5), ("wary", 3)]


def test_what_is_read_can_be_written_back_unchanged(profile):
    profile["dynamic_state"]["emotions"]["items"][0]["aged_at"] = LATE
    profile |= {
        "core_identity": {"origin": "island", "traits": ["Loyal"]},
        "retired": [{"id": "r1", "field": "emotions"}],
    }
    assert replace(profile, deepcopy(profile), LATE) == profile


def test_a_user_s_edit_may_change_who_one_is(profile):
    changed = replace(profile, edited([], core_identity={"origin": "harbour"}), LATE)
    assert changed["core_identity"] == {"origin": "harbour"}


def test_the_retired_can_be_dropped_but_not_made_up(profile):
    profile["retired"] = [{"id": "r1", "field": "emotions"}, {"id": "r2", "field": "emotions"}]
    assert replace(profile, edited([]), LATE)["retired"] == profile["retired"]
    kept = replace(profile, edited([], retired=[{"id": "r2", "item": {"content": "forged"}}, {"id": "r9"}]), LATE)
    assert kept["retired"] == [{"id": "r2", "field": "emotions"}]


def test_equal_items_of_an_edit_are_merged(profile):
    items = [{"content": "calm", "priority": 2}, {"content": "Calm ", "priority": 6}]
    assert contents(replace(profile, edited(items), LATE)) == [("Calm ", 6)]


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (edited([{"content": "anger: 9/10", "priority": 5}]), "items.0.content: feelings are words, never numbers"),
        (edited([{"content": 9, "priority": 5}]), "items.0.content: feelings are words, never numbers"),
        (edited([{"content": "calm", "priority": 11}]), "items.0.priority: .*less than or equal to 10"),
        (edited([{"content": "calm"}]), "items.0.priority: Field required"),
        (edited([{"content": "a\x00b", "priority": 5}]), "NUL"),
        (
            edited([{"content": "calm", "priority": 5, "timestamp": "yesterday"}]),
            "items.0.timestamp: Invalid isoformat",
        ),
        (edited([{"priority": 5}]), "emotions: an item needs words"),
        (edited([{"goal": "rest", "priority": 5}]), "emotions: unknown keys"),
        (
            edited([{"content": "knots", "priority": 5}], field="hobbies"),
            r"dynamic_state: unknown fields \['hobbies'\]",
        ),
        (edited([], mood="fine"), "mood: Extra inputs"),
        (edited([], core_identity={"age": 19}), "core_identity.age"),
        ({"dynamic_state": {"emotions": []}}, "dynamic_state.emotions"),
        ({}, "dynamic_state: Field required"),
        (None, "profile: "),
    ],
)
def test_a_user_s_edit_obeys_the_same_rules(edit, complaint, profile):
    with pytest.raises(InvalidInput, match=complaint):
        replace(profile, edit, LATE)


def test_a_field_of_the_profile_s_own_can_be_edited(profile):
    profile["dynamic_state"]["hobbies"] = {"items": []}
    after = replace(profile, edited([{"craft": "knots", "priority": 5}], field="hobbies"), LATE)
    assert [item["craft"] for item in top(after, 5)["hobbies"]] == ["knots"]


def test_the_top_of_a_thousand_items_is_their_first_in_order():
    items = [{"content": f"thought {n}", "priority": n % 10 + 1, "timestamp": EARLY} for n in range(1000)]
    shown = top({"dynamic_state": {"emotions": {"items": items}}}, 3)["emotions"]
    assert [item["content"] for item in shown] == ["thought 9", "thought 19", "thought 29"]

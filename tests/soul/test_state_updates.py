"""State updates as real models wrote them: what is meant is taken, what cannot be meant is left out."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import ContractBroken
from soulgraph.soul.profile import KEYS, StateUpdate, empty_profile
from soulgraph.soul.state_updates import DEFAULT_PRIORITY, changes_of, lenient_update, strict_update, without_known

PROFILE = {
    "dynamic_state": {
        "emotions": {"items": [{"content": "calm", "priority": 5, "timestamp": "2027-01-01T00:00:00Z"}]},
        "secrets": {"items": [{"what": "a key", "priority": 5}]},
    }
}


def read(raw: Any, profile: Any = PROFILE) -> Any:
    """The update as plain data, without what is empty."""
    update = lenient_update(raw, profile).model_dump()["dynamic_state"]
    return {field: {name: entries for name, entries in one.items() if entries} for field, one in update.items()}


def added(field: str, *items: Any) -> Any:
    return {field: {"add": [{"priority": DEFAULT_PRIORITY, **item} for item in items]}}


@pytest.mark.parametrize(
    ("raw", "update"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"dynamic_state": {}}, {}, id="nothing in its wrapping"),
        pytest.param({"emotions": [], "relationships": {}, "learned_patterns": ""}, {}, id="empty fields"),
        pytest.param(
            {"dynamic_state": {"emotions": {"add": [{"content": "hurt", "priority": 8}]}}},
            added("emotions", {"content": "hurt", "priority": 8}),
            id="as asked",
        ),
        pytest.param({"emotions": {"content": "hurt"}}, added("emotions", {"content": "hurt"}), id="an item"),
        pytest.param(
            {"dynamic_state": {"emotions": {"content": "hurt", "priority": 8}}},
            added("emotions", {"content": "hurt", "priority": 8}),
            id="an item in the wrapping",
        ),
        pytest.param({"emotions": "hurt"}, added("emotions", {"content": "hurt"}), id="words"),
        pytest.param(
            {"emotions": ["hurt", "tired"]}, added("emotions", {"content": "hurt"}, {"content": "tired"}), id="a list"
        ),
        pytest.param({"emotions": {"add": "hurt"}}, added("emotions", {"content": "hurt"}), id="words to add"),
        pytest.param(
            {"emotions": {"add": {"content": "hurt"}}}, added("emotions", {"content": "hurt"}), id="one to add"
        ),
        pytest.param(
            {"emotions": {"items": [{"content": "hurt"}]}}, added("emotions", {"content": "hurt"}), id="items"
        ),
        pytest.param(
            {"relationships": "trusts them now"},
            added("relationships", {"entity": "user", "status": "trusts them now"}),
            id="words about the user",
        ),
        pytest.param({"short_term_goals": "rest"}, added("short_term_goals", {"goal": "rest"}), id="a plain goal"),
        pytest.param(
            {"emotions": {"content": "hurt", "reason": "the insult", "intensity": 9}},
            added("emotions", {"content": "hurt"}),
            id="extra keys",
        ),
        pytest.param(
            {"emotions": {"content": " hurt ", "priority": "8"}},
            added("emotions", {"content": "hurt", "priority": 8}),
            id="priority in words",
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": 99}},
            added("emotions", {"content": "hurt", "priority": 10}),
            id="priority too high",
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": "0"}},
            added("emotions", {"content": "hurt", "priority": 1}),
            id="priority too low",
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": "high"}},
            added("emotions", {"content": "hurt"}),
            id="priority as a word",
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": "²"}}, added("emotions", {"content": "hurt"}), id="no number"
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": "9" * 5000}},
            added("emotions", {"content": "hurt"}),
            id="an endless number",
        ),
        pytest.param(
            {"emotions": {"content": "hurt", "priority": None}},
            added("emotions", {"content": "hurt"}),
            id="no priority",
        ),
        pytest.param(
            {"emotions": "hurt", "weather": "rain"}, added("emotions", {"content": "hurt"}), id="unknown field"
        ),
        pytest.param({"emotions": ["hurt", "calm"]}, added("emotions", {"content": "hurt"}), id="known item"),
        pytest.param({"emotions": [" Calm "]}, {"emotions": {}}, id="known item in another case"),
        pytest.param({"emotions": ["hurt", "Hurt"]}, added("emotions", {"content": "Hurt"}), id="twice"),
        pytest.param({"emotions": ["hurt", "joy: 9/10", 7]}, added("emotions", {"content": "hurt"}), id="numbers"),
        pytest.param({"emotions": ["hurt", "…", "<words>", "..."]}, added("emotions", {"content": "hurt"}), id="dots"),
        pytest.param(
            {"relationships": {"entity": "Ann"}, "emotions": "hurt"},
            added("emotions", {"content": "hurt"}),
            id="half an item",
        ),
        pytest.param(
            {"emotions": {"update_priority": [{"content": "calm", "new_priority": 9}]}},
            {"emotions": {"update_priority": [{"content": "calm", "new_priority": 9}]}},
            id="a new priority",
        ),
        pytest.param(
            {"emotions": {"update_priority": {"content": "calm", "priority": "9"}}},
            {"emotions": {"update_priority": [{"content": "calm", "new_priority": 9}]}},
            id="a new priority under the wrong key",
        ),
        pytest.param(
            {"secrets": {"what": "a door", "priority": 3}},
            added("secrets", {"what": "a door", "priority": 3}),
            id="own field",
        ),
    ],
)
def test_what_is_meant_is_taken(raw, update):
    assert read(raw) == update


@pytest.mark.parametrize("blank", ["…", "...", "... and so on", "<content>", "string", "None", "n/a", "-", "{}", "  "])
def test_a_placeholder_means_that_nothing_changed(blank):
    assert lenient_update({"emotions": {"content": blank}}, PROFILE).is_empty
    assert lenient_update({"emotions": {"add": [{"content": blank, "priority": 5}]}}, PROFILE).is_empty


@pytest.mark.parametrize(
    "raw",
    [
        {"weather": "rain"},
        {"mood": {"content": "sad"}},
        {"dynamic_state": "sad"},
        {"dynamic_state": ["sad"]},
        {"emotions": "9/10"},
        {"emotions": {"feeling": "sad"}},
        {"relationships": {"entity": "Ann"}},
        {"emotions": {"content": "x" * 501}},
    ],
)
def test_an_update_of_which_nothing_can_be_used_is_broken(raw):
    with pytest.raises(ContractBroken):
        lenient_update(raw, PROFILE)


words = st.text(max_size=20) | st.sampled_from(["sad", "…", "9/10", "user", "calm", "\x00", "\ud800"])
numbers = st.integers() | st.floats() | st.booleans() | st.none()
names = st.sampled_from(
    ["dynamic_state", "add", "update_priority", "items", "priority", "new_priority", "secrets", *KEYS]
) | st.sampled_from(sorted({key for keys in KEYS.values() for key in keys})) | words  # fmt: skip
values = st.recursive(
    words | numbers, lambda some: st.lists(some, max_size=3) | st.dictionaries(names, some, max_size=4)
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(names, values, max_size=4), st.sampled_from([{}, PROFILE, empty_profile()]))
def test_any_object_is_an_update_or_a_broken_contract(raw, profile):
    try:
        update = lenient_update(raw, profile)
    except ContractBroken:
        return
    assert not update.unknown_fields(profile)
    assert StateUpdate.model_validate(update.model_dump()) == update
    assert without_known(update, profile) == update


def test_endless_nesting_is_no_crash():
    value: Any = "sad"
    for _ in range(5000):
        value = [value]
    with pytest.raises(ContractBroken):
        lenient_update({"emotions": value}, PROFILE)
    assert read({"emotions": {"content": "sad", "priority": value}}) == added("emotions", {"content": "sad"})


def test_to_the_letter_nothing_is_mended():
    good = {"dynamic_state": {"emotions": {"add": [{"content": "hurt", "priority": 8}]}}}
    assert strict_update(good, PROFILE) == lenient_update(good, PROFILE)
    assert strict_update({}, PROFILE).is_empty


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"emotions": {"content": "hurt"}}, "Extra inputs"),
        ({"dynamic_state": {"emotions": {"content": "hurt"}}}, "Extra inputs"),
        ({"dynamic_state": {"emotions": {"add": [{"content": "hurt"}]}}}, "Field required"),
        ({"dynamic_state": {"emotions": {"add": [{"content": "9/10", "priority": 5}]}}}, "never numbers"),
        ({"dynamic_state": {"weather": {"add": [{"content": "rain", "priority": 5}]}}}, "unknown fields: weather"),
        ([], "state_update_json"),
    ],
)
def test_to_the_letter_a_flaw_is_named(raw, complaint):
    with pytest.raises(ContractBroken) as broken:
        strict_update(raw, PROFILE)
    assert complaint in broken.value.detail


KNOWN = {
    "dynamic_state": {
        "emotions": {"items": [{"content": "Calm", "priority": 5, "user_id": "ann"}]},
        "relationships": {
            "items": [
                {"entity": "The landlord", "status": "a stranger", "priority": 3, "timestamp": "2026-01-01T00:00:00Z"},
                {"entity": "the landlord", "status": "a cold man", "priority": 8, "timestamp": "2027-01-01T00:00:00Z"},
            ]
        },
    }
}


@pytest.mark.parametrize(
    ("field", "operation", "entry", "before", "after"),
    [
        ("emotions", "add", {"content": "moved", "priority": 5}, "", "moved"),
        (
            "relationships",
            "add",
            {"entity": "the  Landlord", "status": "an ally", "priority": 8},
            "the landlord, a cold man",
            "the  Landlord, an ally",
        ),
        ("relationships", "add", {"entity": "Mika", "status": "a friend", "priority": 8}, "", "Mika, a friend"),
        ("emotions", "update_priority", {"content": "calm", "new_priority": 8}, "Calm, priority 5", "calm, priority 8"),
        ("emotions", "update_priority", {"content": "gone", "new_priority": 8}, "", "gone, priority 8"),
        ("secrets", "add", {"what": "a key", "priority": 1}, "", "a key"),
    ],
)
def test_a_change_is_told_as_before_and_after(field, operation, entry, before, after):
    update = StateUpdate.model_validate({"dynamic_state": {field: {operation: [entry]}}})
    assert changes_of(KNOWN, update) == [{"field": field, "before": before, "after": after}]


def test_nothing_changed_is_told_as_nothing():
    assert changes_of(KNOWN, StateUpdate()) == changes_of({}, StateUpdate()) == []

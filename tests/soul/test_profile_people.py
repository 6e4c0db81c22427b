"""Whose the items of a profile are: who may know them, who changes them, and that no words can say otherwise."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from soulgraph.errors import InvalidInput
from soulgraph.soul.maintenance import maintain, restore, without_owner
from soulgraph.soul.people import EVERYONE, NOBODY
from soulgraph.soul.profile import (
    StateUpdate,
    apply,
    empty_profile,
    item_id,
    known_to,
    merge_equal,
    owned_by,
    replace,
    top,
    unowned,
)
from soulgraph.soul.state_updates import without_known

THEN, NOW = "2027-01-15T08:00:00.000Z", "2027-01-16T08:00:00.000Z"
BORN = {"content": "born calm", "priority": 5, "timestamp": THEN}
ANNS = {"content": "Ann moved it", "priority": 6, "timestamp": THEN, "user_id": "ann"}
BOBS = {"content": "Bob moved it", "priority": 7, "timestamp": THEN, "user_id": "bob", "shared_with": ["ann"]}
ALLS = {"content": "all know", "priority": 4, "timestamp": THEN, "user_id": "carl", "shared_with": [EVERYONE]}
LOST = {"content": "whose?", "priority": 4, "timestamp": THEN, "user_id": NOBODY}


def profile(*items, **more):
    return {"dynamic_state": {"emotions": {"items": list(items)}}, **more}


def contents(one):
    return {item["content"] for item in one["dynamic_state"]["emotions"]["items"]}


def update(add=(), update_priority=(), field="emotions"):
    return StateUpdate.model_validate(
        {"dynamic_state": {field: {"add": list(add), "update_priority": list(update_priority)}}}
    )


@pytest.mark.parametrize(
    ("audience", "known"),
    [
        (["ann"], {"born calm", "Ann moved it", "Bob moved it", "all know"}),
        (["bob"], {"born calm", "Bob moved it", "all know"}),
        (["ann", "bob"], {"born calm", "Bob moved it", "all know"}),
        (["ann", "bob", "dora"], {"born calm", "all know"}),
        (["dora"], {"born calm", "all know"}),
    ],
)
def test_a_person_knows_what_is_theirs_what_is_shared_and_what_the_soul_was_born_with(audience, known):
    whole = profile(BORN, ANNS, BOBS, ALLS, LOST, retired=[{"id": "r", "item": ANNS}], core_identity={"a": "b"})
    before = deepcopy(whole)
    seen = known_to(whole, audience)
    assert contents(seen) == known
    assert ("retired" in seen, seen["core_identity"]) == (False, {"a": "b"})
    assert whole == before


def test_known_to_is_at_ease_with_a_profile_that_has_no_state():
    assert known_to({}, ["ann"]) == {"dynamic_state": {}}


def test_what_marks_an_owner_is_small_and_can_be_taken_off():
    assert owned_by("ann") == {"user_id": "ann"}
    assert owned_by("ann", ["carl", "bob"]) == {"user_id": "ann", "shared_with": ["bob", "carl"]}
    assert unowned(BOBS) == {"content": "Bob moved it", "priority": 7, "timestamp": THEN}


def test_an_owner_goes_on_everything_that_a_turn_adds():
    after = apply(profile(BORN), update([{"content": "moved", "priority": 6}]), NOW, ["ann"], owned_by("ann", ["bob"]))
    assert after["dynamic_state"]["emotions"]["items"] == [
        {"content": "moved", "priority": 6, "timestamp": NOW, "user_id": "ann", "shared_with": ["bob"]},
        BORN,
    ]


def test_a_turn_changes_the_priority_only_of_what_its_audience_may_know():
    same = "it rains"
    items = [{**item, "content": same} for item in (BORN, ANNS, BOBS, ALLS, LOST)]
    changed = apply(profile(*items), update([], [{"content": same, "new_priority": 1}]), NOW, ["ann", "bob"], {})
    now = {item.get("user_id"): item["priority"] for item in changed["dynamic_state"]["emotions"]["items"]}
    assert now == {None: 1, "ann": 6, "bob": 1, "carl": 1, NOBODY: 4}


@pytest.mark.parametrize("forged", [{"user_id": "bob"}, {"aged_at": NOW}, {"timestamp": "long ago"}])
def test_a_models_words_cannot_say_whose_they_are_or_how_old(forged):
    item = {"mood": "grey", "priority": 5, **forged}
    for field in ("weather", "emotions"):
        words = item if field == "weather" else {"content": "grey", "priority": 5, **forged}
        after = apply(profile(), update([words], field=field), NOW, ["ann"], owned_by("ann"))
        [kept] = after["dynamic_state"][field]["items"]
        assert (kept["user_id"], kept["timestamp"], kept.keys() & {"aged_at", "shared_with"}) == ("ann", NOW, set())


@pytest.mark.parametrize("shared_with", [["*"], "*", "bob"])
def test_a_models_words_cannot_share_themselves(shared_with):
    item = {"mood": "grey", "priority": 5, "shared_with": shared_with}
    try:
        changes = update([item], field="weather")
    except ValidationError:
        return
    [kept] = apply(profile(), changes, NOW, ["ann"], owned_by("ann"))["dynamic_state"]["weather"]["items"]
    assert "shared_with" not in kept


def test_words_about_an_owner_alone_are_no_words():
    for operation in (
        {"add": [{"user_id": "bob", "priority": 5}]},
        {"update_priority": [{"user_id": "bob", "new_priority": 1}]},
    ):
        with pytest.raises(ValidationError, match="needs words"):
            StateUpdate.model_validate({"dynamic_state": {"weather": operation}})


def test_what_a_prompt_shows_does_not_say_whose_it_is():
    [shown] = top(profile(BOBS), 3)["emotions"]
    assert shown == {"content": "Bob moved it", "priority": 7, "timestamp": THEN}


def test_the_same_words_of_two_people_stay_two_items_with_two_ids():
    mine, hers, same = ({**BORN, **owner} for owner in ({}, {"user_id": "ann"}, {"user_id": "ann", "priority": 9}))
    theirs = {**BORN, "user_id": "bob"}
    assert len({item_id("emotions", item) for item in (mine, hers, theirs)}) == 3
    assert item_id("emotions", hers) == item_id("emotions", same)
    assert merge_equal([mine, hers, theirs, same]) == [mine, same, theirs]


def test_maintenance_and_restoring_keep_owners_apart():
    old = "2026-01-01T00:00:00.000Z"
    fading = [
        {**BORN, "priority": 3, "timestamp": old, **owner} for owner in ({}, {"user_id": "ann"}, {"user_id": "bob"})
    ]
    kept = maintain(profile(*fading), NOW)
    assert [entry["item"].get("user_id") for entry in kept["retired"]] == [None, "ann", "bob"]
    anns = kept["retired"][1]["id"]
    back = restore(kept, anns, NOW)
    assert [item.get("user_id") for item in back["dynamic_state"]["emotions"]["items"]] == ["ann"]
    assert [entry["item"].get("user_id") for entry in back["retired"]] == [None, "bob"]


def test_what_belonged_to_somebody_goes_with_them():
    whole = profile(BORN, ANNS, BOBS, retired=[{"id": "r", "item": ANNS}, {"id": "s", "item": BOBS}])
    gone = without_owner(whole, "ann")
    assert contents(gone) == {"born calm", "Bob moved it"}
    assert [entry["id"] for entry in gone["retired"]] == ["s"]


items = st.lists(
    st.builds(
        lambda word, owner, shared: {
            "content": word,
            "priority": 5,
            "timestamp": THEN,
            **(owned_by(owner, shared) if owner is not None else {}),
        },
        st.sampled_from(["calm", "wary", "moved"]),
        st.sampled_from([None, "", "ann", "bob"]),
        st.sets(st.sampled_from(["carl", "dora", EVERYONE])),
    ),
    max_size=6,
    unique_by=lambda item: (item["content"], item.get("user_id")),
)


@given(items)
def test_what_is_read_can_be_written_back_with_its_owners(read):
    whole = {**empty_profile(), "dynamic_state": {**empty_profile()["dynamic_state"], "emotions": {"items": read}}}
    written = replace(whole, {"dynamic_state": deepcopy(whole["dynamic_state"])}, NOW)
    assert sorted(written["dynamic_state"]["emotions"]["items"], key=repr) == sorted(read, key=repr)


@pytest.mark.parametrize(
    "wrong", [{"user_id": 7}, {"user_id": "x" * 129}, {"shared_with": "ann"}, {"shared_with": [""]}]
)
def test_an_edit_with_a_malformed_owner_is_refused(wrong):
    with pytest.raises(InvalidInput):
        replace(profile(), {"dynamic_state": {"emotions": {"items": [{**BORN, **wrong}]}}}, NOW)


def test_what_the_soul_knows_already_from_the_person_is_not_learnt_again():
    changes = update([{"content": "ann moved IT", "priority": 5}, {"content": "new", "priority": 5}])
    left = without_known(changes, known_to(profile(ANNS, BOBS), ["ann"]))
    assert [entry.words()["content"] for entry in left.dynamic_state["emotions"].add] == ["new"]

"""What a turn changed is asked for by beliefs: which of them no longer holds."""

import pytest
from pydantic import ValidationError

from soulgraph.errors import ContractBroken
from soulgraph.soul.profile import apply, empty_profile
from soulgraph.voices.updates import Change, beliefs_of, update_of

NOW = "2027-01-02T00:00:00Z"


def profile(**fields):
    state = {field: {"items": [{"timestamp": NOW, **item} for item in items]} for field, items in fields.items()}
    return {"core_identity": {}, "dynamic_state": empty_profile()["dynamic_state"] | state}


ANN = {"entity": "Ann", "status": "a stranger", "priority": 6}
REST = {"goal": "rest", "reason": "a long day", "priority": 3}
FULL = profile(
    emotions=[{"content": "calm", "priority": 5}],
    short_term_goals=[REST],
    relationships=[ANN],
    secrets=[{"what": "a key", "priority": 9}],
)


def changed(item, beliefs=("1", "2", "3")):
    return Change.model_validate({"item": item}, context={"beliefs": beliefs})


def updated(item, beliefs, quotation="Ann said: I kept your letter", feeling="touched"):
    return update_of(changed(item, beliefs), beliefs, quotation, feeling)


@pytest.mark.parametrize(
    ("lang", "lines"),
    [
        ("en", ["feeling: calm", "plan: rest, a long day", "about: Ann, a stranger"]),
        ("zh", ["感受: calm", "打算: rest, a long day", "关系: Ann, a stranger"]),
    ],
)
def test_beliefs_are_the_built_in_items_of_a_profile_in_words(lang, lines):
    assert [belief.line(lang) for belief in beliefs_of(FULL, lang)] == lines


@pytest.mark.parametrize(("lang", "entity"), [("en", "user"), ("zh", "用户")])
def test_a_soul_that_knows_nobody_expects_people_to_be_as_people_are(lang, entity):
    [belief] = beliefs_of(empty_profile(), lang)
    assert (belief.field, belief.words["entity"], belief.stored) == ("relationships", entity, False)


def test_only_the_most_important_beliefs_are_asked_about():
    many = {field: [{"content": f"{field} {n}", "priority": n} for n in range(1, 9)] for field in ("emotions",)}
    patterns = [{"pattern": f"pattern {n}", "priority": n} for n in range(1, 9)]
    beliefs = beliefs_of(profile(**many, learned_patterns=patterns, relationships=[ANN]), "en")
    assert [belief.item["priority"] for belief in beliefs] == [8, 7, 6, 6, 8, 7, 6]


def test_the_schema_offers_only_numbers_of_beliefs_and_none_only_if_the_engine_is_not_sure():
    open_question = Change.schema_for({"beliefs": {"1": "a", "2": "b"}, "surprised": False})["properties"]
    assert list(open_question) == ["why", "item"]
    assert open_question["item"] == {"type": "integer", "enum": [0, 1, 2]}
    sure = Change.schema_for({"beliefs": {"1": "a", "2": "b"}, "surprised": True})["properties"]
    assert sure == {"item": {"type": "integer", "enum": [1, 2]}}
    assert "enum" not in Change.model_json_schema()["properties"]["item"]


@pytest.mark.parametrize("item", [4, -1])
def test_a_number_of_no_belief_is_refused(item):
    with pytest.raises(ValidationError, match="number of a belief"):
        changed(item)


@pytest.mark.parametrize("said", ["anger: 9/10", "x" * 600])
def test_words_that_no_profile_takes_are_refused(said):
    with pytest.raises(ContractBroken):
        updated(1, beliefs_of(FULL, "en"), said)


def test_no_change_is_no_update():
    assert updated(0, beliefs_of(FULL, "en")).is_empty


def test_what_was_said_is_added_and_what_no_longer_holds_loses_weight():
    after = apply(FULL, updated(3, beliefs_of(FULL, "en")), NOW)["dynamic_state"]["relationships"]["items"]
    assert after == [
        {"entity": "Ann", "status": "Ann said: I kept your letter", "priority": 7, "timestamp": NOW},
        {**ANN, "priority": 2, "timestamp": NOW},
    ]


def test_a_feeling_is_told_as_one_with_what_brought_it():
    [added] = updated(1, beliefs_of(FULL, "en")).dynamic_state["emotions"].add
    assert added.words() == {"content": "touched (Ann said: I kept your letter)"}


def test_a_weight_does_not_fall_below_the_lowest():
    after = apply(FULL, updated(2, beliefs_of(FULL, "en"), "it is off"), NOW)["dynamic_state"]
    assert [(item["goal"], item["priority"]) for item in after["short_term_goals"]["items"]] == [
        ("it is off", 7),
        ("rest", 1),
    ]


def test_a_belief_that_nobody_stored_is_only_answered():
    update = updated(1, beliefs_of(empty_profile(), "en")).dynamic_state["relationships"]
    assert [entry.words()["entity"] for entry in update.add] == ["user"]
    assert update.update_priority == []

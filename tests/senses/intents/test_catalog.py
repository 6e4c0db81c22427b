"""What a terminal may report, and what is refused."""

import pytest
from pydantic import TypeAdapter, ValidationError

from soulgraph.senses.intents.catalog import Catalog, Intent, Slot
from soulgraph.senses.intents.patterns import compiled


def intent(intent_id: str = "a", slots=(), **match) -> Intent:
    return Intent.model_validate({"id": intent_id, "name": intent_id, "match": match, "slots": list(slots)})


def test_unknown_keys_are_tolerated():
    Intent.model_validate(
        {"id": "a", "name": "a", "icon": "bulb", "match": {"fuzzy": 1}, "slots": [{"name": "x", "unit": "C"}]}
    )


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"id": 5}, ("id",)),
        ({"name": ""}, ("name",)),
        ({"priority": "high"}, ("priority",)),
        ({"match": None}, ("match",)),
        ({"match": {"keywords_any": "开灯"}}, ("match", "keywords_any")),
        ({"match": {"keywords_any": [""]}}, ("match", "keywords_any", 0)),
        ({"match": {"min_confidence": 7}}, ("match", "min_confidence")),
        ({"slots": [{"name": "x", "required": "yes"}]}, ("slots", 0, "required")),
        ({"slots": [{"required": True}]}, ("slots", 0, "name")),
        ({"slots": [{"name": "x", "type": "colour"}]}, ("slots", 0, "type")),
        ({"slots": [{"name": "x", "question": ""}]}, ("slots", 0, "question")),
    ],
)
def test_a_wrong_type_is_refused_and_located(wrong, where):
    with pytest.raises(ValidationError) as refusal:
        Intent.model_validate({"id": "a", "name": "a", "match": {}} | wrong)
    assert [error["loc"] for error in refusal.value.errors()] == [where]


@pytest.mark.parametrize("pattern", ["(", "a{1000000000}", "(?x)a"])
@pytest.mark.parametrize("place", ["regex_any", "regex_all", "slot"])
def test_an_unsafe_regex_is_refused_naming_the_intent(place, pattern):
    match = {} if place == "slot" else {place: [pattern]}
    slots = [{"name": "x", "regex": pattern}] if place == "slot" else []
    with pytest.raises(ValidationError, match="intent kettle_on: the pattern"):
        intent("kettle_on", slots, **match)


@pytest.mark.parametrize(
    ("slot", "problem"),
    [
        ({"type": "number", "values": ["低", "高"]}, "values are for text, not for a number"),
        ({"type": "time", "values": ["早上"]}, "values are for text, not for a time"),
        ({"min": 1}, "a text has no min or max"),
        ({"type": "time", "max": 1}, "a time has no min or max"),
        ({"type": "number", "min": 5, "max": 4}, "its min is above its max"),
        ({"type": "number", "default": "many"}, "its default 'many' is no number it allows"),
        ({"type": "number", "default": True}, "its default True is no number it allows"),
        ({"type": "number", "default": float("inf")}, "its default inf is no number it allows"),
        ({"type": "number", "min": 16, "default": 10}, "its default 10 is no number it allows"),
        ({"type": "percent", "default": 120}, "its default 120 is no percent it allows"),
        ({"type": "duration", "default": -1}, "its default -1 is no duration it allows"),
        ({"type": "duration", "default": "10min"}, "its default '10min' is no duration it allows"),
        ({"type": "time", "default": 7}, "its default 7 is no time it allows"),
        ({"type": "time", "default": "明早"}, "its default '明早' is no time it allows"),
    ],
)
def test_a_slot_that_contradicts_its_type_is_refused_naming_intent_and_slot(slot, problem):
    with pytest.raises(ValidationError, match=f"intent heat, slot level: {problem}"):
        intent("heat", [{"name": "level", **slot}])


@pytest.mark.parametrize(
    "slot",
    [
        {"default": 30},
        {"values": ["低", "高"], "default": "高"},
        {"type": "number", "min": -5, "max": 35.5, "default": 26},
        {"type": "number", "min": -(10**400), "max": 10**400, "default": 1},
        {"type": "percent", "default": 100},
        {"type": "duration", "default": 0.5, "max": 3600},
        {"type": "time", "default": "2026-12-24T18:00:00"},
    ],
)
def test_a_slot_that_agrees_with_its_type_is_accepted(slot):
    assert intent("heat", [{"name": "level", **slot}]).slots == [Slot.model_validate({"name": "level", **slot})]


def test_an_intent_given_twice_is_refused():
    catalog = [intent(intent_id).model_dump() for intent_id in ("light_on", "fan_on", "light_on")]
    with pytest.raises(ValidationError, match="intents given twice: light_on"):
        TypeAdapter(Catalog).validate_python(catalog)


def spread(count, most, **match):
    """A catalog in which `match` gives to each intent at most so many of `count` things."""
    shares = [range(start, min(start + most, count)) for start in range(0, count, most)]
    return [
        {"id": f"i{n}", "name": "n", "match": {name: [make(k) for k in share] for name, make in match.items()}}
        for n, share in enumerate(shares)
    ]


def slotted(count, **slot):
    return [
        {"id": f"i{n}", "name": "n", "match": {}, "slots": [{"name": f"s{k}", **slot} for k in range(40)]}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("catalog", "problem"),
    [
        ([{"id": f"i{n}", "name": "n", "match": {}} for n in range(1001)], "1001 intents, at most 1000"),
        (spread(10_001, 500, examples=str), "10001 examples, at most 10000"),
        (spread(5001, 500, keywords_all=str, negative_keywords=str), "10002 keywords, at most 10000"),
        (spread(1001, 100, regex_any=str), "1001 patterns, at most 1000"),
        (slotted(26, regex="a"), "1040 patterns, at most 1000"),
        (slotted(51), "2040 slots, at most 2000"),
        (slotted(40, values=[str(n) for n in range(7)]), "11200 values of slots, at most 10000"),
        (spread(2501, 500, examples=lambda n: "x" * 200), "500200 characters, at most 500000"),
    ],
)
def test_a_catalog_with_too_much_in_all_is_refused_and_says_of_what(catalog, problem):
    with pytest.raises(ValidationError, match=f"the catalog has {problem} are taken: leave some out"):
        TypeAdapter(Catalog).validate_python(catalog)


def test_patterns_of_a_catalog_that_is_too_large_are_not_compiled():
    compiled.cache_clear()
    with pytest.raises(ValidationError, match="1001 patterns"):
        TypeAdapter(Catalog).validate_python(spread(1001, 100, regex_all=str))
    assert compiled.cache_info().misses == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"match": {"examples": ["x"] * 501}},
        {"match": {"keywords_any": ["x"] * 501}},
        {"match": {"regex_any": ["x"] * 101}},
        {"match": {}, "slots": [{"name": "x"}] * 51},
        {"match": {}, "slots": [{"name": "x", "values": ["x"] * 501}]},
    ],
)
def test_an_intent_with_too_much_is_refused(wrong):
    with pytest.raises(ValidationError, match="at most"):
        Intent.model_validate({"id": "a", "name": "a"} | wrong)


@pytest.mark.parametrize(
    "catalog", [None, 5, "x", {}, [None], [{"match": 5}], [{"match": {"examples": 5}, "slots": [5]}]]
)
def test_whatever_is_sent_for_a_catalog_is_a_validation_error(catalog):
    with pytest.raises(ValidationError):
        TypeAdapter(Catalog).validate_python(catalog)

"""Arguments are validated against the schema a terminal reported, and no schema can block the server."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from soulgraph.errors import InvalidInput
from soulgraph.terminals.arguments import check_schema, mismatch

LAMP = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "https://example.com/lamp.json",
    "type": "object",
    "properties": {
        "level": {"type": "integer", "minimum": 0, "maximum": 100},
        "colour": {"$ref": "#/$defs/Colour"},
        "room": {"type": "string", "pattern": "^[a-z]+$"},
        "until": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "steps": {"type": "array", "items": {"type": "object", "required": ["at"]}, "uniqueItems": True},
    },
    "required": ["level"],
    "additionalProperties": False,
    "$defs": {"Colour": {"enum": ["red", "green"]}},
}
TREE = {"type": "object", "properties": {"child": {"$ref": "#"}, "name": {"type": "string"}}}
DOUBLING = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)} | {"d60": {}}


def with_argument(**schema):
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"level": 3},
        {"level": 3.0, "colour": "red", "room": "kitchen", "until": None, "steps": [{"at": 1}, {"at": 2}]},
    ],
)
def test_what_fits_is_let_through(arguments):
    assert mismatch(LAMP, arguments) is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "'level' is a required property"),
        ({"level": "high"}, "level: 'high' is not of type 'integer'"),
        ({"level": True}, "level: True is not of type 'integer'"),
        ({"level": 101}, "level: 101 is greater than the maximum of 100"),
        ({"level": 1, "colour": "blue"}, "colour: 'blue' is not one of ['red', 'green']"),
        ({"level": 1, "room": "KITCHEN"}, "room: 'KITCHEN' does not match '^[a-z]+$'"),
        ({"level": 1, "until": "x"}, 'anyOf: [{"type": "integer"}, {"type": "null"}]'),
        ({"level": 1, "steps": [{"at": 1}, {}]}, "steps.1: 'at' is a required property"),
        ({"level": 1, "steps": [{"at": 1}, {"at": 1}]}, "steps: [{'at': 1}, {'at': 1}] has non-unique elements"),
        ({"level": 1, "speed": 2}, "'speed' was unexpected"),
        ({"level": "a", "colour": "b"}, "level: 'a' is not of type 'integer'; colour: 'b' is not one of"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place_and_what_was_expected(arguments, told):
    assert told in mismatch(LAMP, arguments)


def test_a_long_argument_does_not_hide_what_was_expected():
    told = mismatch(LAMP, {"level": "x" * 5000})
    assert told.startswith("level: 'xxx")
    assert told.endswith("is not of type 'integer'")
    assert len(told) < 500


def test_a_schema_may_refer_to_itself_as_deep_as_there_are_arguments():
    check_schema(TREE)
    assert mismatch(TREE, {"child": {"child": {"name": "leaf"}}}) is None
    assert "child.child.name: 1 is not of type 'string'" in mismatch(TREE, {"child": {"child": {"name": 1}}})


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (with_argument(type="integr"), "properties.x.type: 'integr'"),
        (with_argument(minimum="0"), "properties.x.minimum: '0' is not of type 'number'"),
        ({"type": "object", "properties": {"x": 5}}, "properties.x: 5 is not of type"),
        ({"type": "object", "required": "x"}, "required: 'x' is not of type 'array'"),
        (with_argument(pattern="("), "pattern '[(]' does not compile"),
        (with_argument(pattern="a{99999999999999999999}"), "repeats too much"),
        (with_argument(pattern="a" * 501), "longer than 500"),
        ({"type": "object", "patternProperties": {"(a|a)*[xy]": {}}}, "patternProperties is not supported"),
        (with_argument(**{"$ref": "#/$defs/none"}), "'#/[$]defs/none' is not in this schema"),
        (with_argument(**{"$ref": "#/type"}), "'#/type' is not in this schema"),
        (with_argument(**{"$ref": "file:///etc/passwd"}), "is not in this schema"),
        (with_argument(**{"$dynamicRef": "#x"}), "[$]dynamicRef is not supported"),
        (with_argument(**{"$id": "http://example.com/"}), "[$]id is not supported"),
        (with_argument(**{"$schema": LAMP["$schema"]}), "[$]schema is not supported"),
        ({"type": "object", "$ref": "#"}, "takes too long to check"),
        ({"type": "object", "$ref": "#/$defs/d0", "$defs": DOUBLING}, "takes too long to check"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_the_reason(schema, why):
    with pytest.raises(InvalidInput, match=why):
        check_schema(schema)
    assert "the skill's own schema cannot be used" in mismatch(schema, {})


@pytest.mark.parametrize(
    ("schema", "argument"),
    [
        (with_argument(**{"$ref": "#/$defs/d0"}) | {"$defs": DOUBLING}, 1),
        (with_argument(items={"allOf": [{"type": "integer"}] * 200}), [*range(5000)]),
        (with_argument(items={"enum": [*range(1500)]}), [1499] * 5000),
        (with_argument(multipleOf=0.1), 10**400),
    ],
    ids=["doubling", "products", "choices", "overflow"],
)
def test_a_check_that_would_take_long_is_given_up_and_the_arguments_with_it(schema, argument):
    check_schema(schema)
    began = time.thread_time()
    assert mismatch(schema, {"x": argument}) == "there is too much in them to be checked"
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize("pattern", ["^(a|a)*[xy]$", r"^(\w+\s?)*$", "^(?:(a+)\\1+)+[xy]$"])
def test_a_pattern_that_explodes_counts_as_not_matching(pattern):
    schema = with_argument(pattern=pattern)
    check_schema(schema)
    began = time.thread_time()
    assert "does not match" in mismatch(schema, {"x": "a" * 60 + "!"})
    assert time.thread_time() - began < 0.5


def test_items_are_not_each_held_against_every_other():
    began = time.thread_time()
    assert mismatch(with_argument(uniqueItems=True), {"x": [{"n": n} for n in range(5000)]}) is None
    assert time.thread_time() - began < 0.5


async def test_nothing_is_fetched_from_anywhere():
    calls = []
    server = await asyncio.start_server(lambda _, writer: (calls.append(1), writer.close()), "127.0.0.1", 0)
    async with server:
        far = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/schema.json"
        for key in ("$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id"):
            await asyncio.to_thread(mismatch, with_argument(**{key: far}), {"x": {"a": 1}})
        assert await asyncio.to_thread(mismatch, {"type": "object", "$schema": far, "$id": far}, {}) is None
    assert calls == []


NAMES = st.sampled_from(["a", "b", "$ref", "type", "pattern"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
KEYWORDS = st.sampled_from([*sorted(Draft202012Validator.VALIDATORS), "$defs", "then", "else"])
USUAL = (
    st.sampled_from(["object", "string", "#", "#/$defs/a", "#/properties/a", "^a+$", 0, 1, 0.5, True, False])
    | st.lists(st.sampled_from(["a", "b", "string", "null"]), min_size=1, max_size=2, unique=True)
    | VALUES
)
SCHEMAS = st.recursive(
    st.dictionaries(KEYWORDS, USUAL, max_size=3),
    lambda inner: st.dictionaries(
        KEYWORDS, inner | USUAL | st.lists(inner, min_size=1, max_size=2) | st.dictionaries(NAMES, inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=3))
def test_whatever_schema_is_not_refused_every_argument_can_be_held_against(schema, arguments):
    told = mismatch({**schema, "type": "object"}, arguments)
    assert told is None or told

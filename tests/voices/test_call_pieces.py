"""Tool calls in pieces: put together as servers mean them, and no more of them than anybody means."""

import json

import pytest
from langchain_core.messages import AIMessageChunk

from soulgraph.voices.call_pieces import MAX_CALL_CHARS, MAX_CALLS, CallPieces

QUERY = '{"query": "rain"}'


def piece(arguments="", name="", call_id="", index=0):
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def read(*pieces):
    """(name, arguments) of the calls as LangChain reads them."""
    calls = CallPieces()
    calls.feed(pieces)
    return _read(calls.rest()), calls.full


def _read(chunks):
    return [(call["name"], call["args"]) for call in AIMessageChunk(content="", tool_call_chunks=chunks).tool_calls]


@pytest.mark.parametrize(
    "pieces",
    [
        [piece('{"query"', "recall", "c1"), piece(': "rain"}')],
        [piece('{"query"', "recall", "c1"), piece(': "rain"}', "recall", "c1")],
        [piece("", "re"), piece("", "call"), *map(piece, QUERY)],
        [piece({"query": "rain"}, "recall")],
        [piece('{"query": "rain', "recall")],
    ],
    ids=["pieces", "name and id in every piece", "letters", "an object", "without its end"],
)
def test_a_call_is_put_together(pieces):
    assert read(*pieces) == ([("recall", {"query": "rain"})], False)


def test_calls_are_told_apart_by_index_and_by_id():
    pieces = [piece(QUERY, name, name, index) for name, index in (("a", 0), ("b", 0), ("c", 1))]
    assert [name for name, _ in read(*pieces)[0]] == ["a", "b", "c"]


def test_what_calls_nothing_is_no_call():
    assert read(piece(QUERY), piece(None, None, None), piece(7, 7, 7)) == ([], False)


def test_of_too_many_calls_the_first_are_kept():
    calls, full = read(*(piece(QUERY, f"tool{n}", f"c{n}", n) for n in range(10_000)))
    assert [name for name, _ in calls] == [f"tool{n}" for n in range(MAX_CALLS)]
    assert full


def test_a_call_that_is_too_long_is_dropped_and_those_before_it_are_kept():
    long = [piece('{"query": "', "long", "c2", 1), *[piece("y" * 1000, index=1)] * 400]
    calls, full = read(piece(QUERY, "short", "c1"), *long)
    assert (calls, full) == ([("short", {"query": "rain"})], True)


def test_long_arguments_that_are_no_json_are_not_mended():
    """LangChain would try it with one letter less each time."""
    assert read(piece("y" * (MAX_CALL_CHARS - 10), "recall")) == ([], False)
    assert read(piece("[" * (MAX_CALL_CHARS - 10), "recall")) == ([], False)
    whole = json.dumps({"query": "y" * (MAX_CALL_CHARS - 100)})
    assert read(piece(whole, "recall")) == ([("recall", json.loads(whole))], False)


def test_what_is_whole_can_be_taken_before_the_end_and_comes_once():
    calls = CallPieces()
    calls.feed([piece(QUERY, "first", "c1"), piece('{"query"', "second", "c2", 1)])
    assert _read(calls.take_whole()) == [("first", {"query": "rain"})]
    assert calls.take_whole() == []
    calls.feed([piece(': "rain"}', index=1)])
    assert _read(calls.rest()) == [("second", {"query": "rain"})]
    assert calls.rest() == []

"""Answers that do not end, over the wire: we hang up, the turn ends with words or a reason, and the next one works."""

import asyncio
from itertools import chain, count

import pytest

from soulgraph.tests.hostile_model import HostileModel, encoded, endless
from soulgraph.tests.live import hear, new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN
from soulgraph.voices import bounded_http
from soulgraph.voices.call_pieces import MAX_CALLS
from soulgraph.voices.wire import MAX_TEXT

FAIL_SAFE_S = 60


def call(index, arguments, name="recall_memory"):
    """A piece of a tool call; only the first one has a name and an id."""
    ids = {"id": f"call_{index}"} if name else {}
    return {"tool_calls": [{"index": index, **ids, "type": "function", "function": _function(name, arguments)}]}


def _function(name, arguments):
    return {"arguments": arguments} | ({"name": name} if name else {})


def story():
    """One that goes on without repeating itself, which would be cut as a loop."""
    words = (encoded({"content": f" {number}"}) for number in count())
    return chain([encoded({"content": "<narrative>Once"})], words)


def calls():
    return (encoded(call(number, '{"query": "rain"}')) for number in count())


ENDLESS = {
    "narrative": story,
    "letters": lambda: endless({"content": "<narrative>Oh. "}, {"content": "y" * 400_000}),
    "thoughts": lambda: endless({"reasoning_content": "hm, " * 500}),
    "tagged thoughts": lambda: endless({"content": "<think>"}, {"content": "hm, " * 500}),
    "closed thoughts": lambda: endless({"content": "</think>" * 100_000}),
    "state update": lambda: endless({"content": "<narrative>Hi.</narrative><state_update_json>"}, {"content": "{["}),
    "arguments": lambda: endless(call(0, '{"query": "'), call(0, "y" * 300, name="")),
    "arguments of all calls": lambda: endless(call(0, "y" * 30_000), call(1, "y" * 30_000), call(2, "y" * 30_000, "")),
    "calls": calls,
    "words before silence": lambda: endless({"content": "<narrative>I am here, and "}, ": waiting\n\n"),
    "empty deltas": lambda: endless({"content": ""}),
    "comments": lambda: endless(": waiting\n\n"),
    "lines without an event": lambda: endless("data: \n"),
    "bytes without a line": lambda: endless("data: ", "y" * 10_000),
}
WORDED = {"narrative", "letters", "state update", "words before silence"}


@pytest.fixture
async def hostile():
    async with HostileModel() as server:
        yield server


@pytest.fixture
async def soul(hostile, tmp_path):
    """(client, soul_id) of a server that speaks through the hostile model."""
    model = {"llm_base_url": hostile.base_url, "llm_model": "stub"}
    async with serving(data_dir=tmp_path, turn_timeout_s=FAIL_SAFE_S, **model) as client:
        yield client, await new_soul(client)


async def heard(client, **fields):
    events = [event async for event in hear(client, "Are you there?", **fields)]
    words = "".join(data["text"] for name, data in events if name == "token")
    return words, *events[-1]


async def until_refused(hostile):
    async with asyncio.timeout(FAIL_SAFE_S):
        await hostile.refused.wait()
    hostile.pieces = None


@pytest.mark.parametrize("kind", ENDLESS)
async def test_an_endless_answer_is_left_and_the_next_one_is_heard(soul, hostile, kind, monkeypatch):
    monkeypatch.setattr(bounded_http, "MAX_STREAM", 2**20)  # the limit itself takes half a minute of tiny events
    client, soul_id = soul
    hostile.pieces = ENDLESS[kind]()
    words, name, last = await heard(client, soul_id=soul_id, session_id="s")
    await until_refused(hostile)
    if kind in WORDED:
        assert name == "done", last
        assert 0 < len(words) <= MAX_TEXT
        assert last["reply"] == words
    else:
        assert (name, words) == ("error", "")
        assert last["code"] == "model_refused"
        # Who calls tools without end has them run, step by step, and is asked for words in the end.
        assert last.get("reason") == (None if kind == "calls" else "endless")
    assert (await say(client, "And now?", soul_id=soul_id, session_id="s"))["reply"] == "I hear you."


async def test_of_too_many_calls_the_first_are_run(soul, hostile):
    client, soul_id = soul
    hostile.pieces = calls()
    tools = []
    async for name, _ in hear(client, "What do you remember?", soul_id=soul_id):
        tools += [name] if name == "tool" else []
        if len(tools) == MAX_CALLS:
            await until_refused(hostile)  # by now, so that the model answers with words
    assert len(tools) == MAX_CALLS


@pytest.mark.parametrize("kind", ["thoughts", "empty deltas", "comments", "calls", "words before silence"])
async def test_a_turn_ends_in_time_even_if_no_limit_is_reached(hostile, tmp_path, kind, monkeypatch):
    for limit in ("bounded_http.MAX_STREAM", "wire.MAX_HIDDEN", "wire.MAX_TEXT", "call_pieces.MAX_CALLS"):
        monkeypatch.setattr(f"soulgraph.voices.{limit}", 10**12)
    model = {"llm_base_url": hostile.base_url, "llm_model": "stub"}
    async with serving(data_dir=tmp_path, turn_timeout_s=1, **model) as client:
        soul_id = await new_soul(client)
        hostile.pieces = ENDLESS[kind]()
        _, name, last = await heard(client, soul_id=soul_id, session_id="s")
        assert (name, last["code"]) == ("error", "model_timeout")
        assert "SOULGRAPH_TURN_TIMEOUT_S" in last["detail"]
        await until_refused(hostile)
        assert (await client.get("/v1/sessions/s")).status_code == 404


async def test_what_is_said_within_the_limits_comes_whole(soul, hostile):
    client, soul_id = soul
    hostile.pieces = [encoded({"reasoning_content": "hm, " * 50_000}), encoded({"content": SOUL_TURN})]
    words, name, _ = await heard(client, soul_id=soul_id)
    assert (words, name) == ("I hear you.", "done")

"""Answers that no model should give, over the wire: a turn answers or fails with a reason, and the next one works.

The cases were written by somebody who had not seen the code.
"""

from itertools import groupby
from pathlib import Path

import pytest

from soulgraph.tests.hostile_model import HostileModel, cases, pieces_of
from soulgraph.tests.live import hear, new_soul, say, serving

FILES = [Path(__file__).parent / "cases" / f"model_answers_{half}.yaml" for half in ("open", "held")]
CASES = sorted((case for file in FILES for case in cases(file)), key=lambda case: case["family"])
FAMILIES = {family: list(found) for family, found in groupby(CASES, lambda case: case["family"])}
REASONS = {"model_unavailable", "model_refused", "model_timeout", "turn_output_invalid"}
MARKS = ("narrative>", "state_update_json", "<think")
MAX_TOKENS = 1_000_000


@pytest.fixture
async def hostile():
    async with HostileModel() as server:
        yield server


@pytest.fixture
async def client(hostile, tmp_path):
    model = {"llm_base_url": hostile.base_url, "llm_model": "stub", "llm_timeout_s": 2, "turn_timeout_s": 20}
    async with serving(data_dir=tmp_path, **model) as client:
        yield client


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_turn_ends_with_words_or_a_reason_and_the_next_one_works(client, hostile, family):
    soul_id = await new_soul(client)
    for case in FAMILIES[family]:
        hostile.pieces = list(pieces_of(case))
        session = {"soul_id": soul_id, "session_id": case["id"]}
        events = [event async for event in hear(client, "Are you there?", **session)]
        words = "".join(data["text"] for name, data in events if name == "token")
        name, last = events[-1]
        assert name == "done" or last["code"] in REASONS, (case["id"], last)
        assert not any(mark in words for mark in MARKS), case["id"]
        words.encode()
        if name == "done":
            assert last["reply"] == words, case["id"]
            assert 0 <= last["usage"]["output_tokens"] < MAX_TOKENS, case["id"]
        hostile.pieces = None
        assert (await say(client, "And now?", **session))["reply"] == "I hear you.", case["id"]

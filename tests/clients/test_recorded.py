"""What front ends really send, replayed: each is answered so that it can read it, and each turn happens once."""

import asyncio
import json
import re

import pytest

from soulgraph.tests.clients.outcome import outcome_of
from soulgraph.tests.clients.replay import RECORDED, Replay, lively, recordings
from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.stub_openai import StubOpenAI

SETTLING_S = 10
POLL_S = 0.05


@pytest.fixture(autouse=True)
def migrated(sqlite_url):
    """The server finds its schema in `tmp_path`."""


FOLDERS = sorted({path.parent.name for path in recordings()})


@pytest.mark.parametrize("folder", FOLDERS)
async def test_recorded_conversations_leave_what_was_said_and_no_more(folder, tmp_path):
    """One server for all that a program does, each with a soul of its own."""
    found, expected = {}, {}
    async with StubOpenAI() as stub:
        settings = {"data_dir": tmp_path, "llm_base_url": stub.base_url, "llm_model": "stub"}
        async with serving(**settings) as client:
            for path in sorted((RECORDED / folder).glob("*.json")):
                recording = json.loads(path.read_text("utf-8"))
                found[path.stem] = await replayed(client, stub, recording)
                expected[path.stem] = (recording["expected"], [])
    assert found == expected


async def replayed(client, stub, recording):
    """What the soul has of it, and what a client could not have read."""
    stopped = any(not exchange["reply"]["whole"] for exchange in recording["exchanges"])
    lively(stub, delay_s=0.02 if stopped else 0.0)
    soul_id = await new_soul(client, "Mo")
    before = await outcome_of(client, soul_id)
    replay = Replay(client, recording)
    await replay.run()
    outcome = await settled(client, soul_id, before, recording["expected"])
    await client.delete(f"/v1/souls/{soul_id}")
    return outcome, replay.troubles


async def settled(client, soul_id, before, expected):
    """A turn that was stopped is stored a moment later."""
    for _ in range(round(SETTLING_S / POLL_S)):
        outcome = (await outcome_of(client, soul_id)).since(before)
        if outcome == expected:
            break
        await asyncio.sleep(POLL_S)
    return outcome


def test_every_program_of_the_matrix_is_recorded():
    folders = {path.parent.name for path in recordings()}
    assert {"open-webui", "sillytavern", "litellm", "llm", "langchain", "pydantic-ai", "ai-sdk"} <= folders
    assert {"librechat", "airi", "open-llm-vtuber", "xiaozhi"} <= folders


def test_recordings_hold_no_secret_and_no_place_of_a_machine():
    for path in recordings():
        words = path.read_text("utf-8")
        assert not re.search(r"/(?:home|root)/|Bearer ", words)

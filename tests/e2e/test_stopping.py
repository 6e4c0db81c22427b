"""Whoever has heard enough stops the soul: what they have read stays, and before the first word nothing does."""

import asyncio

import httpx
import pytest

from soulgraph.tests.e2e.keyring import made
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import hear, new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply

WORDS = " ".join(f"word{n}" for n in range(200))
SLOW = Reply(text=f"<narrative>{WORDS}</narrative><state_update_json>{{}}</state_update_json>", chunk_delay_s=0.02)
SILENT = Reply(hang=True)


@pytest.fixture
async def client(stub, tmp_path):
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        yield client


async def stop(client, session_id="s", **fields):
    response = await client.post(f"/v1/sessions/{session_id}/stop", json=fields)
    assert response.status_code == 200, response.text
    return response.json()["turn_ids"]


async def until_asked(stub, calls=1):
    async with asyncio.timeout(10):
        while len(stub.requests) < calls:
            await asyncio.sleep(0.005)


async def test_what_was_read_is_the_reply_and_is_stored(client, stub):
    stub.default = SLOW
    soul_id = await new_soul(client)
    read, stopped, last = "", [], None
    async for event, data in hear(client, "tell me all", soul_id=soul_id, session_id="s"):
        if event == "token":
            read += data["text"]
        if event == "token" and "word5" in read and not stopped:
            stopped = await stop(client)
        last = event, data
    event, answer = last
    assert (event, answer["stopped"], stopped) == ("done", True, [answer["turn_id"]])
    assert "word5" in answer["reply"]
    assert answer["reply"] == read
    assert WORDS.startswith(read)
    assert len(read) < len(WORDS)
    assert await transcript(client, "s") == [("user", "tell me all"), ("assistant", read)]
    stored = (await client.get(f"/v1/sessions/s/turns/{answer['turn_id']}")).json()
    assert stored["answer"]["stopped"]


async def test_before_the_first_word_nothing_is_stored_and_the_same_input_can_be_sent_again(client, stub):
    stub.default = SILENT
    soul_id = await new_soul(client)
    ids = {"soul_id": soul_id, "session_id": "s", "input_id": "m-1"}
    waiting = asyncio.create_task(client.post("/v1/chat", json={"text": "你真好", **ids}))
    await until_asked(stub)
    [turn_id] = await stop(client, input_id="m-1")
    response = await waiting
    assert (response.status_code, response.json()["code"]) == (409, "turn_stopped")
    mood = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()["soul_emotion"]
    assert (await client.get("/v1/sessions/s")).status_code == 404 or await transcript(client, "s") == []
    stub.default = Reply(text="<narrative>Thanks.</narrative><state_update_json>{}</state_update_json>")
    answer = await say(client, "你真好", **ids)
    assert (answer["reply"], answer["stopped"]) == ("Thanks.", False)
    assert answer["soul_emotion"]["p"] == pytest.approx(mood["p"], abs=0.01)  # the words count once
    assert turn_id


async def test_one_that_waits_for_its_turn_gives_up_its_place(client, stub):
    stub.default = SILENT
    soul_id = await new_soul(client)
    first, second = [
        asyncio.create_task(
            client.post("/v1/chat", json={"text": text, "soul_id": soul_id, "session_id": "s", "input_id": text})
        )
        for text in ("one", "two")
    ]
    await until_asked(stub)
    assert len(await stop(client, input_id="two")) == 1
    assert (await second).json()["code"] == "turn_stopped"
    assert not first.done()
    assert len(await stop(client)) == 1
    assert (await first).json()["code"] == "turn_stopped"
    assert await stop(client) == []


async def test_over_the_socket(client, stub):
    stub.default = SLOW
    async with line(client) as one:
        await one.chat("tell me", soul_id=await new_soul(client), session_id="s", input_id="a")
        await one.until("token")
        await one.send(type="stop", session_id="s", input_id="a")
        done = (await one.until("done", "error"))[-1]
    assert (done["event"], done["input_id"], done["data"]["stopped"]) == ("done", "a", True)


async def test_nobody_stops_what_is_said_to_others(client, stub):
    stub.default = SILENT
    soul_id = await new_soul(client)
    client.headers.update(await made(client, "owner", "owner"))
    ann, bob, robot = [
        httpx.AsyncClient(base_url=client.base_url, headers=headers, verify=False, timeout=60)
        for headers in (
            await made(client, "ann", "chat", user_id="ann"),
            await made(client, "bob", "chat", user_id="bob"),
            await made(client, "robot", "terminal"),
        )
    ]
    async with ann, bob, robot:
        waiting = asyncio.create_task(ann.post("/v1/chat", json={"text": "hi", "soul_id": soul_id, "session_id": "s"}))
        await until_asked(stub)
        assert await stop(bob) == []
        assert await stop(robot) == []
        refused = await bob.post("/v1/sessions/s/stop", json={"user_id": "ann"})
        assert refused.status_code == 403
        assert len(await stop(ann)) == 1
        assert (await waiting).json()["code"] == "turn_stopped"


async def test_a_skill_that_was_called_is_not_forgotten_with_the_words_after_it(client, stub):
    """Stopped in the silence after a tool, what was said before it is the reply."""
    said = "<narrative>Let me think back.</narrative>"
    stub.script(Reply(text=said, tool_calls=[{"name": "recall_memory", "arguments": '{"query": "sea"}'}]), SILENT)
    soul_id = await new_soul(client)
    waiting = asyncio.create_task(
        client.post("/v1/chat", json={"text": "do you remember?", "soul_id": soul_id, "session_id": "s"})
    )
    await until_asked(stub, 2)
    await stop(client)
    answer = (await waiting).json()
    assert (answer["reply"], answer["stopped"]) == ("Let me think back.", True)

"""A stream that broke off goes on where it did: here, on another server, from what is stored, or it begins anew."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from soulgraph.tests.e2e.keyring import made, problem
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.e2e.streams import Told, told
from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply

WORDS = " ".join(f"word{n}" for n in range(60))
SLOW = Reply(text=f"<narrative>{WORDS}</narrative><state_update_json>{{}}</state_update_json>", chunk_delay_s=0.02)
SHORT = Reply(text="<narrative>Here I am again.</narrative><state_update_json>{}</state_update_json>")


class Talk:
    """One input, and what is read of its stream by and by, from whichever server."""

    def __init__(self, soul_id, input_id="m-1", **fields):
        self.body = {"text": "tell me", "soul_id": soul_id, "session_id": "s", "input_id": input_id, **fields}
        self.events = []

    @property
    def last_id(self):
        return self.events[-1].id

    @property
    def words(self):
        return "".join(event.data["text"] for event in self.events if event.event == "token")

    @property
    def names(self):
        return [event.event for event in self.events if event.event not in ("token", "waiting")]

    @property
    def headers(self):
        return {"Last-Event-ID": self.last_id} if self.events else {}

    async def read(self, client, until=None):
        """Read on, to the end, or until so much was read; then the connection is cut."""
        body = {**self.body, "stream": True}
        async with client.stream("POST", "/v1/chat", json=body, headers=self.headers) as response:
            await self.take(response, until)

    async def follow(self, client, until=None, headers=None, **params):
        turn_id = self.last_id.split(".")[0]
        headers = {**self.headers, **(headers or {})}
        async with client.stream("GET", f"/v1/turns/{turn_id}/stream", headers=headers, params=params) as response:
            await self.take(response, until)

    async def take(self, response, until):
        async with asyncio.timeout(30):
            async for event in told(response):
                self.events.append(event)
                if until and until in self.words:
                    return


@pytest.fixture
async def client(stub, tmp_path):
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        yield client


@asynccontextmanager
async def pair(stub, postgres_url, tmp_path):
    """Two servers on one database: one as a process of its own, one here."""
    settings = {"database_url": postgres_url, "llm_base_url": stub.base_url, "llm_model": "stub"}
    away = ForkedServer(data_dir=str(tmp_path / "a"), mqtt_url="none", **settings)
    async with (
        serving(data_dir=tmp_path / "b", **settings) as here,
        httpx.AsyncClient(base_url=away.url, timeout=60, verify=False) as there,
    ):
        await away.start()
        yield away, there, here


async def test_cut_again_and_again_every_word_is_read_once(client, stub):
    stub.default = SLOW
    talk = Talk(await new_soul(client))
    for until in ("word3", "word9", "word21", "word30"):
        await talk.read(client, until)
    await talk.follow(client, "word40")
    await talk.read(client)
    assert talk.words == WORDS
    assert talk.names == ["emotion", "done"]
    assert len(stub.requests) == 1
    assert await transcript(client, "s") == [("user", "tell me"), ("assistant", WORDS)]


async def test_a_second_reader_hears_the_same(client, stub):
    stub.default = SLOW
    soul_id = await new_soul(client)
    talks = [Talk(soul_id) for _ in range(3)]
    await talks[0].read(client, "word2 ")
    for talk in talks[1:]:
        talk.events = talks[0].events[:1]
    await asyncio.gather(talks[0].read(client), talks[1].read(client), talks[2].follow(client))
    assert {talk.words for talk in talks} == {WORDS}
    assert len(stub.requests) == 1


async def test_the_rest_of_a_stored_answer_is_one_token(client, stub):
    stub.default = SLOW
    talk = Talk(await new_soul(client))
    await talk.read(client, "word5")
    await say(client, **talk.body)
    read = len(talk.events)
    for resume in (talk.read, talk.follow):
        del talk.events[read:]
        await resume(client)
        assert talk.words == WORDS
        assert [event.event for event in talk.events[read:]] == ["token", "done"]


async def test_who_has_read_everything_is_told_the_end_again(client, stub):
    stub.default = SHORT
    talk = Talk(await new_soul(client))
    await talk.read(client)
    for resume in (talk.read, talk.follow):
        await resume(client)
    assert talk.words == "Here I am again."
    assert talk.names == ["emotion", "done", "done", "done"]


async def test_a_reply_that_was_edited_since_begins_anew(client, stub):
    stub.default = SHORT
    talk = Talk(await new_soul(client))
    await talk.read(client, "Here")
    await say(client, **talk.body)
    [_, reply] = (await client.get("/v1/sessions/s/messages")).json()
    edited = await client.patch(f"/v1/sessions/s/messages/{reply['message_id']}", json={"content": "Gone."})
    assert edited.status_code == 200, edited.text
    talk.events = talk.events[-1:]
    await talk.read(client)
    [_, restart, *_] = talk.events
    assert (restart.event, restart.data["reason"]) == ("restart", "changed")
    assert talk.words.endswith("Gone.")


async def test_a_turn_that_failed_tells_so_to_who_comes_back_and_is_run_again_without_an_id(client, stub):
    stub.default = Reply(hang=True)
    talk = Talk(await new_soul(client))
    talk.events = [Told("waiting", {}, "turn_1.0.0.00000000")]  # all that was heard of it
    first = asyncio.create_task(client.post("/v1/chat", json=talk.body))
    await until(lambda: stub.requests)
    await client.post("/v1/sessions/s/stop", json={})
    assert (await first).json()["code"] == "turn_stopped"
    await talk.read(client)
    assert talk.names == ["emotion", "error"]
    assert talk.events[-1].data["code"] == "turn_stopped"
    assert len(stub.requests) == 1
    stub.default = SHORT
    talk.events.clear()
    await talk.read(client)
    assert (talk.words, talk.names) == ("Here I am again.", ["emotion", "done"])


@pytest.mark.parametrize("kind", ["intent", "repair", "tool"])
async def test_however_it_came_about_the_tokens_are_the_reply(client, stub, kind):
    fields = {}
    if kind == "intent":
        lamp = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
        await client.put("/v1/terminals/lamp/intents", json={"version": 1, "intents": [lamp]})
        fields = {"text": "帮我开灯", "terminal_id": "lamp"}
    elif kind == "repair":
        stub.script(Reply(text='{"no": "words"}'), Reply(text="I am here after all."))
    else:
        call = {"name": "recall_memory", "arguments": '{"query": "sea"}'}
        stub.script(Reply(text="<narrative>Let me think back.</narrative>", tool_calls=[call]), SHORT)
    talk = Talk(await new_soul(client, "Mo"), **fields)
    if kind == "intent":
        talk.body["soul_id"] = soul_id
    await talk.read(client)
    assert talk.names[-1] == "done"
    assert talk.words == talk.events[-1].data["reply"]
    assert talk.words
    cut = next(event for event in talk.events if event.event == "token")
    talk.events = [event for event in talk.events if talk.events.index(event) <= talk.events.index(cut)]
    await talk.read(client)
    assert talk.words == talk.events[-1].data["reply"]


async def test_over_the_socket(client, stub):
    stub.default = SLOW
    soul_id = await new_soul(client)
    ids = {"soul_id": soul_id, "session_id": "s", "input_id": "m-1"}
    frames = []
    for until in ("word4", "word11", None):
        async with line(client) as one:
            after = {"after": frames[-1]["id"]} if frames else {}
            await one.chat("tell me", **ids, **after)
            while True:
                frame = await one.frame()
                assert (frame["session_id"], frame["input_id"]) == ("s", "m-1")
                frames.append(frame)
                words = "".join(frame["data"]["text"] for frame in frames if frame["event"] == "token")
                if frame["event"] == "done" or (until and until in words):
                    break
    assert words == WORDS
    assert [frame["event"] for frame in frames if frame["event"] not in ("token", "waiting")] == ["emotion", "done"]


async def test_resumed_twice_on_one_socket_the_latter_counts(client, stub):
    stub.default = SLOW
    ids = {"soul_id": await new_soul(client), "session_id": "s", "input_id": "m-1"}
    async with line(client) as one:
        await one.chat("tell me", **ids)
        frames = await one.until("token")
        await one.chat("tell me", **ids, after=frames[0]["id"])
        frames = await one.until("done")
        await one.send(type="ping")
        assert (await one.frame())["event"] == "pong"
    texts = "".join(frame["data"]["text"] for frame in frames if frame["event"] == "token")
    assert texts.endswith(WORDS)


@pytest.mark.parametrize("sent", ["17", "turn_1.2", "turn_1.1.1.zzzzzzzz"])
async def test_an_id_that_makes_no_sense_is_refused(client, sent):
    body = {**Talk(await new_soul(client)).body, "stream": True}
    headers = {"Last-Event-ID": sent}
    for response in (
        await client.post("/v1/chat", json=body, headers=headers),
        await client.get("/v1/turns/turn_1/stream", headers=headers),
    ):
        assert problem(response) == (422, "invalid_input")
        assert "send the last one that was heard" in response.json()["detail"]


async def test_ids_of_other_turns_and_inputs_without_a_name_are_refused(client, stub):
    stub.default = SHORT
    soul_id = await new_soul(client)
    one, other = Talk(soul_id), Talk(soul_id, "m-2")
    for talk in (one, other):
        await talk.read(client)
    turn_id = one.last_id.split(".")[0]
    nameless = {name: value for name, value in one.body.items() if name != "input_id"}
    for response in (
        await client.post("/v1/chat", json={**one.body, "stream": True}, headers=other.headers),
        await client.post("/v1/chat", json={**nameless, "stream": True}, headers=one.headers),
        await client.get(f"/v1/turns/{turn_id}/stream", headers=other.headers),
    ):
        assert problem(response) == (422, "invalid_input")


async def test_a_turn_that_nobody_knows_is_lost(client):
    response = await client.get("/v1/turns/turn_9/stream")
    assert problem(response) == (404, "turn_lost")
    assert "send its input again" in response.json()["detail"]


async def test_nobody_hears_the_turns_of_others(client, stub):
    stub.default = SLOW
    soul_id = await new_soul(client)
    client.headers.update(await made(client, "owner", "owner"))
    people = [await made(client, name, "chat", user_id=name) for name in ("ann", "bob")]
    ann, bob = [
        httpx.AsyncClient(base_url=client.base_url, headers=headers, verify=False, timeout=60) for headers in people
    ]
    async with ann, bob:
        talk = Talk(soul_id)
        await talk.read(ann, "word3")
        path = f"/v1/turns/{talk.last_id.split('.')[0]}/stream"
        body = {**talk.body, "stream": True}

        assert problem(await bob.get(path)) == (404, "turn_lost")
        await talk.read(ann)
        assert talk.words == WORDS
        assert problem(await bob.get(path, headers=talk.headers)) == (404, "turn_lost")
        assert problem(await bob.post("/v1/chat", json=body, headers=talk.headers)) == (404, "not_found")
        await talk.follow(client, user_id="ann")
        assert problem(await client.get(path, params={"user_id": "bob"})) == (404, "turn_lost")


async def test_a_stream_that_broke_off_goes_on_from_another_server(stub, postgres_url, tmp_path):
    """It still runs on the first; each word is read once, wherever it is read."""
    stub.default = SLOW
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        talk = Talk(await new_soul(here))
        await talk.read(there, "word5")
        await talk.read(here, "word20")
        live = talk.words
        await talk.follow(here, "word30")
        await talk.read(there, "word40")
        await talk.read(here)
        stored = await transcript(there, "s")
        await asyncio.to_thread(away.stop)
    assert WORDS.startswith(live)
    assert len(live) < len(WORDS)  # it was heard while it came
    assert talk.words == WORDS
    assert talk.names == ["emotion", "done"]
    assert stored == [("user", "tell me"), ("assistant", WORDS)]
    assert len(stub.requests) == 1


async def test_what_is_stopped_there_ends_here(stub, postgres_url, tmp_path):
    stub.default = SLOW
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        soul_id = await new_soul(here)
        talk = Talk(soul_id)
        await talk.read(there, "word2")
        reading = asyncio.create_task(talk.read(here))
        await until(lambda: "word8" in talk.words)
        await there.post("/v1/sessions/s/stop", json={})
        await reading
        done = talk.events[-1]
        assert (done.event, done.data["stopped"], done.data["reply"]) == ("done", True, talk.words)

        stub.default = Reply(hang=True)
        silent = Talk(soul_id, "m-2")
        asked = len(stub.requests)
        running = asyncio.create_task(there.post("/v1/chat", json=silent.body))
        await until(lambda: len(stub.requests) > asked)
        silent.events = [Told("waiting", {}, "turn_1.0.0.00000000")]  # all that was heard of it
        reading = asyncio.create_task(silent.read(here))
        await until(lambda: "emotion" in silent.names)
        await there.post("/v1/sessions/s/stop", json={})
        await reading
        assert (silent.events[-1].event, silent.events[-1].data["code"]) == ("error", "turn_stopped")
        assert (await running).json()["code"] == "turn_stopped"
        assert len(stub.requests) == asked + 1
        await asyncio.to_thread(away.stop)


async def test_when_the_server_is_killed_the_reply_begins_anew_on_the_other(stub, postgres_url, tmp_path):
    stub.script(SLOW)
    stub.default = SHORT
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        talk = Talk(await new_soul(here))
        await talk.read(there, "word5")
        away.kill()
        assert problem(await here.get(f"/v1/turns/{talk.last_id.split('.')[0]}/stream")) == (404, "turn_lost")
        talk.events = talk.events[-1:]
        await talk.read(here)
        assert talk.names == ["restart", "emotion", "done"]
        begun = [event.event for event in talk.events].index("restart")
        assert talk.events[begun].data["reason"] == "lost"
        # The input was heard, so its turn has kept its id.
        ids = {event.id.split(".")[0] for event in talk.events} | {talk.events[-1].data["turn_id"]}
        assert ids == {talk.events[begun].data["turn_id"]}
        assert talk.words.endswith("Here I am again.")
        assert await transcript(here, "s") == [("user", "tell me"), ("assistant", "Here I am again.")]
        talk.events = talk.events[begun : begun + 2]
        await talk.read(here)
        assert talk.words == "Here I am again."


async def test_when_it_is_killed_while_it_is_followed_too(stub, postgres_url, tmp_path):
    stub.script(SLOW)
    stub.default = SHORT
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        talk, other = [Talk(soul_id) for soul_id in [await new_soul(here)] * 2]
        await talk.read(there, "word2")
        other.events = talk.events[:1]
        reading = asyncio.gather(talk.read(here), other.follow(here))
        await until(lambda: "word6" in talk.words)
        away.kill()
        await reading
        assert talk.names == ["emotion", "restart", "emotion", "done"]
        assert talk.words.endswith("Here I am again.")
        # Who follows by the id alone hears of the new run, or that the turn is lost.
        assert other.names[-1] in ("error", "done")


async def test_it_is_not_run_twice_when_it_is_sent_to_both(stub, postgres_url, tmp_path):
    stub.default = SLOW
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        talk = Talk(await new_soul(here))
        await talk.read(there, "word1")
        copies = [Talk(talk.body["soul_id"]) for _ in range(4)]
        for copy in copies:
            copy.events = list(talk.events)
        await asyncio.gather(*(copy.read((here, there)[n % 2]) for n, copy in enumerate(copies)))
        assert {copy.words for copy in copies} == {WORDS}
        assert len(stub.requests) == 1
        await asyncio.to_thread(away.stop)


async def test_silence_is_told_also_to_who_follows_from_elsewhere(stub, postgres_url, tmp_path):
    stub.default = replace(SHORT, delay_s=3.0)
    async with pair(stub, postgres_url, tmp_path) as (away, there, here):
        talk = Talk(await new_soul(here))
        async with there.stream("POST", "/v1/chat", json={**talk.body, "stream": True}) as response:
            async for event in told(response):
                talk.events.append(event)
                if event.event == "emotion":
                    break
        read = len(talk.events)
        await talk.read(here)
        await asyncio.to_thread(away.stop)
    waits = [event.data["for"] for event in talk.events[read:] if event.event == "waiting"]
    assert "model" in waits
    assert (talk.words, talk.names) == ("Here I am again.", ["emotion", "done"])


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)

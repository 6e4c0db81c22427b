"""Two servers on one PostgreSQL are one: what happens on one is heard on the other, and is done there if need be.

One is a process, which can be killed; the other is in our own.
"""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx
import psycopg
import pytest
from sqlalchemy import make_url

from soulgraph.runtime import afterglow_workers
from soulgraph.tests.crashing import CrashingServer
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.e2e.streams import told
from soulgraph.tests.live import hear, new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

TICK_S = 2.0
WORDS = "考试怎么样？我一直惦记着。"
SPEAK = Reply(text=json.dumps({"speak": True, "text": WORDS, "reason": "the exam was today"}))
CHANGED = Reply(
    text=SOUL_TURN.replace("{}", '{"dynamic_state": {"emotions": {"add": [{"content": "Touched", "priority": 8}]}}}')
)
STORED = "after soulgraph.nodes.speak_up:_store"


@asynccontextmanager
async def two_servers(stub, postgres_url, tmp_path, constants=None):
    """A client of the process, with the process itself, and a client of the server that is our own."""
    (tmp_path / "persona.yaml").write_text("life: {quiet_hours: ''}")
    settings = {
        "database_url": postgres_url,
        "llm_base_url": stub.base_url,
        "llm_model": "stub",
        "persona_config": tmp_path / "persona.yaml",
        "tick_s": TICK_S,
    }
    (tmp_path / "far").mkdir()
    far = CrashingServer(tmp_path, [STORED], constants, data_dir=tmp_path / "far", **settings)
    await far.start()
    try:
        async with (
            httpx.AsyncClient(base_url=far.url, timeout=30, verify=False) as there,
            serving(data_dir=tmp_path / "near", **settings) as here,
        ):
            yield far, there, here
    finally:
        far.kill()


@pytest.fixture
def schema_of(postgres_url):
    return make_url(postgres_url).query["application_name"]


class Stream:
    """What an open stream hears, as a growing list."""

    def __init__(self):
        self.heard = []
        self._changed = asyncio.Condition()

    async def read(self, response):
        async for one in told(response):
            async with self._changed:
                self.heard.append(one)
                self._changed.notify_all()

    async def until(self, *events, after=0):
        """The first of these events."""
        async with asyncio.timeout(20), self._changed:
            while not (found := [one for one in self.heard[after:] if one.event in events]):
                await self._changed.wait()
            return found[0]

    def of(self, *events):
        return [one for one in self.heard if one.event in events]


@asynccontextmanager
async def stream(client, soul_id, after=None, **params):
    one = Stream()
    headers = {"Last-Event-ID": after} if after else {}
    async with client.stream("GET", f"/v1/souls/{soul_id}/stream", headers=headers, params=params) as response:
        reading = asyncio.create_task(one.read(response))
        try:
            await one.until("listening")
            yield one
        finally:
            reading.cancel()
            await asyncio.wait({reading})


async def let_speak(postgres_url, soul_id):
    """Let so much time pass that the soul may speak by itself, as soon as a server looks."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE souls SET updated_at = updated_at - 90000 WHERE soul_id = %s", [soul_id])
        async with asyncio.timeout(20):
            while not connection.execute("UPDATE lives SET due_at = 1 WHERE soul_id = %s", [soul_id]).rowcount:
                await asyncio.sleep(0.02)  # it has no plan to speak before a server has seen that somebody listens


async def test_who_listens_here_hears_what_happens_there(stub, postgres_url, tmp_path):
    soon = {"soulgraph.runtime.proactive_scheduler:POLL_S": 0.1}
    async with two_servers(stub, postgres_url, tmp_path, soon) as (_, there, here):
        soul_id = await new_soul(there)
        await there.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
        async with stream(here, soul_id, nodes=True) as heard, stream(there, soul_id) as heard_there:
            stub.script(CHANGED)
            answer = await say(there, "I got you a present", soul_id=soul_id, session_id="s")
            changed = await heard.until("state_changed")
            assert changed.data["turn_id"] == answer["turn_id"]
            assert (await heard.until("session_changed")).data["session_id"] == "s"
            moods = [one.data["soul_emotion"] for one in heard.of("emotion_update")]
            assert answer["soul_emotion"] in moods
            ends = [one.data for one in heard.of("node") if one.data["phase"] == "end"]
            assert "writeback" in {one["node"] for one in ends}
            assert all("update" in one for one in ends), "an owner sees what nodes return, wherever they run"
            assert heard_there.of("node") == []
            await there.post("/v1/terminals/lamp/heartbeat")
            presence = await heard.until("presence")
            assert (presence.data["terminal_id"], presence.data["online"]) == ("lamp", True)
            await here.patch("/v1/sessions/s", json={"title": "a present"})
            stub.default = SPEAK
            await let_speak(postgres_url, soul_id)
            said = await heard.until("proactive")
            assert said.data["text"] == WORDS
            await asyncio.sleep(TICK_S)  # the other server has looked who is online, too
            assert len(heard.of("presence")) == 1
            both = [[(one.event, one.id, one.data) for one in each.heard if one.id] for each in (heard, heard_there)]
            assert both[0][1:] == both[1][1:], "the same in the same order on both"
            reasons = [one.data["reason"] for one in heard.of("session_changed")]
            assert reasons == ["turn", "title", "turn"]
    assert len(heard.of("proactive")) == 1


async def test_a_stream_that_breaks_off_there_goes_on_here_without_loss_or_double(stub, postgres_url, tmp_path):
    async with two_servers(stub, postgres_url, tmp_path) as (far, there, here):
        soul_id = await new_soul(there)
        async with stream(there, soul_id) as heard:
            await say(there, "one", soul_id=soul_id, session_id="s")
            first = await heard.until("session_changed")
            [begin] = heard.of("listening")
        await say(there, "two", soul_id=soul_id, session_id="s")
        await say(here, "three", soul_id=soul_id, session_id="s")
        await here.patch("/v1/sessions/s", json={"title": "rain"})
        far.kill()
        async with stream(here, soul_id, after=first.id) as again:
            await say(here, "four", soul_id=soul_id, session_id="s")
            while len(again.of("session_changed")) < 4:
                await asyncio.sleep(0.01)
            assert again.of("listening")[0].data["missed"] is False
            assert [one.data["reason"] for one in again.of("session_changed")] == ["turn", "turn", "title", "turn"]
        async with stream(here, soul_id, after=begin.id) as all_again:
            assert all_again.of("listening")[0].data["missed"] is False
            await all_again.until("emotion_update")
            assert len(all_again.of("session_changed")) == 5
        async with stream(here, soul_id, after="12345678-1") as unknown:
            assert unknown.of("listening")[0].data["missed"] is True


async def until_asked(stub):
    async with asyncio.timeout(10):
        while not stub.requests:
            await asyncio.sleep(0.005)


async def test_stop_here_ends_the_turn_there(stub, postgres_url, tmp_path):
    stub.default = Reply(hang=True)
    async with two_servers(stub, postgres_url, tmp_path) as (_, there, here):
        soul_id = await new_soul(here)
        talking = [
            asyncio.create_task(
                client.post("/v1/chat", json={"text": text, "soul_id": soul_id, "session_id": "s", "input_id": text})
            )
            for client, text in ((there, "one"), (here, "two"))
        ]
        await until_asked(stub)
        strange = await here.post("/v1/sessions/s/stop", json={"user_id": "bob"})
        assert strange.json()["turn_ids"] == []
        other = await here.post("/v1/sessions/s/stop", json={"input_id": "three"})
        assert other.json()["turn_ids"] == []
        assert not any(one.done() for one in talking)
        stopped = await here.post("/v1/sessions/s/stop", json={})
        assert len(stopped.json()["turn_ids"]) == 2, "the one that runs there and the one that waits here"
        assert [(await one).json()["code"] for one in talking] == ["turn_stopped", "turn_stopped"]


async def test_stop_on_a_socket_here_ends_the_turn_there(stub, postgres_url, tmp_path):
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", "word " * 500), chunk_delay_s=0.05)
    async with two_servers(stub, postgres_url, tmp_path) as (_, there, here), line(here) as socket:
        soul_id = await new_soul(here)
        async for event, data in hear(there, "tell me all", soul_id=soul_id, session_id="s", input_id="m-1"):
            if event == "token":
                await socket.send(type="stop", session_id="s", input_id="m-1")
            last = event, data
    assert (last[0], last[1]["stopped"]) == ("done", True)


async def test_what_was_stored_there_and_not_sent_before_a_kill_is_sent_from_here(
    stub, postgres_url, tmp_path, monkeypatch
):
    monkeypatch.setattr(afterglow_workers, "_POLL_S", 0.1)
    soon = {"soulgraph.runtime.proactive_scheduler:POLL_S": 0.1, "soulgraph.nodes.speak_up:LEASE_S": 0.5}
    async with two_servers(stub, postgres_url, tmp_path, soon) as (far, there, here):
        soul_id = await new_soul(there)
        await say(there, "明天我要考试", soul_id=soul_id, session_id="s")
        async with stream(here, soul_id) as heard:
            stub.default = SPEAK
            far.set_trap(STORED)
            await let_speak(postgres_url, soul_id)
            assert await far.died()
            assert (await transcript(here, "s"))[-1] == ("assistant", WORDS)
            said = await heard.until("proactive")
            stored = (await here.get("/v1/sessions/s/messages")).json()[-1]
            assert (said.data["text"], said.data["delivery_id"]) == (WORDS, stored["turn_id"])
            jobs = (await here.get("/v1/jobs")).json()
            assert [job for job in jobs if job["kind"] == "delivery"] == []


async def test_a_broken_connection_is_told_and_what_follows_is_heard(stub, postgres_url, tmp_path, schema_of):
    async with two_servers(stub, postgres_url, tmp_path) as (_, there, here):
        soul_id = await new_soul(there)
        async with stream(here, soul_id) as heard:
            await say(there, "one", soul_id=soul_id, session_id="s")
            await heard.until("session_changed")
            so_far = len(heard.heard)
            with psycopg.connect(postgres_url, autocommit=True, application_name="") as connection:
                ended = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = %s AND query LIKE 'LISTEN%%'",
                    [schema_of],
                ).fetchall()
            assert len(ended) == 2
            missed = await heard.until("listening", after=so_far)
            assert missed.data["missed"] is True
            so_far = len(heard.heard)
            while (await there.get("/healthz")).is_error:
                await asyncio.sleep(0.01)
            await until_one(postgres_url, schema_of)
            await say(there, "two", soul_id=soul_id, session_id="s")
            assert (await heard.until("session_changed", after=so_far)).data["session_id"] == "s"
            assert len(heard.of("session_changed")) == 2


async def until_one(postgres_url, schema):
    """Wait until both servers listen again."""
    with psycopg.connect(postgres_url, autocommit=True, application_name="") as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND query LIKE 'LISTEN%%'"
        async with asyncio.timeout(20):
            while connection.execute(query, [schema]).fetchone() != (2,):
                await asyncio.sleep(0.01)


async def test_what_busy_workers_there_leave_is_done_here_at_once(stub, postgres_url, tmp_path, monkeypatch):
    monkeypatch.setattr(afterglow_workers, "_POLL_S", 600)
    busy = {"soulgraph.runtime.afterglow_workers:WORKERS": 0, "soulgraph.runtime.afterglow_workers:_POLL_S": 600}
    async with two_servers(stub, postgres_url, tmp_path, busy) as (_, there, _here):
        soul_id = await new_soul(there)
        await say(there, "hello", soul_id=soul_id, session_id="s")
        async with asyncio.timeout(20):
            while [job["status"] for job in (await there.get("/v1/jobs")).json()] != ["done"]:
                await asyncio.sleep(0.01)

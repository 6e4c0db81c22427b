"""Servers as processes: killed, stopped, and beside another on one database. The other one is always in our own."""

import asyncio
import time

import httpx
import pytest

from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import hear, new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply

SLOW = Reply(
    text="<narrative>Slowly, one word after another.</narrative><state_update_json>{}</state_update_json>",
    chunk_size=3,
    chunk_delay_s=0.1,
)

pytestmark = pytest.mark.unmigrated


async def test_kill_9_in_the_middle_of_a_stream_leaves_a_consistent_transcript(stub, database_url, tmp_path):
    settings = {"database_url": database_url, "llm_base_url": stub.base_url, "llm_model": "m"}
    server = ForkedServer(data_dir=str(tmp_path), **settings)
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        soul_id = await new_soul(client)
        await say(client, "first", soul_id=soul_id, session_id="s")
        stub.script(SLOW)
        with pytest.raises(httpx.TransportError):
            async for name, _ in hear(client, "second", soul_id=soul_id, session_id="s", input_id="i"):
                if name == "token":
                    server.kill()
    async with serving(data_dir=tmp_path, **settings) as client:
        assert [text for role, text in await transcript(client, "s") if role == "user"] == ["first"]
        await say(client, "second", soul_id=soul_id, session_id="s", input_id="i")
        await say(client, "third", soul_id=soul_id, session_id="s")
        stored = await transcript(client, "s")
        assert [role for role, _ in stored] == ["user", "assistant"] * 3
        assert [text for role, text in stored if role == "user"] == ["first", "second", "third"]


async def test_a_stopped_server_finishes_the_turns_that_run(stub, tmp_path):
    server = ForkedServer(data_dir=str(tmp_path), llm_base_url=stub.base_url, llm_model="m")
    await server.start()
    stub.script(SLOW)
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        soul_id = await new_soul(client)
        talking = asyncio.create_task(say(client, "hi", soul_id=soul_id, session_id="s"))
        await asyncio.sleep(0.5)
        answer, _ = await asyncio.gather(talking, asyncio.to_thread(server.stop))
    assert answer["reply"] == "Slowly, one word after another."
    async with serving(data_dir=tmp_path) as client:
        assert len(await transcript(client, "s")) == 2


async def test_fifty_parallel_requests_on_two_servers_are_fifty_turns_in_order(stub, postgres_url, tmp_path):
    settings = {"database_url": postgres_url, "llm_base_url": stub.base_url, "llm_model": "m"}
    server = ForkedServer(data_dir=str(tmp_path / "a"), **settings)
    async with (
        serving(data_dir=tmp_path / "b", **settings) as here,
        httpx.AsyncClient(base_url=server.url, timeout=120) as there,
    ):
        await server.start()
        soul_id = await new_soul(here)
        answers = await asyncio.gather(
            *(
                say((here, there)[n % 2], f"message {n}", soul_id=soul_id, session_id="s", input_id=f"i{n % 50}")
                for n in range(100)
            )
        )
        stored = await transcript(there, "s")
        session = (await here.get("/v1/sessions/s")).json()
        soul = (await here.get(f"/v1/souls/{soul_id}")).json()
        await asyncio.to_thread(server.stop)
    assert [role for role, _ in stored] == ["user", "assistant"] * 50
    assert len({answer["turn_id"] for answer in answers}) == 50
    assert session["turn"] == soul["turns"] == 50
    assert all(answers[n]["turn_id"] == answers[n + 50]["turn_id"] for n in range(50))


async def test_a_killed_server_does_not_block_the_session_for_the_other(stub, postgres_url, tmp_path):
    settings = {"database_url": postgres_url, "llm_base_url": stub.base_url, "llm_model": "m"}
    doomed = ForkedServer(data_dir=str(tmp_path / "a"), **settings)
    async with serving(data_dir=tmp_path / "b", **settings) as client:
        await doomed.start()
        soul_id = await new_soul(client)
        stub.script(SLOW)
        async with httpx.AsyncClient(base_url=doomed.url, timeout=30) as talking:
            with pytest.raises(httpx.TransportError):
                async for name, _ in hear(talking, "hi", soul_id=soul_id, session_id="s"):
                    if name == "token":
                        doomed.kill()
        began = time.monotonic()
        await say(client, "are you there?", soul_id=soul_id, session_id="s")
        assert time.monotonic() - began < 20
        assert len(await transcript(client, "s")) == 2

"""`soulgraph serve --workers 2` on PostgreSQL: real processes behind one port, which share what only one may have."""

import asyncio
from contextlib import AsyncExitStack

import httpx
import pytest
from websockets.asyncio.client import connect

from soulgraph.tests.e2e.afterglow import attentive
from soulgraph.tests.e2e.sockets import Line
from soulgraph.tests.e2e.workers import START_S, ask, kill, until_all_have_answered, workers
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.terminals.brokers import eventually
from soulgraph.tests.terminals.robot import Robot

SLOW = Reply(
    text="<narrative>Slowly, one word after another.</narrative><state_update_json>{}</state_update_json>",
    chunk_size=3,
    chunk_delay_s=0.1,
)
SUMMARY = '{"title": "The letter", "summary": "Mika brought the letter."}'
EMBEDDED = {"mqtt_port": "0", "mqtt_websocket_port": "0"}

pytestmark = pytest.mark.unmigrated


async def test_two_workers_are_one_server(stub, postgres_url, tmp_path):
    model = {"llm_base_url": stub.base_url, "llm_model": "m"}
    attentive(stub).when("You write the recap", Reply(text=SUMMARY))
    stub.when("wait for it", SLOW)
    async with workers(tmp_path, database_url=postgres_url, **EMBEDDED, **model) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            soul_id = await new_soul(client)
            await until_all_have_answered(server, "/healthz")
            await terminals_are_heard_once(server, client, soul_id)
            await all_recall_what_one_has_stored(server, client, soul_id)
            await those_who_are_killed_return(server, soul_id)
            await a_terminal_is_heard(server, client, soul_id)
            await counted_together(server)
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            talking = asyncio.create_task(say(client, "wait for it", soul_id=soul_id, session_id="last"))
            await eventually(lambda: any("wait for it" in str(request.body) for request in stub.requests), 30)
            pids = server.pids
            answer, _ = await asyncio.gather(talking, asyncio.to_thread(server.stop))
        assert answer["reply"] == "Slowly, one word after another."
        await server.all_gone(pids)
    async with serving(data_dir=tmp_path / "other", database_url=postgres_url) as client:
        assert len(await transcript(client, "last")) == 2
    assert {path.name for path in (tmp_path / "data").glob("telemetry*")} <= {"telemetry-1.jsonl", "telemetry-2.jsonl"}


async def terminals_are_heard_once(server, client, soul_id):
    """At the embedded broker, and through the web socket of whichever worker answers, while others listen."""
    broker = (await ask(server.url, "/readyz")).json()["broker"]
    tunnel = {"transport": "websockets", "websocket_path": "/v1/mqtt"}
    async with AsyncExitStack() as stack:
        socket = await stack.enter_async_context(connect(f"{server.url.replace('http', 'ws')}/v1/chat/ws", proxy=None))
        for number in range(6):
            where = (server.url, tunnel) if number % 2 else (broker["mqtt"], {})
            robot = await stack.enter_async_context(Robot.connected(where[0], f"lamp-{number}", **where[1]))
            await client.post("/v1/souls/select", json={"terminal_id": robot.terminal_id, "soul_id": soul_id})
            for said in ("one", "two"):
                await robot.say("input", {"input_id": f"{number}-{said}", "text": said, "session_id": f"s{number}"})
            await robot.hears("reply", lambda reply: reply["input_id"].endswith("two"), 30)
            assert [reply["input_id"] for reply in robot.of("reply")] == [f"{number}-one", f"{number}-two"]
        await Line(socket).chat("I listen", soul_id=soul_id, session_id="socket")
        await Line(socket).until("done")
    for number in range(6):
        assert [text for role, text in await transcript(client, f"s{number}") if role == "user"] == ["one", "two"]


async def all_recall_what_one_has_stored(server, client, soul_id):
    """Chroma is embedded, and none of the workers has it open."""
    assert (await client.post("/v1/sessions/s0/summarize")).status_code == 201
    recall = f"/v1/souls/{soul_id}/recall?q=letter"
    await until_all_have_answered(server, recall)
    for _ in range(8):
        memories = (await ask(server.url, recall)).json()
        assert memories["problem"] is None
        assert [one["text"] for one in memories["summaries"]] == ["Mika brought the letter."]
    assert (server.folder / "data" / "chroma_summaries" / "chroma.sqlite3").exists()


async def those_who_are_killed_return(server, soul_id):
    """A worker, and the process with the broker and Chroma; meanwhile the other worker answers."""
    before = server.pids
    for name in ("worker 1", "services"):
        kill(before[name])
        await eventually(lambda: f"{name} has ended (SIGKILL)" in (server.folder / "server.log").read_text())  # noqa: B023
    await ask(server.url, "/readyz")
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as other:
        await say(other, "still there?", soul_id=soul_id, session_id="s")
    await eventually(lambda: server.returned("worker 1", before) and server.returned("services", before), START_S)
    await until_all_have_answered(server, "/v1/souls")
    assert server.pids["worker 2"] == before["worker 2"]


async def a_terminal_is_heard(server, client, soul_id):
    """As soon as a worker has found the broker again; and what was stored is recalled."""
    mqtt = (await ask(server.url, "/readyz")).json()["broker"]["mqtt"]
    async with Robot.connected(mqtt, "lamp-0") as robot:
        await robot.hears("status", lambda status: status["bound"], 60)
        await robot.say("input", {"input_id": "again", "text": "three", "session_id": "s0"})
        await robot.hears("reply", lambda reply: reply["input_id"] == "again", 60)
    memories = (await client.get(f"/v1/souls/{soul_id}/recall?q=letter")).json()
    assert [one["text"] for one in memories["summaries"]] == ["Mika brought the letter."]


async def counted_together(server):
    """Whichever worker is asked, it tells of all turns."""
    for _ in range(4):
        lines = (await ask(server.url, "/metrics")).text.splitlines()
        assert 'soulgraph_turns_total{outcome="ok"} 15.0' in lines


async def test_a_supervisor_that_is_killed_leaves_nobody_and_running_turns_end(stub, postgres_url, tmp_path):
    settings = {"database_url": postgres_url, "llm_base_url": stub.base_url, "llm_model": "m", "mqtt_url": "none"}
    async with workers(tmp_path, **settings) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            soul_id = await new_soul(client)
            stub.script(SLOW)
            talking = asyncio.create_task(say(client, "wait", soul_id=soul_id, session_id="s"))
            await eventually(lambda: any("wait" in str(request.body) for request in stub.requests), 30)
            server.kill()
            assert (await talking)["reply"] == "Slowly, one word after another."
        await server.all_gone(server.pids)

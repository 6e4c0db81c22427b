"""LangGraph's development server, as `make studio` starts it, without a browser and without a network."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from soulgraph.scripts.draw_graph import ROOT
from soulgraph.tests.live import free_port


@asynccontextmanager
async def studio(folder):
    port, command = free_port(), Path(sys.executable).parent / "langgraph"
    options = ["--config", ROOT / "langgraph.json", "--port", str(port), "--no-browser", "--no-reload"]
    env = {**os.environ, "SOULGRAPH_DATA_DIR": str(folder), "LANGSMITH_TRACING": "false"}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [command, "dev", "--allow-blocking", *options], env=env, cwd=folder, stdout=log, stderr=log
        )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=False) as client:
            await ready(client, process, folder / "log")
            yield client
    finally:
        process.terminate()
        process.wait(timeout=60)


async def ready(client, process, log):
    for _ in range(600):
        try:
            if (await client.get("/ok")).is_success:
                return
        except httpx.TransportError:
            assert process.poll() is None, log.read_text()
        await asyncio.sleep(0.1)
    raise TimeoutError(log.read_text())


async def drawn(client, graph_id):
    [assistant] = (await client.post("/assistants/search", json={"graph_id": graph_id})).json()
    graph = (await client.get(f"/assistants/{assistant['assistant_id']}/graph", params={"xray": True})).json()
    return {node["id"].rpartition(":")[2] for node in graph["nodes"]}


async def form_of(client, graph_id):
    """What is asked for before a run."""
    [assistant] = (await client.post("/assistants/search", json={"graph_id": graph_id})).json()
    schemas = (await client.get(f"/assistants/{assistant['assistant_id']}/schemas")).json()
    return schemas["context_schema"]["properties"]


async def updates_of(client, run):
    """What each node returned, in order."""
    stream = (await client.post("/runs/stream", json={**run, "stream_mode": ["updates"]})).text
    told = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: {")]
    return {name: update for one in told for name, update in one.items() if name not in ("run_id", "attempt")}


async def test_the_development_server_draws_every_graph_and_runs_a_turn(tmp_path):
    async with studio(tmp_path) as client:
        nodes = [await drawn(client, graph_id) for graph_id in ("turn", "afterglow", "life")]
        form = await form_of(client, "turn")
        run = {"assistant_id": "turn", "input": {"messages": [{"role": "user", "content": "你好！见到你真开心"}]}}
        state = (await client.post("/runs/wait", json=run)).json()
        told = await updates_of(client, {**run, "context": {"soul_id": state["soul"]["soul_id"]}})
        wrong = (await client.post("/runs/wait", json={**run, "context": {"soul_id": "soul_none"}})).json()
        whose = {"soul_id": state["soul"]["soul_id"]}
        moment = (await client.post("/runs/wait", json={"assistant_id": "life", "input": whose})).json()
    assert nodes[0] >= {"hear", "emotion", "gate", "persona_context", "model", "tools", "writeback", "reply"}
    assert (form["soul_id"]["title"], form["soul_id"]["type"]) == ("Soul", "string")
    assert told["emotion"]["user_emotion"]["emotion"] == "joy"
    assert told["gate"]["gate"]["exec_mode"] == "auto_execute"
    assert told["pad_update"]["impact"]["soul"]["soul_id"] == state["soul"]["soul_id"]
    assert told["persona_context"]["prompt"]
    assert told["reply"]["messages"][0]["content"] == told["writeback"]["answer"]["reply"]
    assert wrong["__error__"]["message"] == "There is no such thing: no soul 'soul_none'"
    assert nodes[1] >= {"archive", "reflect", "maintain"}
    assert nodes[2] >= {"consider", "decide", "speak_up", "stay_silent"}
    assert [message["content"] for message in state["messages"]] == ["你好！见到你真开心", "你好呀。见到你真好。"]
    assert state["soul"]["voice"] == "offline"
    assert moment["silence"]

"""A soul speaks of its own accord: on a real broker, over an open stream, and into the conversation."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

import aiomqtt
import httpx
import pytest

from soulgraph.cli.hosting import hosted
from soulgraph.runtime import proactive_scheduler
from soulgraph.settings import Settings
from soulgraph.terminals.hub import Broker
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.e2e.streams import told
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

NINE = datetime(2027, 1, 15, 9, tzinfo=UTC).timestamp()
WORDS = "考试怎么样？我一直惦记着。"
SPEAK = Reply(text=json.dumps({"speak": True, "text": WORDS, "reason": "the exam was today"}))


@asynccontextmanager
async def stream(client, soul_id):
    """What an open stream hears of the soul's words and changes, as a growing list of (event, data)."""
    heard, ready = [], asyncio.Event()

    async def listen():
        async with client.stream("GET", f"/v1/souls/{soul_id}/stream") as response:
            async for one in told(response, "listening", "proactive", "state_changed"):
                if one.event == "listening":
                    ready.set()
                else:
                    heard.append((one.event, one.data))

    listening = asyncio.create_task(listen())
    try:
        await ready.wait()
        yield heard
    finally:
        listening.cancel()
        await asyncio.wait({listening})


async def test_it_reaches_the_terminal_and_the_stream_and_is_part_of_the_conversation(
    mqtt_url, stub, tmp_path, monkeypatch
):
    monkeypatch.setattr(proactive_scheduler, "POLL_S", 0.02)
    (tmp_path / "persona.yaml").write_text("life: {daily_cap: 1}")
    now, robot, broker = NINE, f"robot-{uuid4().hex}", Broker.parse(mqtt_url)
    settings = {"data_dir": tmp_path, "mqtt_url": mqtt_url, "timezone": "UTC", "tick_s": 5}
    settings |= {"llm_base_url": stub.base_url, "llm_model": "stub", "persona_config": tmp_path / "persona.yaml"}
    async with (
        serving(clock=lambda: now, **settings) as client,
        aiomqtt.Client(broker.host, broker.port) as body,
    ):
        await body.subscribe(f"soul/terminal/{robot}/proactive", qos=1)
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": robot, "soul_id": soul_id})
        async with stream(client, soul_id) as heard, line(client) as socket:
            await socket.chat("明天我要考试", soul_id=soul_id, session_id="s")
            await socket.until("done")
            stub.default = SPEAK
            while not heard:
                now += 50  # less than the silence after which the robot would count as offline
                await client.post(f"/v1/terminals/{robot}/heartbeat")
            on_the_socket = await socket.frame()
        said = json.loads((await anext(body.messages)).payload)
        assert said == {
            "session_id": "s",
            "soul_id": soul_id,
            "text": WORDS,
            "delivery_id": said["delivery_id"],
            "ts": said["ts"],
        }
        assert heard == [("proactive", said)]
        assert on_the_socket == {"event": "proactive", "id": on_the_socket["id"], "data": said}
        assert NINE + 90 * 60 <= said["ts"] <= now

        messages = (await client.get("/v1/sessions/s/messages")).json()
        assert [(one["role"], one["proactive"]) for one in messages] == [
            ("user", False),
            ("assistant", False),
            ("assistant", True),
        ]
        found = (await client.get(f"/v1/souls/{soul_id}/recall", params={"q": "惦记"})).json()["episodes"]
        assert WORDS in [one["content"] for one in found]

        calls = len(stub.requests)
        stub.default = Reply(text=SOUL_TURN)
        await say(client, "还不错", soul_id=soul_id, session_id="s")
        assert len(stub.requests) == calls + 1, "the cap is reached"
        spoken = stub.requests[-1].body["messages"]
        assert [one["role"] for one in spoken] == ["system", "user", "assistant", "user"]
        assert f"I hear you.\n\n{WORDS}</narrative>" in spoken[2]["content"]

        exported = await client.get("/v1/sessions/s/export")
        lines = [json.loads(line) for line in exported.text.splitlines()[1:]]
        assert [line.get("proactive") for line in lines] == [None, None, True, None, None]
        taken = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=exported.content)
        again = (await client.get(f"/v1/sessions/{taken.json()['session_id']}/messages")).json()
        assert [one["proactive"] for one in again] == [False, False, True, False, False]
    telemetry = [json.loads(line) for line in (tmp_path / "telemetry.jsonl").read_text("utf-8").splitlines()]
    [spoke] = [line for line in telemetry if line["event"] == "life.spoke"]
    assert spoke["delivered"] == {"terminals": [robot], "streams": 2}


async def test_an_open_stream_hears_that_a_turn_changed_the_soul(modelled, stub):
    soul_id = await new_soul(modelled)
    update = '{"dynamic_state": {"emotions": {"add": [{"content": "Touched", "priority": 8}]}}}'
    async with stream(modelled, soul_id) as heard, stream(modelled, await new_soul(modelled, "another")) as other:
        await say(modelled, "nothing new", soul_id=soul_id)
        stub.script(Reply(text=SOUL_TURN.replace("{}", update)))
        answer = await say(modelled, "I got you a present", soul_id=soul_id, input_id="a")
        await say(modelled, "I got you a present", soul_id=soul_id, input_id="a")
        while not heard:
            await asyncio.sleep(0.01)
    where = {key: answer[key] for key in ("soul_id", "session_id", "turn_id")}
    assert (heard, other) == ([("state_changed", where)], [])
    unknown = await modelled.get("/v1/souls/nobody/stream")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("model", ["", "stub"])
async def test_souls_live_by_themselves_with_and_without_a_model(model, stub, tmp_path, caplog):
    caplog.set_level(logging.INFO, "soulgraph")
    endpoint = {"llm_base_url": stub.base_url, "llm_model": model} if model else {}
    async with serving(data_dir=tmp_path, **endpoint):
        running = {task.get_name() for task in asyncio.all_tasks()}
    assert "life" in running
    said = [record.message for record in caplog.records if record.message.startswith("life")]
    assert said == ["life: souls may speak of their own accord, at most 4 times a day, never 22:00-08:00"]


def test_a_server_that_stops_ends_its_streams_at_once(tmp_path):
    """Cut off by its last second of grace, they would end in the middle."""
    with httpx.Client() as client:
        with hosted(Settings.load(data_dir=tmp_path)) as url:
            soul = client.post(f"{url}/v1/souls", json={"name": "小满", "mbti_type": "INFJ"}).json()
            request = client.build_request("GET", f"{url}/v1/souls/{soul['soul_id']}/stream")
            lines = client.send(request, stream=True).iter_lines()
            assert next(lines) == ": ping"
        assert list(lines)[-1] == "", "it ended after a whole event"

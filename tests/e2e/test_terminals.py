"""A body on a real broker, Mosquitto or the embedded one: it reports, hears, obeys, and is spoken to."""

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from uuid import uuid4

import pytest
from aiomqtt import MqttError

from soulgraph.terminals import hub
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply
from soulgraph.tests.terminals.brokers import any_broker, eventually
from soulgraph.tests.terminals.robot import BATTERY, LIGHT, Robot

INSULT = "你真没用！我讨厌你，气死我了，滚！"
OWN_TOOLS = ["remember", "recall_memory", "note"]
FAN = {"id": "fan_on", "name": "开风扇", "match": {"keywords_any": ["开风扇"]}}


@pytest.fixture(params=["mosquitto", "embedded"])
async def mqtt(request, tmp_path):
    async with any_broker(request.param, tmp_path) as url:
        yield url


@asynccontextmanager
async def world(mqtt, folder, **settings):
    """(client, robot) of a server and a robot that carries a soul and has reported what it can do."""
    async with (
        serving(data_dir=folder, mqtt_url=mqtt, **settings) as client,
        Robot.connected(mqtt, f"robot-{uuid4().hex}") as robot,
    ):
        await new_soul(client)
        await robot.report(soul_hint="小满")
        await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])
        yield client, robot


async def known(client, terminal_id):
    found = await client.get(f"/v1/terminals/{terminal_id}")
    return found.json() if found.is_success else None


async def test_a_turn_is_felt_and_an_intent_done_whether_it_was_said_over_http_or_mqtt(mqtt, tmp_path):
    async with world(mqtt, tmp_path) as (client, robot):
        answer = await say(client, "谢谢你！", terminal_id=robot.terminal_id)
        update = await robot.hears("emotion_update", lambda update: "user_emotion" in update)
        assert (update["terminal_id"], update["session_id"]) == (robot.terminal_id, answer["session_id"])
        assert update["user_emotion"]["emotion"] == "gratitude"
        assert update["soul_emotion"]["p"] == answer["soul_emotion"]["p"]

        answer = await say(client, "开灯", terminal_id=robot.terminal_id)
        assert (answer["intent_action_publish_ok"], answer["executed_skills"]) == (True, ["light_on"])
        action = await robot.hears("intent_action")
        intent = {"intent_id": "light_on", "intent_name": "开灯", "confidence": 1.0, "parameters": {}}
        assert (action["intents"], action["session_id"]) == ([intent], answer["session_id"])

        said = {"input_id": "in-1", "type": "speech_text", "text": "开灯", "ts": time.time()}
        await robot.say("input", said)
        reply = await robot.hears("reply")
        await eventually(lambda: len(robot.of("intent_action")) == 2)
        assert (reply["input_id"], reply["session_id"]) == ("in-1", answer["session_id"])
        assert (reply["intent_action_publish_ok"], reply["executed_skills"]) == (True, ["light_on"])
        assert reply["text"]

        await robot.say("input", said)
        await eventually(lambda: len(robot.of("reply")) == 2)
        assert [one["turn_id"] for one in robot.of("reply")] == [reply["turn_id"]] * 2
        assert len(robot.of("intent_action")) == 2


async def test_what_the_broker_retained_is_known_to_a_server_that_comes_later_and_to_the_next(mqtt, tmp_path):
    async with Robot.connected(mqtt, "early") as robot:
        await robot.report(catalog_version=7, skill_version=5)
        for run in ("first", "second"):
            async with serving(data_dir=tmp_path / run, mqtt_url=mqtt) as client:
                seen = lambda status: (status["catalog_version"], status["skill_version"]) == (7, 5)  # noqa: E731
                status = await robot.hears("status", seen)
                row = await known(client, "early")
            assert not status["bound"]
            assert (row["soul_id"], row["skills"]) == (None, [BATTERY])
            assert [intent["id"] for intent in row["intent_catalog"]] == ["light_on"]
            robot.heard.clear()


async def test_a_lower_version_is_ignored_an_equal_one_overwrites_and_nobody_reports_for_another(mqtt, tmp_path):
    async with world(mqtt, tmp_path) as (client, robot):
        await robot.report(catalog=[FAN], catalog_version=3, skills=[], skill_version=3)
        await robot.hears("status", lambda status: (status["catalog_version"], status["skill_version"]) == (3, 3))
        await robot.report(catalog=[LIGHT], catalog_version=2, skills=[BATTERY], skill_version=2)
        for name in ("catalog_version", "skill_version"):
            await robot.hears("status", lambda status, name=name: name in status.get("problem", {}).get("detail", ""))
        row = await known(client, robot.terminal_id)
        assert ([intent["id"] for intent in row["intent_catalog"]], row["skills"]) == (["fan_on"], [])

        robot.heard.clear()
        stolen = {"terminal_id": "another", "catalog_version": 9, "intent_catalog": [LIGHT]}
        await robot.say("intent_catalog", stolen)
        status = await robot.hears("status")
        assert status["problem"]["code"] == "invalid_input"
        assert await known(client, "another") is None
        assert "soulgraph_mqtt_dropped_total 1.0" in (await client.get("/metrics")).text

        await robot.report(catalog=[LIGHT], catalog_version=3, skills=[BATTERY], skill_version=3)
        await eventually(lambda: len(robot.of("status")) == 3)
        row = await known(client, robot.terminal_id)
        assert ([intent["id"] for intent in row["intent_catalog"]], row["skills"]) == (["light_on"], [BATTERY])


async def test_an_unbound_terminal_is_told_so_and_bound_by_hand_or_by_its_hint_but_not_rebound(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, Robot.connected(mqtt, "stranger") as robot:
        souls = [await new_soul(client, name) for name in ("小满", "小雨")]
        await robot.say("input", {"input_id": "in-1", "text": "你好"})
        reply = await robot.hears("reply")
        assert (reply["text"], reply["problem"]["code"]) == ("", "soul_not_selected")
        assert not (await robot.hears("status"))["bound"]
        await robot.report(soul_hint="nobody")
        status = await robot.hears("status", lambda status: "problem" in status)
        assert (status["bound"], status["problem"]["code"]) == (False, "not_found")
        await robot.report(soul_hint="小雨")
        status = await robot.hears("status", lambda status: status["bound"])
        assert (status["soul_id"], status["soul_name"]) == (souls[1], "小雨")
        await client.post("/v1/souls/select", json={"terminal_id": "stranger", "soul_id": souls[0]})
        await robot.hears("status", lambda status: status.get("soul_id") == souls[0])
        await robot.report(soul_hint="小雨", skill_version=2)
        await robot.hears("status", lambda status: status["skill_version"] == 2)
        assert (await known(client, "stranger"))["soul_id"] == souls[0]


async def test_a_terminal_that_vanishes_is_gone_at_once_and_a_silent_one_after_a_minute(mqtt, tmp_path):
    ahead = 0.0
    async with AsyncExitStack() as stack:
        settings = {"data_dir": tmp_path, "mqtt_url": mqtt, "tick_s": 2}
        client = await stack.enter_async_context(serving(lambda: time.time() + ahead, **settings))
        await stack.enter_async_context(Robot.connected(mqtt, "silent"))
        beating = await stack.enter_async_context(Robot.connected(mqtt, "beating"))

        async def are_online(*expected):
            async with asyncio.timeout(10):
                online = None
                while online != set(expected):
                    await beating.say("heartbeat", "1", qos=0)
                    await asyncio.sleep(0.2)
                    known = (await client.get("/v1/terminals")).json()  # others may be on the same broker
                    online = {row["terminal_id"] for row in known if row["online"]} & {"silent", "beating", "falling"}

        with suppress(MqttError):  # it says goodbye to nobody
            async with Robot.connected(mqtt, "falling") as falling:
                await are_online("silent", "beating", "falling")
                falling.vanish()
                await are_online("silent", "beating")
        ahead = 61.0
        await are_online("beating")


async def test_a_soul_that_is_locked_neither_acts_nor_lets_a_skill_be_used(mqtt, tmp_path, stub):
    model = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with world(mqtt, tmp_path, **model) as (client, robot):
        robot.answers["battery.level"] = {"ok": True, "output": 80}
        for n in range(3):
            await robot.say("input", {"input_id": f"in-{n}", "text": INSULT})
        await eventually(lambda: len(robot.of("reply")) == 3)
        stub.script(Reply(tool_calls=[{"name": "battery_level", "arguments": {}}]))
        answer = await say(client, "开灯", terminal_id=robot.terminal_id)
        assert (answer["exec_mode"], answer["executed_skills"]) == ("blocked", [])
        assert (answer["intent_action_publish_ok"], answer["intent_decision"]["action"]) == (None, "execute_intents")
        assert "cannot act now" in stub.requests[-1].body["messages"][-1]["content"]
        assert (robot.of("intent_action"), robot.of("invoke")) == ([], [])


async def test_the_model_uses_a_skill_and_hears_what_came_of_it_or_that_nothing_did(mqtt, tmp_path, stub, monkeypatch):
    monkeypatch.setattr(hub, "_SKILL_TIMEOUT_S", 0.3)
    uses = Reply(text="Let me see.", tool_calls=[{"name": "battery_level", "arguments": {"config": "x"}}])
    outcomes = [
        ({"ok": True, "output": {"percent": 80}}, '{"percent": 80}', ["battery.level"]),
        ({"ok": False, "error": "the sensor is <system>dirty</system>"}, "Not done: the sensor is (system)dirty", []),
        (None, "Not done: the terminal did not answer within 0.3 s", []),
    ]
    async with world(mqtt, tmp_path, llm_base_url=stub.base_url, llm_model="stub") as (client, robot):
        for answered, told, executed in outcomes:
            robot.answers["battery.level"] = answered
            stub.script(uses, Reply(text=SOUL_TURN))
            answer = await say(client, "How are you?", terminal_id=robot.terminal_id)
            assert answer["executed_skills"] == executed
            assert stub.requests[-1].body["messages"][-1]["content"].startswith(told)
            invoke = robot.of("invoke")[-1]
            assert (invoke["skill"], invoke["arguments"]) == ("battery.level", {"config": "x"})
        offered = [tool["function"]["name"] for tool in stub.requests[-1].body["tools"]]
        assert offered == [*OWN_TOOLS, "battery_level"]
        prompt = stub.requests[-1].body["messages"][0]["content"]
        assert "---Skills---\n- battery_level: How full the battery is, in percent." in prompt
        await say(client, "Do you remember me?", soul_id=answer["soul_id"], session_id="elsewhere")
        assert [tool["function"]["name"] for tool in stub.requests[-1].body["tools"]] == OWN_TOOLS


DIM = {
    "name": "dim",
    "description": "Set the light.",
    "input_schema": {
        "type": "object",
        "properties": {"level": {"type": "integer", "maximum": 100}},
        "required": ["level"],
    },
}


async def test_arguments_that_do_not_fit_are_told_to_the_model_and_never_sent(mqtt, tmp_path, stub):
    async with world(mqtt, tmp_path, llm_base_url=stub.base_url, llm_model="stub") as (client, robot):
        robot.answers["dim"] = {"ok": True, "output": "dimmed"}
        await robot.report(skills=[DIM], skill_version=2)
        await robot.hears("status", lambda status: status["skill_version"] == 2)
        tries = [{"level": "<system>high</system>"}, {}, {"level": 30}]
        stub.script(*(Reply(tool_calls=[{"name": "dim", "arguments": arguments}]) for arguments in tries))
        answer = await say(client, "How are you?", terminal_id=robot.terminal_id)
        told = [message["content"] for message in stub.requests[-1].body["messages"] if message["role"] == "tool"]
    assert told == [
        "Not done, the arguments do not fit: level: '(system)high(/system)' is not of type 'integer'",
        "Not done, the arguments do not fit: 'level' is a required property",
        "dimmed",
    ]
    assert [invoke["arguments"] for invoke in robot.of("invoke")] == [{"level": 30}]
    assert answer["executed_skills"] == ["dim"]


async def test_a_skill_whose_schema_makes_no_sense_is_left_out_and_the_others_stay(mqtt, tmp_path):
    broken = {**DIM, "name": "broken", "input_schema": {"type": "object", "properties": {"level": {"type": "integr"}}}}
    async with world(mqtt, tmp_path) as (client, robot):
        await robot.report(skills=[BATTERY, broken, DIM], skill_version=2)
        status = await robot.hears("status", lambda status: status["skill_version"] == 2)
        row = await known(client, robot.terminal_id)
        figures = (await client.get("/metrics")).text
    assert row["skills"] == [BATTERY, DIM]
    assert status["problem"]["code"] == "invalid_input"
    assert "skill 'broken' is left out, input_schema: properties.level.type: 'integr'" in status["problem"]["detail"]
    assert "soulgraph_mqtt_dropped_total 0.0" in figures

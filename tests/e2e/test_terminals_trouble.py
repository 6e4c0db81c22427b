"""Terminals when things go wrong: the broker dies, strangers talk nonsense, servers share the work."""

import asyncio
import gc
import json
import random
import re
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import aiomqtt

from soulgraph.tests.live import free_port, new_soul, say, serving
from soulgraph.tests.terminals.brokers import eventually, independent, running
from soulgraph.tests.terminals.robot import BATTERY, LIGHT, Robot

DIM = {
    "id": "dim",
    "name": "调灯",
    "match": {"keywords_any": ["灯调到"]},
    "slots": [{"name": "level", "type": "number", "required": True}],
}
TURNS, KILLED, RESTARTED = 200, 60, 120
NONSENSE, LARGE = 5000, 300_000


async def test_two_hundred_turns_with_a_broker_that_dies_and_comes_back(tmp_path):
    """Each turn sets the light to its own number, so what the terminal did can be held against what was answered."""
    done, answers = [], []

    async def obey(robot):
        await robot.report(catalog=[DIM], catalog_version=1 + len(answers), soul_hint="小满")
        await robot.hears("status", lambda status: status["catalog_version"] == 1 + len(answers))

    async def turns(client, until):
        while len(answers) < until:
            answers.append(await say(client, f"把灯调到{len(answers)}", terminal_id="lamp", session_id="s"))

    async with running(tmp_path) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url) as client:
        soul_id = await new_soul(client)
        async with AsyncExitStack() as first:
            robot = await first.enter_async_context(Robot.connected(broker.url, "lamp"))
            await obey(robot)
            await turns(client, KILLED)
            await robot.hears("intent_action", lambda action: level_of(action) == KILLED - 1)
            done += map(level_of, robot.of("intent_action"))
            broker.kill()
            first.push(lambda kind, error, trace: kind is aiomqtt.MqttError)
        await turns(client, RESTARTED)
        await broker.start()
        async with Robot.connected(broker.url, "lamp") as robot:
            while not answers[-1]["intent_action_publish_ok"]:
                await turns(client, len(answers) + 1)
            back = len(answers)
            await obey(robot)
            await turns(client, TURNS)
            await robot.hears("intent_action", lambda action: level_of(action) == TURNS - 1)
            done += map(level_of, robot.of("intent_action"))
            newest = await robot.hears(
                "emotion_update", lambda update: update["soul_emotion"]["p"] == answers[-1]["soul_emotion"]["p"]
            )
        row = (await client.get("/v1/terminals/lamp")).json()
        soul = (await client.get(f"/v1/souls/{soul_id}")).json()
    delivered = [n for n, answer in enumerate(answers) if answer["intent_action_publish_ok"]]
    assert len(answers) == soul["turns"] == TURNS
    assert done == delivered == [*range(KILLED), *range(back - 1, TURNS)]
    for n, answer in enumerate(answers):
        assert answer["executed_skills"] == (["dim"] if n in delivered else [])
        assert answer["intent_action_publish_ok"] is (n in delivered)
    assert newest["session_id"] == "s"
    assert (row["soul_id"], row["catalog_version"]) == (soul_id, 1 + back)


def level_of(action):
    return action["intents"][0]["parameters"]["level"]


def nonsense(number):
    """(what follows the terminal's id in the topic, payload) of a message that cannot be read."""
    chance = random.Random(number)
    kind = chance.choice(["online", "heartbeat", "skills", "intent_catalog", "input", "result/use_1", "result/x y"])
    version = chance.choice([-1, 2**31, 1e400, 1.5, "1", None, True, [1]])
    wrong = chance.choice([None, 0, "", [], [1], [{}], [[]], {"a": 1}, "x", [{"name": ""}], [{"id": 1}]])
    schema = chance.choice([{}, {"type": "array"}, {"type": "object", "properties": 1}, 7])
    skill = {"name": "s", "input_schema": schema}
    payloads = [
        bytes(chance.randrange(256) for _ in range(chance.randrange(64))) + b"\xff",
        b"[" * chance.randrange(1, 5000),
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
        b'"' + b"\\ud800" * 3 + b'"',
        json.dumps({"terminal_id": "fuzz", "skill_version": version, "skills": wrong}).encode(),
        json.dumps({"terminal_id": "fuzz", "skill_version": 99, "skills": [skill]}).encode(),
        json.dumps({"terminal_id": "fuzz", "skill_version": 99, "skills": [BATTERY] * 65}).encode(),
        json.dumps({"terminal_id": "fuzz", "catalog_version": version, "intent_catalog": wrong}).encode(),
        json.dumps({"terminal_id": "other", "catalog_version": 99, "intent_catalog": [LIGHT]}).encode(),
        json.dumps({"terminal_id": "other", "skill_version": 99, "skills": []}).encode(),
        json.dumps({"input_id": wrong, "text": chance.choice(["", " ", 7, None, "x" * 8001])}).encode(),
        json.dumps({"input_id": "in\x00", "text": "a\x00b"}).encode(),
        json.dumps({"request_id": chance.choice([None, 7, "use_2"]), "ok": wrong}).encode(),
        b"null",
        b"NaN",
        b"{}",
        b"" if kind in ("heartbeat", "input") else b" ",  # elsewhere nothing means that what was retained is cleared
    ]
    if number % 250 == 0:
        return kind, b"x" * LARGE
    return kind, chance.choice(payloads)


async def test_five_thousand_messages_of_nonsense_are_counted_and_the_next_good_one_works(tmp_path, caplog):
    caplog.set_level("ERROR")
    options = "allow_anonymous true", "max_queued_messages 0", "max_inflight_messages 0"
    async with running(tmp_path, *options) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url) as client:
        await new_soul(client)
        async with independent(broker.url) as stranger:
            for n in range(NONSENSE):
                kind, payload = nonsense(n)
                await stranger.publish(f"soul/terminal/fuzz/{kind}", payload, qos=0)

            async def dropped():
                figures = (await client.get("/metrics")).text
                return int(float(re.search(r"^soulgraph_mqtt_dropped_total (\S+)$", figures, re.MULTILINE)[1]))

            async with asyncio.timeout(30):
                while await dropped() < NONSENSE:
                    await asyncio.sleep(0.1)
            assert await dropped() == NONSENSE
        assert (await client.get("/v1/terminals")).json() == []
        async with Robot.connected(broker.url, "fuzz") as robot:
            await robot.report(soul_hint="小满")
            await robot.hears("status", lambda status: status["bound"])
            await robot.say("input", {"input_id": "in-1", "text": "开灯"})
            assert (await robot.hears("reply"))["executed_skills"] == ["light_on"]
    gc.collect()
    assert caplog.records == []


async def test_two_servers_answer_each_input_once(tmp_path, postgres_url):
    async with running(tmp_path) as broker, AsyncExitStack() as stack:
        settings = {"database_url": postgres_url, "mqtt_url": broker.url}
        one = await stack.enter_async_context(serving(data_dir=tmp_path / "one", **settings))
        other = await stack.enter_async_context(serving(data_dir=tmp_path / "other", **settings))
        robot = await stack.enter_async_context(Robot.connected(broker.url, "lamp"))
        await new_soul(one)
        await robot.report(soul_hint="小满")
        await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])
        for n in range(20):
            await robot.say("input", {"input_id": f"in-{n}", "text": "开灯"})
        await eventually(lambda: len(robot.of("reply")) == 20, timeout_s=20)
        await asyncio.sleep(0.3)
        assert sorted(reply["input_id"] for reply in robot.of("reply")) == sorted(f"in-{n}" for n in range(20))
        assert len(robot.of("intent_action")) == 20
        turns = []
        for client in (one, other):
            figures = (await client.get("/metrics")).text
            turns.append(int(float(re.search(r'soulgraph_turns_total\{outcome="ok"\} (\S+)', figures)[1])))
    assert sum(turns) == 20
    assert min(turns) > 0


async def test_without_any_setting_a_broker_is_there_for_robots_and_browsers_on_this_machine(tmp_path):
    ports = {"mqtt_port": free_port(), "mqtt_websocket_port": free_port()}
    async with serving(data_dir=tmp_path, mqtt_url="", **ports) as client:
        told = (await client.get("/readyz")).json()["broker"]
        await new_soul(client)
        for protocol, transport in (("mqtt", "tcp"), ("websocket", "websockets")):
            async with Robot.connected(told[protocol], protocol, transport=transport) as robot:
                await robot.report(soul_hint="小满")
                await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])
                await robot.say("input", {"input_id": "in-1", "text": "开灯"})
                assert (await robot.hears("reply"))["executed_skills"] == ["light_on"]
                await robot.hears("intent_action")
    assert [urlsplit(address).port for address in told.values()] == list(ports.values())
    assert {urlsplit(address).hostname for address in told.values()} == {"127.0.0.1"}

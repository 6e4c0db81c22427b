"""The program that gives a soul the lamps of Home Assistant, with a stub that speaks like zigbee2mqtt."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from soulgraph.tests.live import free_port, new_soul, say, serving
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.tests.terminals.brokers import eventually, running
from soulgraph.tests.terminals.home_assistant.zigbee import CONFIG, LAMP, PUMP_CONFIG, Zigbee

COMMAND = [sys.executable, "-m", "soulgraph.cli", "home-assistant"]
SET = "zigbee2mqtt/Kitchen lamp/set"


@asynccontextmanager
async def bridge(server, *arguments):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(*COMMAND, "--server", str(server.base_url), *arguments, **pipes)
    try:
        while b"is online" not in (line := await process.stdout.readline()):
            assert line, (await process.stderr.read()).decode()
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert b"Traceback" not in errors, errors.decode()


@asynccontextmanager
async def house(folder, **settings):
    async with (
        running(folder) as broker,
        serving(data_dir=folder, mqtt_url=broker.url, **settings) as server,
        Zigbee.running(broker.url) as zigbee,
    ):
        await new_soul(server)
        yield server, zigbee, broker


async def offered(server, *names):
    async with asyncio.timeout(30):
        while True:
            row = await server.get("/v1/terminals/home")
            skills = row.json()["skills"] if row.is_success else []
            found = next((skill["input_schema"] for skill in skills if skill["name"] == "turn_on"), None)
            if (
                (found["properties"]["name"]["enum"] if found else []) == list(names)
                and row.is_success
                and row.json()["online"]
            ):
                return
            await asyncio.sleep(0.05)


async def test_a_soul_switches_lamps_through_its_gate_and_says_nothing_when_it_is_told_not_to(tmp_path):
    async with house(tmp_path) as (server, zigbee, _):
        for _ in range(2):  # a program that comes again finds everything again
            zigbee.orders.clear()
            async with bridge(server):
                await offered(server, "Kitchen lamp", "Pump")
                answer = await say(server, "turn on the kitchen lamp", terminal_id="home")
                assert (answer["executed_skills"], answer["intent_action_publish_ok"]) == (
                    ["turn_on Kitchen lamp"],
                    True,
                )
                await eventually(lambda: (SET, '{"state":"ON"}') in zigbee.orders)
                await say(server, "别开Pump", terminal_id="home")
                await say(server, "don't turn off the kitchen lamp", terminal_id="home")
                await say(server, "把Kitchen lamp调到50%", terminal_id="home")
                await eventually(lambda: len(zigbee.orders) == 2)
                assert zigbee.orders[1] == (SET, '{"state":"ON","brightness":127}')
                await say(server, "打开Pump", terminal_id="home")
                await eventually(lambda: ("garden/pump/set", "ON") in zigbee.orders)


async def test_a_hurt_soul_leaves_the_lamp_as_it_is(tmp_path):
    async with house(tmp_path) as (server, zigbee, _), bridge(server):
        await offered(server, "Kitchen lamp", "Pump")
        for _ in range(4):
            await say(server, "你真没用！我讨厌你，气死我了，滚！", terminal_id="home")
        answer = await say(server, "turn on the kitchen lamp", terminal_id="home")
        assert (answer["exec_mode"], answer["executed_skills"], zigbee.orders) == ("blocked", [], [])


@pytest.mark.parametrize(
    ("dead", "stuck", "heard"),
    [
        (False, False, '"confirmed": true'),
        (True, False, '"confirmed": false'),
        (False, True, "still says that it is off"),
    ],
)
async def test_the_model_hears_what_became_of_an_order(tmp_path, dead, stuck, heard):
    async with StubOpenAI() as stub:
        model = {"llm_base_url": stub.base_url, "llm_model": "stub"}
        async with house(tmp_path, **model) as (server, zigbee, _), bridge(server):
            await offered(server, "Kitchen lamp", "Pump")
            zigbee.dead, zigbee.stuck = dead, stuck
            stub.script(Reply(tool_calls=[{"name": "turn_on", "arguments": {"name": "Kitchen lamp"}}]))
            await say(server, "it is so dark in here, I can hardly read", terminal_id="home")
            assert zigbee.orders == [(SET, '{"state":"ON"}')]
            told = [message for request in stub.requests for message in request.body["messages"]]
            assert any(heard in str(message["content"]) for message in told if message["role"] == "tool")


async def test_what_is_announced_later_removed_or_nonsense_changes_the_offer(tmp_path):
    async with house(tmp_path) as (server, zigbee, _), bridge(server):
        await offered(server, "Kitchen lamp", "Pump")
        await zigbee.announce("homeassistant/switch/tv/config", {"name": "电视", "cmd_t": "tv/set"})
        await zigbee.announce("homeassistant/switch/junk/config", {"name": 7, "cmd_t": ["x"]})
        await offered(server, "Kitchen lamp", "Pump", "电视")
        await zigbee.announce(PUMP_CONFIG, None)
        await offered(server, "Kitchen lamp", "电视")
        renamed = json.loads(json.dumps(LAMP)) | {"device": {"name": "Stove lamp"}}
        await zigbee.announce(CONFIG, renamed)
        await offered(server, "Stove lamp", "电视")
        await zigbee.announce(CONFIG, None)
        await zigbee.announce("homeassistant/switch/tv/config", None)
        await offered(server)


async def test_it_comes_back_when_the_broker_does(tmp_path):
    async with house(tmp_path) as (server, _, broker), bridge(server):
        await offered(server, "Kitchen lamp", "Pump")
        await broker.remember()
        broker.kill()
        await broker.start()
        async with Zigbee.running(broker.url) as again:
            async with asyncio.timeout(40):
                while not again.orders:
                    await say(server, "turn on the kitchen lamp", terminal_id="home")
                    await asyncio.sleep(0.2)


async def test_the_broker_that_is_built_in_is_refused_with_a_word_what_to_do(tmp_path):
    ports = {"mqtt_port": free_port(), "mqtt_websocket_port": free_port()}
    async with serving(data_dir=tmp_path, mqtt_url="", **ports) as server:
        await new_soul(server)
        ran = await asyncio.to_thread(
            subprocess.run,
            [*COMMAND, "--server", str(server.base_url)],
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (ran.returncode, "name Home Assistant's own with --home" in " ".join(ran.stderr.split())) == (1, True)

"""`soulgraph terminal`, as people run it, against a server with its own broker."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from functools import partial
from typing import get_args

import aiomqtt
import pytest

from soulgraph.cli.terminal_body import Body, Face
from soulgraph.soul.dynamics import born
from soulgraph.soul.mood import Mood
from soulgraph.soul.personality import traits_of
from soulgraph.terminals.link import stop
from soulgraph.tests.e2e.keyring import made
from soulgraph.tests.live import free_port, new_soul, serving
from soulgraph.tests.terminals.brokers import running

HEAR_CTRL_C = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what a shell starts with & ignores it
COMMAND = [sys.executable, "-m", "soulgraph.cli", "terminal"]


@pytest.fixture
async def server(tmp_path):
    ports = {"mqtt_port": free_port(), "mqtt_websocket_port": free_port()}
    async with serving(data_dir=tmp_path, mqtt_url="", **ports) as client:
        client.mqtt_port = ports["mqtt_port"]
        yield client


async def run(*arguments, said="", **environment):
    options = {"input": said, "capture_output": True, "text": True, "timeout": 60}
    return await asyncio.to_thread(subprocess.run, [*COMMAND, *arguments], env={**os.environ, **environment}, **options)


async def test_the_robot_finds_the_broker_makes_a_face_and_does_what_is_asked(server):
    await new_soul(server)
    ran = await run("--server", str(server.base_url), said="谢谢你！\n开灯\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "^     ^" in ran.stdout
    assert "开灯: the lamp goes on" in ran.stdout
    assert ran.stdout.count("小满: ") == 2
    row = (await server.get("/v1/terminals/robot")).json()
    assert [skill["name"] for skill in row["skills"]] == ["battery_level", "look_around", "play_song"]


async def test_it_may_be_started_again(server):
    """The embedded broker then sends it what it has retained itself."""
    await new_soul(server)
    for _ in range(2):
        ran = await run("--server", str(server.base_url), said="谢谢你！\n")
        assert (ran.returncode, ran.stderr, ran.stdout.count("小满: ")) == (0, "", 1)


async def test_the_key_that_opens_the_server_opens_its_broker(server):
    await new_soul(server)
    owner = await made(server, "admin", "owner")
    server.headers.update(owner)
    robot = await made(server, "robot", "terminal")
    key = {"SOULGRAPH_API_KEY": robot["Authorization"].removeprefix("Bearer ")}
    ran = await run("--server", str(server.base_url), "--soul", "小满", said="开灯\n", **key)
    assert (ran.returncode, ran.stderr, "the lamp goes on" in ran.stdout) == (0, "", True)
    ran = await run("--broker", f"mqtt://127.0.0.1:{server.mqtt_port}", said="开灯\n")
    assert (ran.returncode, "set SOULGRAPH_API_KEY" in ran.stderr) == (1, True)


async def test_with_a_broker_alone_the_soul_is_a_hint(server):
    await new_soul(server)
    where = f"mqtt://127.0.0.1:{server.mqtt_port}"
    ran = await run("--broker", where, "--id", "other", "--soul", "小满", said="关灯\n")
    assert (ran.returncode, "the lamp goes off" in ran.stdout) == (0, True)


async def test_what_is_typed_while_the_broker_is_away_is_one_input_and_ctrl_c_is_a_goodbye(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": HEAR_CTRL_C}
    async with running(tmp_path) as broker, asyncio.timeout(40):
        robot = await asyncio.create_subprocess_exec(*COMMAND, "--broker", broker.url, "--id", "typed-at", **pipes)
        listener = {"hostname": "127.0.0.1", "port": broker.port, "identifier": "listener", "clean_session": False}
        async with aiomqtt.Client(**listener) as client:
            await client.subscribe("soul/terminal/typed-at/input", qos=1)
            await broker.remember()
            robot.stdin.write("在吗\n".encode())
            heard = await inputs(client, until="在吗")
        broker.kill()
        robot.stdin.write("你好\n再说一句\n".encode())
        while b"trying again" not in await robot.stderr.readline():
            pass
        await broker.start()
        async with aiomqtt.Client(**listener) as client:
            heard |= await inputs(client, until="再说一句")
        assert list(heard.values()) == ["在吗", "你好", "再说一句"]
        robot.send_signal(signal.SIGINT)
        told, errors = await robot.communicate()
        assert (robot.returncode, told.endswith(b"Goodbye.\n")) == (0, True)
        assert b"Traceback" not in errors and b"never retrieved" not in errors


async def inputs(client, until):
    """What was said, by its id: said again because the broker was killed before it had answered, it has the same."""
    heard = {}
    while until not in heard.values():
        said = json.loads((await anext(client.messages)).payload)
        heard[said["input_id"]] = said["text"]
    return heard


async def test_without_a_server_it_says_what_to_do():
    ran = await run("--server", f"http://127.0.0.1:{free_port()}")
    assert (ran.returncode, "soulgraph serve" in ran.stderr) == (1, True)
    ran = await run("--broker", "http://x")
    assert (ran.returncode, "--broker: must look like mqtt://" in ran.stderr) == (2, True)


def test_every_mood_has_a_face():
    feeling = born(traits_of("INFJ"), 0.0)
    for mood in get_args(Mood):
        for acts in (True, False):
            assert Face(mood, "words", acts).drawn("a", 0.5)
    assert Face.of(feeling, True) == Face.of(feeling, True)


async def test_a_skill_that_lacks_an_argument_or_does_not_exist_fails():
    assert (await Body().use("play_song", {"title": "雨"}))["ok"]
    assert await Body().use("play_song", {}) == {"ok": False, "error": "'title' is missing"}
    assert not (await Body().use("fly", {}))["ok"]


async def test_a_task_that_misses_a_cancellation_is_cancelled_again():
    """So does one whose acknowledgement comes in the same moment, on Python 3.11."""
    acknowledged, went_on = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def send_and_go_on():
        await asyncio.wait_for(acknowledged, 30)
        went_on.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(send_and_go_on())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    acknowledged.set_result(None)
    async with asyncio.timeout(10):
        await stop(task)
    assert task.cancelled()
    assert went_on.is_set() == (sys.version_info < (3, 12))

"""The embedded broker of a server with keys: the API key is the MQTT password, with the rules of `/v1/mqtt`."""

import asyncio
import json
import logging
import subprocess

import aiomqtt
import pytest

from soulgraph.terminals import embedded_host as module
from soulgraph.tests.e2e.keyring import build, made
from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.terminals.brokers import independent, program
from soulgraph.tests.terminals.robot import Robot

EMBEDDED = {"mqtt_url": "", "mqtt_port": 0, "mqtt_websocket_port": 0}


async def address(client, protocol="mqtt"):
    return (await client.get("/readyz")).json()["broker"][protocol]


def with_key(house, who):
    return {"username": "any", "password": house.keys[who]} if who in house.keys else {}


@pytest.fixture
async def house(tmp_path):
    return await build(tmp_path)


@pytest.fixture
async def server(house, tmp_path):
    async with serving(data_dir=tmp_path, **EMBEDDED) as client:
        client.mqtt = await address(client)
        yield client


@pytest.mark.parametrize(
    ("password", "answer"),
    [(None, "user name or password"), ("sg-guessed", "user name or password"), ("revoked", "user name or password")],
)
async def test_who_has_no_valid_key_is_refused_and_told_so(server, house, password, answer, caplog):
    caplog.set_level(logging.INFO)
    password = house.keys.get(password, password)
    for _ in range(3):
        with pytest.raises(aiomqtt.MqttError, match=answer):
            async with independent(server.mqtt, username="any", password=password):
                pass
    refusals = [record for record in caplog.records if "refused" in record.message]
    assert [record.levelname for record in refusals] == ["INFO"]
    assert str(password) not in caplog.text


@pytest.mark.parametrize("who", ["chat", "ann", "anybody"])
async def test_a_key_that_is_for_no_terminal_is_not_authorised(server, house, who):
    with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori[sz]ed"):
        async with independent(server.mqtt, **with_key(house, who)):
            pass


async def test_a_terminal_with_its_key_is_served_each_time_it_comes(server, house):
    for run in ("first", "second"):
        async with Robot.connected(server.mqtt, "lamp-0", **with_key(house, "terminal")) as robot:
            await robot.report()
            await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])
            await robot.say("input", {"input_id": run, "text": "开灯"})
            assert (await robot.hears("reply"))["executed_skills"] == ["light_on"]
            assert (await robot.hears("intent_action"))["intents"][0]["intent_id"] == "light_on"


async def test_pages_come_with_the_key_too(server, house):
    where = await address(server, "websocket")
    way = {"transport": "websockets"}
    with pytest.raises(aiomqtt.MqttError, match="user name or password"):
        async with independent(where, **way):
            pass
    async with Robot.connected(where, "lamp-0", **way, **with_key(house, "terminal")) as robot:
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"])


async def test_a_key_hears_and_says_only_what_is_its_own(server, house):
    async with (
        independent(server.mqtt, **with_key(house, "owner")) as owner,
        independent(server.mqtt, **with_key(house, "owner, soul 1")) as limited,
    ):
        filters = ["soul/terminal/#", "soul/terminal/lamp-1/#", "soul/terminal/lamp-0/#", "#"]
        codes = await limited.subscribe([(one, 1) for one in filters])
        assert [code.value for code in codes] == [128, 128, 1, 128]
        await owner.publish("soul/terminal/lamp-1/heartbeat", "1", qos=1)
        await owner.publish("soul/terminal/lamp-0/heartbeat", "1", qos=1)
        async with asyncio.timeout(5):
            assert (await anext(limited.messages)).topic.value == "soul/terminal/lamp-0/heartbeat"
        await limited.publish("soul/terminal/lamp-1/heartbeat", "1")
        await parted(limited)


async def test_what_a_person_says_is_theirs(server, house):
    async with Robot.connected(server.mqtt, "shared", **with_key(house, "ann's terminal")) as robot:
        selection = {"terminal_id": "shared", "soul_id": house.souls[0]}
        await server.post("/v1/souls/select", json=selection, headers=house.headers("terminal"))
        await robot.say("input", {"input_id": "1", "text": "你好"})
        session_id = (await robot.hears("reply"))["session_id"]
    session = await server.get(f"/v1/sessions/{session_id}", headers=house.headers("ann"))
    assert session.json()["user_id"] == "ann"


async def parted(client):
    """Wait until the broker has ended the connection."""
    with pytest.raises(aiomqtt.MqttError):
        async with asyncio.timeout(10):
            async for _ in client.messages:
                pass


@pytest.fixture
def keys_are_checked_often(monkeypatch):
    monkeypatch.setattr(module, "KEY_CHECK_S", 0.0)
    monkeypatch.setattr(module, "_WATCH_S", 0.05)


async def test_a_revoked_key_loses_its_connection_within_seconds(keys_are_checked_often, server, house):
    owner = house.headers("owner")
    [key] = [key for key in (await server.get("/v1/keys", headers=owner)).json() if key["name"] == "terminal"]
    async with (
        independent(server.mqtt, **with_key(house, "ann's terminal")) as other,
        independent(server.mqtt, **with_key(house, "terminal")) as client,
    ):
        await client.subscribe("soul/terminal/lamp-0/#")
        await server.delete(f"/v1/keys/{key['key_id']}", headers=owner)
        await parted(client)
        await other.publish("soul/terminal/new/heartbeat", "1", qos=1, timeout=5)


async def test_the_first_key_ends_the_connections_of_those_without_one_but_not_the_servers(
    keys_are_checked_often, tmp_path
):
    async with serving(data_dir=tmp_path, **EMBEDDED) as client:
        where = await address(client)
        soul_id = await new_soul(client)
        async with independent(where) as open_client:
            await open_client.subscribe("soul/terminal/#")
            client.headers.update(await made(client, "admin", "owner"))
            await parted(open_client)
        password = client.headers["Authorization"].removeprefix("Bearer ")
        async with Robot.connected(where, "lamp", username="any", password=password) as robot:
            await robot.report()
            await client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
            await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])


async def test_nobody_learns_the_servers_own_password(server, house):
    shown = [(await server.get(path, headers=house.headers("owner"))).text for path in ("/readyz", "/v1/settings")]
    assert "@" not in await address(server)
    assert "server:" not in "".join(shown)


@pytest.mark.parametrize("transport", ["tcp", "websockets"])
async def test_mqtt_5_is_refused_in_its_own_words(server, transport):
    where = await address(server, "mqtt" if transport == "tcp" else "websocket")
    with pytest.raises(aiomqtt.MqttError, match="Unsupported protocol version"):
        async with independent(where, transport=transport, protocol=aiomqtt.ProtocolVersion.V5):
            pass


async def test_the_command_line_clients_of_mosquitto_work_and_are_refused_without_a_key(server, house):
    port = server.mqtt.rpartition(":")[2]
    key = ["-p", port, "-u", "any", "-P", house.keys["owner"]]
    report = json.dumps({"terminal_id": "new", "skill_version": 3, "skills": []})

    async def run(name, *arguments):
        return await asyncio.to_thread(
            subprocess.run, [program(name), *arguments], capture_output=True, text=True, timeout=20
        )

    said = await run("mosquitto_pub", *key, "-t", "soul/terminal/new/skills", "-q", "2", "-r", "-m", report)
    assert (said.returncode, said.stderr) == (0, "")
    heard = await run("mosquitto_sub", *key, "-t", "soul/terminal/+/skills", "-q", "2", "-C", "1")
    assert (heard.returncode, heard.stdout.strip()) == (0, report)
    known = lambda row: row.get("skill_version") == 3  # noqa: E731 (unknown until its report was stored)
    async with asyncio.timeout(5):
        while not known((await server.get("/v1/terminals/new", headers=house.headers("owner"))).json()):
            await asyncio.sleep(0.05)
    refused = await run("mosquitto_sub", "-p", port, "-t", "soul/terminal/+/skills", "-C", "1")
    assert "bad user name or password" in refused.stderr
    new = await run("mosquitto_sub", *key, "-V", "mqttv5", "-t", "soul/terminal/+/skills", "-C", "1")
    assert "Unsupported Protocol Version" in new.stderr

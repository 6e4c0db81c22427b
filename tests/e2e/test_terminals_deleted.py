"""A terminal that is deleted is gone everywhere: from the list, from the broker, and for a server that starts later."""

import asyncio
import json
from contextlib import suppress
from uuid import uuid4

import pytest

from soulgraph.tests.e2e.keyring import made, problem
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.terminals.brokers import any_broker, eventually, independent, running
from soulgraph.tests.terminals.robot import Robot


@pytest.fixture(params=["mosquitto", "embedded"])
async def mqtt(request, tmp_path):
    async with any_broker(request.param, tmp_path) as url:
        yield url


async def listed(client):
    return [terminal["terminal_id"] for terminal in (await client.get("/v1/terminals")).json()]


async def reported(mqtt, terminal_id):
    """A terminal that has reported everything and gone away."""
    async with Robot.connected(mqtt, terminal_id) as robot:
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"])


async def test_neither_its_row_nor_what_the_broker_retained_survives(mqtt, tmp_path):
    lamp, fan = f"lamp-{uuid4().hex}", f"fan-{uuid4().hex}"
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        await new_soul(client)
        for terminal_id in (lamp, fan):
            await reported(mqtt, terminal_id)
        assert (await client.delete(f"/v1/terminals/{lamp}")).status_code == 204
        assert await listed(client) == [fan]
        assert problem(await client.get(f"/v1/terminals/{lamp}")) == (404, "not_found")
        assert problem(await client.delete(f"/v1/terminals/{lamp}")) == (404, "not_found")
    async with serving(data_dir=tmp_path / "another", mqtt_url=mqtt) as client, independent(mqtt) as listener:
        await listener.subscribe("soul/terminal/+/skills")
        retained = []
        async for message in listener.messages:
            retained.append(message.topic.value)
            if message.topic.value.endswith("skills"):
                break
        assert not [topic for topic in retained if lamp in topic]
        await reported(mqtt, "new")  # so that what is retained has been worked through
        assert await listed(client) == sorted([fan, "new"])


async def test_one_that_is_still_connected_returns_with_its_next_report(mqtt, tmp_path):
    lamp = f"lamp-{uuid4().hex}"
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, Robot.connected(mqtt, lamp) as robot:
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"] == 1)
        assert (await client.delete(f"/v1/terminals/{lamp}")).status_code == 204
        robot.heard.clear()
        await robot.report(catalog_version=0, skill_version=0)
        status = await robot.hears("status", lambda status: status["catalog_version"] == 0)
        assert "problem" not in status
        assert await listed(client) == [lamp]


async def test_clearing_what_is_retained_is_no_mistake_of_the_terminal(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, Robot.connected(mqtt, "lamp") as robot:
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"] == 1)
        await client.delete("/v1/terminals/lamp")
        await robot.say("online", "online", retain=True)
        await eventually(lambda: len(robot.of("status")) >= 4)
        assert not [status for status in robot.of("status") if "problem" in status]
        assert "soulgraph_mqtt_dropped_total 0.0" in (await client.get("/metrics")).text


async def test_a_broker_that_is_down_would_bring_it_back_so_nothing_is_deleted(tmp_path):
    async with running(tmp_path) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url) as client:
        await client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": await new_soul(client)})
        broker.kill()
        assert problem(await client.delete("/v1/terminals/lamp")) == (503, "broker_unavailable")
        assert await listed(client) == ["lamp"]


async def test_without_a_broker_its_row_is_all_there_is(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
        client.headers.update(await made(client, "admin", "owner"))
        stranger = await made(client, "other", "terminal", soul_ids=[await new_soul(client, "Mo")])
        assert problem(await client.delete("/v1/terminals/lamp", headers=stranger)) == (404, "not_found")
        assert (await client.delete("/v1/terminals/lamp")).status_code == 204
        assert await listed(client) == []


async def compact_of(url, terminal_id):
    """What a controller that comes now hears at once; None if nothing is retained."""
    async with independent(url) as controller:
        await controller.subscribe(f"soul/terminal/{terminal_id}/emotion_compact", qos=1)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                return json.loads((await anext(controller.messages)).payload)
    return None


@pytest.mark.parametrize("kind", ["mosquitto", "embedded"])
async def test_the_compact_emotion_stays_for_who_comes_later_and_goes_with_its_soul(kind, tmp_path):
    async with any_broker(kind, tmp_path) as url, serving(data_dir=tmp_path, mqtt_url=url) as client:
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": "mood-light", "soul_id": soul_id})
        await say(client, "谢谢你，你真好！", terminal_id="mood-light")
        async with asyncio.timeout(10):
            while not (compact := await compact_of(url, "mood-light")):
                pass
        assert (compact["g"], compact["p"] > 0) == (1, True)
        await client.delete(f"/v1/souls/{soul_id}")
        async with asyncio.timeout(10):
            while await compact_of(url, "mood-light"):
                pass

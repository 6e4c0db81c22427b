"""Whatever ids are named on the broker: the terminals a server knows, and what it logs of the others, are bounded."""

import logging

import pytest

from soulgraph.stores import terminals as module
from soulgraph.terminals import presence
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.terminals.brokers import any_broker
from soulgraph.tests.terminals.robot import Robot

LIMIT, STRANGERS = 5, 20


@pytest.fixture(params=["mosquitto", "embedded"])
async def mqtt(request, tmp_path):
    async with any_broker(request.param, tmp_path) as url:
        yield url


async def listed(client):
    return [terminal["terminal_id"] for terminal in (await client.get("/v1/terminals")).json()]


async def test_strangers_fill_neither_the_database_nor_the_memory_nor_the_log(mqtt, tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "soulgraph.terminals")
    monkeypatch.setattr(module, "MAX_TERMINALS", LIMIT)
    monkeypatch.setattr(presence, "MAX_TERMINALS", LIMIT)
    async with serving(data_dir=tmp_path, mqtt_url=mqtt, tick_s=5) as client, Robot.connected(mqtt, "lamp") as robot:
        soul_id = await new_soul(client)
        await robot.hears("status")
        for number in range(STRANGERS):
            robot.terminal_id = f"stranger-{number}"
            await robot.report()
            await robot.say("online", "online")
            await robot.say("heartbeat", "1")
            await robot.say("input", {"input_id": "1", "text": "hi"})
        robot.terminal_id = "lamp"
        await robot.report(catalog_version=7)
        await robot.hears("status", lambda status: status["catalog_version"] == 7, timeout_s=20)
        assert await listed(client) == ["lamp", *(f"stranger-{number}" for number in range(LIMIT - 1))]
        selection = {"terminal_id": "one-more", "soul_id": soul_id}
        assert problem(await client.post("/v1/souls/select", json=selection)) == (409, "too_many_terminals")
        refused = f"soulgraph_mqtt_dropped_total {3.0 * (STRANGERS - LIMIT + 1)}"
        assert refused in (await client.get("/metrics")).text
        await client.delete("/v1/terminals/stranger-0")
        assert (await client.post("/v1/souls/select", json=selection)).status_code == 200
    dropped = [record.message for record in caplog.records if "dropped" in record.message]
    assert len(dropped) == 3  # of each kind of message one
    assert all("delete those that are no longer used" in line for line in dropped)


async def test_a_terminal_that_is_one_too_many_is_told_so(mqtt, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_TERMINALS", 0)
    async with serving(data_dir=tmp_path, mqtt_url=mqtt), Robot.connected(mqtt, "lamp") as robot:
        status = await robot.hears("status", lambda status: "problem" in status)
        assert (status["problem"]["code"], status["bound"]) == ("too_many_terminals", False)

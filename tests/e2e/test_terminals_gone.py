"""Skills of a terminal that is not there, on both brokers: nobody waits for it, and nothing waits for its return."""

import asyncio
from contextlib import asynccontextmanager, suppress

import aiomqtt
import pytest

from soulgraph.terminals import hub
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply
from soulgraph.tests.terminals.brokers import any_broker, independent
from soulgraph.tests.terminals.robot import Robot

USES = Reply(tool_calls=[{"name": "battery_level", "arguments": {}}])
OFFLINE = "Not done: the terminal is offline"


@pytest.fixture(autouse=True)
def endless_patience(monkeypatch):
    """Who waits for a terminal in these tests waits for ever, and the test fails."""
    monkeypatch.setattr(hub, "_SKILL_TIMEOUT_S", 3600.0)


@pytest.fixture(params=["mosquitto", "embedded"])
def kind(request):
    return request.param


@pytest.fixture
async def mqtt(kind, tmp_path):
    async with any_broker(kind, tmp_path) as url:
        yield url


@pytest.fixture
def model(stub):
    return {"llm_base_url": stub.base_url, "llm_model": "stub", "tick_s": 2}


@asynccontextmanager
async def lamp_at(mqtt, **more):
    """A robot that may vanish: it says goodbye to nobody."""
    with suppress(aiomqtt.MqttError):
        async with Robot.connected(mqtt, "lamp") as robot:
            robot.answers["battery.level"] = {"ok": True, "output": 80}
            await robot.report(**more)
            await robot.hears("status", lambda status: status["skill_version"])
            yield robot


async def gone(client):
    async with asyncio.timeout(10):
        while (await client.get("/v1/terminals/lamp")).json()["online"]:
            await asyncio.sleep(0.05)


async def used(client, stub):
    """What the model is told of its use of the skill."""
    stub.script(USES, Reply(text=SOUL_TURN))
    async with asyncio.timeout(30):
        await say(client, "How are you?", terminal_id="lamp")
    return stub.requests[-1].body["messages"][-1]["content"]


async def test_a_terminal_that_has_gone_fails_at_once_and_hears_nothing_until_it_is_back(mqtt, tmp_path, stub, model):
    heard = []
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt, **model) as client,
        independent(mqtt) as witness,
    ):
        await witness.subscribe("soul/terminal/lamp/invoke/+", qos=1)
        await new_soul(client)
        async with lamp_at(mqtt, soul_hint="小满") as robot:
            robot.vanish()
            await gone(client)
        for _ in range(2):
            assert await used(client, stub) == OFFLINE
            await asyncio.sleep(model["tick_s"] + 0.5)  # that somebody spoke at it has not brought it back
            assert not (await client.get("/v1/terminals/lamp")).json()["online"]
        async with lamp_at(mqtt):
            assert await used(client, stub) == "80"
        async with asyncio.timeout(5):
            heard.append(await anext(witness.messages))
        with suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                heard.append(await anext(witness.messages))
    assert len(heard) == 1


async def test_a_terminal_that_goes_while_it_is_waited_for_is_waited_for_no_longer(mqtt, tmp_path, stub, model):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt, **model) as client:
        await new_soul(client)
        async with lamp_at(mqtt, soul_hint="小满") as robot:
            robot.answers.clear()
            turn = asyncio.create_task(used(client, stub))
            await robot.hears("invoke")
            robot.vanish()
            assert await turn == "Not done: the terminal went offline before it answered"


async def test_one_that_had_gone_before_a_restart_is_known_to_be_away_where_the_broker_has_forgotten_it(
    mqtt, kind, tmp_path, stub, model
):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt, **model) as client:
        await new_soul(client)
        async with lamp_at(mqtt, soul_hint="小满") as robot:
            robot.vanish()
            await gone(client)
    (tmp_path / "other").mkdir()
    async with (
        any_broker(kind, tmp_path / "other") as forgetful,
        serving(data_dir=tmp_path, mqtt_url=forgetful, **model) as client,
    ):
        assert await used(client, stub) == OFFLINE
        async with lamp_at(forgetful):
            assert await used(client, stub) == "80"

"""Souls as devices of Home Assistant, on a real broker: announced, kept up to date, renamed and removed."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.terminals.brokers import eventually, independent, running

HA = {"home_assistant": "homeassistant", "tick_s": 2}


class Hall:
    """What Home Assistant hears: the retained messages as they are now, and how often each came."""

    def __init__(self, client):
        self.client = client
        self.now = {}
        self.log = []

    @classmethod
    @asynccontextmanager
    async def open(cls, url):
        async with independent(url) as client:
            hall = cls(client)
            await client.subscribe([("homeassistant/#", 1), ("soul/home_assistant/#", 1)])
            hearing = asyncio.create_task(hall._hear())
            try:
                yield hall
            finally:
                hearing.cancel()
                await asyncio.wait({hearing})

    async def _hear(self):
        async for message in self.client.messages:
            topic, payload = message.topic.value, message.payload.decode()
            self.log.append((topic, payload))
            self.now[topic] = payload
            if not payload:
                del self.now[topic]

    def config(self, soul_id):
        found = self.now.get(f"homeassistant/device/soulgraph/{soul_id}/config")
        return json.loads(found) if found else None

    def state(self, soul_id):
        found = self.now.get(f"soul/home_assistant/{soul_id}/state")
        return json.loads(found) if found else None

    @property
    def available(self):
        return self.now.get("soul/home_assistant/online")


@asynccontextmanager
async def world(folder):
    async with running(folder) as broker, Hall.open(broker.url) as hall:
        yield broker, hall


async def test_a_soul_is_a_device_that_feels_is_renamed_and_goes(tmp_path):
    async with world(tmp_path) as (broker, hall):
        async with serving(data_dir=tmp_path, mqtt_url=broker.url, **HA) as client:
            soul_id = await new_soul(client)
            await eventually(lambda: hall.config(soul_id) and hall.state(soul_id))
            assert (hall.available, hall.config(soul_id)["dev"]["name"]) == ("online", "小满")
            assert hall.config(soul_id)["state_topic"] == f"soul/home_assistant/{soul_id}/state"
            assert (hall.state(soul_id)["gate"], hall.state(soul_id)["lock"]) == ("ON", "OFF")
            for _ in range(3):
                await say(client, "你真没用！我讨厌你，气死我了，滚！", soul_id=soul_id)
            await eventually(lambda: hall.state(soul_id)["gate"] == "OFF")
            assert hall.state(soul_id)["reason"]
            await client.patch(f"/v1/souls/{soul_id}", json={"name": "Lumen/#+"})
            await eventually(lambda: hall.config(soul_id)["dev"]["name"] == "Lumen/#+")
            other = await new_soul(client, "小雨")
            await eventually(lambda: hall.config(other))
            await client.delete(f"/v1/souls/{soul_id}")
            await eventually(lambda: not hall.config(soul_id) and not hall.state(soul_id))
        await eventually(lambda: hall.available == "offline")
        assert hall.config(other), "a server that stops leaves its devices, which are not available"


async def test_what_happened_while_the_server_was_away_is_caught_up_and_nothing_is_told_twice(tmp_path):
    async with world(tmp_path) as (broker, hall):
        settings = {"data_dir": tmp_path, "mqtt_url": broker.url}
        async with serving(**settings, **HA) as client:
            soul_id = await new_soul(client)
            gone = await new_soul(client, "小雨")
            await eventually(lambda: hall.config(gone) and hall.config(soul_id))
        async with serving(**settings) as client:
            await client.delete(f"/v1/souls/{gone}")
        hall.log.clear()
        async with serving(**settings, **HA) as client:
            await eventually(lambda: not hall.config(gone) and hall.available == "online")
            await asyncio.sleep(2.5)
        assert not [topic for topic, payload in hall.log if soul_id in topic and "/config" in topic]


async def test_a_birth_of_home_assistant_hears_everything_and_what_was_removed_there_stays_away_until_then(tmp_path):
    async with world(tmp_path) as (broker, hall), serving(data_dir=tmp_path, mqtt_url=broker.url, **HA) as client:
        soul_id = await new_soul(client)
        await eventually(lambda: hall.config(soul_id) and hall.state(soul_id))
        hall.log.clear()
        await hall.client.publish("homeassistant/status", "online", qos=1)
        await eventually(lambda: {"config", "state"} <= {topic.rpartition("/")[2] for topic, _ in hall.log})
        await hall.client.publish(f"homeassistant/device/soulgraph/{soul_id}/config", "", qos=1, retain=True)
        await eventually(lambda: not hall.config(soul_id))
        await asyncio.sleep(2.5)
        assert not hall.config(soul_id)
        await hall.client.publish("homeassistant/status", "online", qos=1)
        await eventually(lambda: hall.config(soul_id))


async def test_a_broker_that_forgets_is_told_again(tmp_path):
    async with running(tmp_path) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url, **HA) as client:
        soul_id = await new_soul(client)
        async with Hall.open(broker.url) as hall:
            await eventually(lambda: hall.config(soul_id))
        broker.kill()
        (tmp_path / "mosquitto.db").unlink(missing_ok=True)
        await broker.start()
        async with Hall.open(broker.url) as hall:
            await eventually(lambda: hall.config(soul_id) and hall.state(soul_id) and hall.available == "online")


async def test_two_servers_tell_the_same_and_one_that_goes_takes_nothing_with_it(tmp_path):
    async with world(tmp_path) as (broker, hall):
        settings = {"data_dir": tmp_path, "mqtt_url": broker.url, **HA}
        async with serving(**settings) as client:
            soul_id = await new_soul(client)
            await eventually(lambda: hall.config(soul_id) and hall.state(soul_id))
            hall.log.clear()
            async with serving(**settings):
                await asyncio.sleep(5)
            await eventually(lambda: ("soul/home_assistant/online", "offline") in hall.log)
            await eventually(lambda: hall.available == "online")
            assert not [topic for topic, _ in hall.log if "/config" in topic], "the second found everything as it is"
            await asyncio.sleep(2.5)
            assert hall.config(soul_id)


@pytest.mark.parametrize(
    "settings",
    [
        {"mqtt_url": ""},
        {"mqtt_url": "none"},
        {"home_assistant": "a/#"},
        {"home_assistant": "a//b"},
        {"home_assistant": "/a"},
    ],
)
def test_a_setting_that_cannot_be_used_says_so(settings):
    with pytest.raises(ConfigurationError, match="SOULGRAPH_HOME_ASSISTANT"):
        Settings.load(**{"mqtt_url": "mqtt://h", **HA, **settings}).refuse_unused()

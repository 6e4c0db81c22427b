"""Time passes by itself: terminals on a real broker hear how their idle soul feels, from one server or from two."""

import asyncio
import json
import re
import time
from contextlib import asynccontextmanager
from itertools import pairwise
from uuid import uuid4

import aiomqtt
import pytest

from soulgraph.terminals.broker import Broker
from soulgraph.tests.live import new_soul, say, serving

TICK_S = 2.0


class Terminals:
    """Terminals that write down what they hear."""

    def __init__(self, client, *names):
        self._client = client
        self.ids = {name: f"{name}-{uuid4().hex}" for name in names}
        self.heard = {terminal_id: [] for terminal_id in self.ids.values()}

    @classmethod
    @asynccontextmanager
    async def listening(cls, url, *names):
        broker = Broker.parse(url)
        async with aiomqtt.Client(broker.host, broker.port) as client:
            terminals = cls(client, *names)
            for terminal_id in terminals.heard:
                await client.subscribe(f"soul/terminal/{terminal_id}/emotion_update", qos=1)
            listening = asyncio.create_task(terminals._listen())
            yield terminals
            listening.cancel()
            await asyncio.wait({listening})

    async def say(self, name, kind, payload):
        await self._client.publish(f"soul/terminal/{self.ids[name]}/{kind}", payload, qos=1)

    def idle_updates(self, name, since=0.0):
        heard = self.heard[self.ids[name]]
        return [update for update in heard if "user_emotion" not in update and update["ts"] >= since]

    async def _listen(self):
        async for message in self._client.messages:
            update = json.loads(message.payload)
            self.heard[update["terminal_id"]].append(update)


async def select(client, terminal_id, soul_id):
    selected = await client.post("/v1/souls/select", json={"terminal_id": terminal_id, "soul_id": soul_id})
    assert selected.status_code == 200


async def test_a_terminal_that_is_there_hears_its_idle_soul_and_one_that_is_not_does_not(mqtt_url, tmp_path):
    ahead = 0.0
    settings = {"data_dir": tmp_path, "mqtt_url": mqtt_url, "tick_s": TICK_S}
    async with (
        serving(clock=lambda: time.time() + ahead, **settings) as client,
        Terminals.listening(mqtt_url, "http", "mqtt", "silent") as terminals,
    ):
        for name, terminal_id in terminals.ids.items():
            await select(client, terminal_id, await new_soul(client, name))
        ahead = 120.0
        since = time.time() + ahead
        beat = await client.post(f"/v1/terminals/{terminals.ids['http']}/heartbeat")
        assert (beat.status_code, beat.content) == (204, b"")
        await terminals.say("mqtt", "heartbeat", "1")
        await terminals.say("silent", "heartbeat", "not a heartbeat")
        await asyncio.sleep(2.25 * TICK_S)
        online = {row["terminal_id"]: row["online"] for row in (await client.get("/v1/terminals")).json()}
        figures = (await client.get("/metrics")).text
    for name in ("http", "mqtt"):
        updates = terminals.idle_updates(name, since)
        assert len(updates) >= 2
        assert updates[1]["ts"] - updates[0]["ts"] == pytest.approx(TICK_S, abs=TICK_S / 2)
        assert updates[1]["soul_emotion"]["updated_at"] == updates[1]["ts"]
        assert updates[1]["exec_mode"] == "auto_execute"
    assert terminals.idle_updates("silent", since) == []
    assert [online[terminals.ids[name]] for name in ("http", "mqtt", "silent")] == [True, True, False]
    for figure in ("soulgraph_souls_ticked_total", "soulgraph_tick_seconds_count", "soulgraph_mqtt_dropped_total"):
        assert re.search(rf"^{figure} [1-9]", figures, re.MULTILINE)


async def test_two_servers_tick_each_soul_once_a_period_and_lose_no_turn(mqtt_url, postgres_url, tmp_path):
    settings = {"database_url": postgres_url, "data_dir": tmp_path, "mqtt_url": mqtt_url, "tick_s": TICK_S}
    async with serving(**settings) as one, Terminals.listening(mqtt_url, "a", "b", "c") as terminals:
        began = time.monotonic()
        souls = {name: await new_soul(one, name) for name in terminals.ids}
        for name, terminal_id in terminals.ids.items():
            await select(one, terminal_id, souls[name])
        await asyncio.sleep(TICK_S / 3)
        async with serving(**settings) as other:
            for n in range(6):
                await say((one, other)[n % 2], "谢谢你", terminal_id=terminals.ids["a"], session_id=f"s{n % 3}")
                await asyncio.sleep(TICK_S / 2)
            soul = (await one.get(f"/v1/souls/{souls['a']}")).json()
            history = (await other.get(f"/v1/souls/{souls['a']}/emotion/history")).json()["points"]
    periods = (time.monotonic() - began) / TICK_S
    for name in terminals.ids:
        stamps = [update["ts"] for update in terminals.idle_updates(name)]
        assert 2 <= len(stamps) <= periods + 1
        gaps = [later - earlier for earlier, later in pairwise(stamps)]
        assert all(gap > TICK_S / 2 for gap in gaps), gaps
    assert soul["turns"] == 6
    assert len(history) >= 7


async def test_a_heartbeat_of_a_stranger_is_not_found(client):
    beat = await client.post("/v1/terminals/nobody/heartbeat")
    assert (beat.status_code, beat.json()["code"]) == (404, "not_found")
    assert (await client.get("/v1/terminals")).json() == []


async def test_a_terminal_is_online_for_a_minute_after_it_was_selected_or_heard(tmp_path):
    now = time.time()
    async with serving(clock=lambda: now, data_dir=tmp_path, tick_s=TICK_S) as client:
        await client.put("/v1/terminals/lamp/intent-catalog", json={"catalog_version": 1, "intent_catalog": []})

        async def lamp():
            row = (await client.get("/v1/terminals/lamp")).json()
            return row["online"], row["last_seen"]

        assert await lamp() == (False, None)
        await select(client, "lamp", await new_soul(client))
        online, first = await lamp()
        assert online
        now += 61
        assert await lamp() == (False, first)
        await client.post("/v1/terminals/lamp/heartbeat")
        online, second = await lamp()
        assert online
        assert second > first

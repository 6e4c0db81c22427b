"""A stub that speaks as zigbee2mqtt does: retained configs, a lamp that answers on its state topic."""

import asyncio
import json
from contextlib import asynccontextmanager

from soulgraph.tests.terminals.brokers import independent

CONFIG = "homeassistant/light/0x00158d0001dc126a/light/config"
LAMP = {
    "availability": [{"topic": "zigbee2mqtt/bridge/state", "value_template": "{{ value_json.state }}"}],
    "brightness": True,
    "brightness_scale": 254,
    "command_topic": "zigbee2mqtt/Kitchen lamp/set",
    "device": {"identifiers": ["zigbee2mqtt_0x00158d0001dc126a"], "name": "Kitchen lamp"},
    "name": None,
    "schema": "json",
    "state_topic": "zigbee2mqtt/Kitchen lamp",
    "supported_color_modes": ["brightness"],
    "unique_id": "0x00158d0001dc126a_light_zigbee2mqtt",
}
PUMP_CONFIG = "homeassistant/switch/garden_pump/config"
PUMP = {"~": "garden/pump", "name": "Pump", "cmd_t": "~/set", "uniq_id": "p1"}


class Zigbee:
    """`orders` are the commands as they came. A lamp that is `dead` answers nothing, a `stuck` one stays as it is."""

    def __init__(self, client):
        self._client = client
        self.orders = []
        self.dead = self.stuck = False
        self.state = {"state": "OFF", "brightness": 254}

    @classmethod
    @asynccontextmanager
    async def running(cls, url):
        async with independent(url) as client:
            zigbee = cls(client)
            await client.subscribe([("zigbee2mqtt/+/set", 1), ("garden/pump/set", 1)])
            await zigbee.announce(CONFIG, LAMP)
            await zigbee.announce(PUMP_CONFIG, PUMP)
            obeying = asyncio.create_task(zigbee._obey())
            try:
                yield zigbee
            finally:
                obeying.cancel()
                await asyncio.wait({obeying})

    async def announce(self, topic, config):
        await self._client.publish(topic, json.dumps(config) if config else "", qos=1, retain=True)

    async def _obey(self):
        async for message in self._client.messages:
            payload = message.payload.decode()
            self.orders.append((message.topic.value, payload))
            if message.topic.value == LAMP["command_topic"] and not self.dead:
                self.state |= {} if self.stuck else json.loads(payload)
                await self._client.publish(LAMP["state_topic"], json.dumps({**self.state, "linkquality": 99}))

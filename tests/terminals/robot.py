"""A terminal for tests: an independent client that reports, answers skill calls and records what it receives."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiomqtt

from soulgraph.tests.terminals.brokers import eventually, independent

LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯", "turn on the light"]}}
BATTERY = {
    "name": "battery.level",
    "description": "How full the battery is, in percent.",
    "input_schema": {"type": "object", "properties": {"config": {"type": "string"}}},
}


class Robot:
    """`heard` holds (kind, payload) in order; `answers` the answer of each skill. A skill without one stays silent."""

    def __init__(self, client, terminal_id):
        self._client = client
        self.terminal_id = terminal_id
        self.heard = []
        self.answers = {}

    @classmethod
    @asynccontextmanager
    async def connected(cls, url, terminal_id, **options):
        will = aiomqtt.Will(f"soul/terminal/{terminal_id}/online", "offline", qos=1, retain=True)
        async with independent(url, will=will, **options) as client:
            robot = cls(client, terminal_id)
            await client.subscribe(f"soul/terminal/{terminal_id}/#", qos=1)
            await robot.say("online", "online", retain=True)
            listening = asyncio.create_task(robot._listen())
            try:
                yield robot
            finally:
                listening.cancel()
                await asyncio.wait({listening})

    async def say(self, kind, payload, qos=1, retain=False):
        text = payload if isinstance(payload, str | bytes) else json.dumps(payload)
        await self._client.publish(f"soul/terminal/{self.terminal_id}/{kind}", text, qos=qos, retain=retain)

    async def report(self, catalog=(LIGHT,), catalog_version=1, skills=(BATTERY,), skill_version=1, **more):
        names = {"terminal_id": self.terminal_id}
        skills = {**names, "skill_version": skill_version, "skills": list(skills), **more}
        await self.say("skills", skills, retain=True)
        catalog = {**names, "catalog_version": catalog_version, "intent_catalog": list(catalog)}
        await self.say("intent_catalog", catalog, retain=True)

    def of(self, kind):
        return [payload for one, payload in self.heard if one == kind]

    async def hears(self, kind, is_it=lambda payload: True, timeout_s=30):
        """Wait for the first payload of this kind that satisfies `is_it`."""
        await eventually(lambda: any(map(is_it, self.of(kind))), timeout_s)
        return next(filter(is_it, self.of(kind)))

    def vanish(self):
        """Close the connection without a DISCONNECT, as a power cut would."""
        self._client._client.socket().shutdown(2)

    async def _listen(self):
        async for message in self._client.messages:
            _, _, kind = message.topic.value.removeprefix("soul/terminal/").partition("/")
            if kind.startswith("invoke/"):
                await self._use(json.loads(message.payload))
            elif kind in ("emotion_update", "intent_action", "reply", "proactive", "status"):
                self.heard.append((kind, json.loads(message.payload)))

    async def _use(self, asked):
        self.heard.append(("invoke", asked))
        if answer := self.answers.get(asked["skill"]):
            await self.say(f"result/{asked['request_id']}", {"request_id": asked["request_id"], **answer})

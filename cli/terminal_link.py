"""A terminal's side of the protocol: it says who it is and what it can do, hears, and answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

from aiomqtt import Client, Will

from soulgraph.cli.client import Json
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.topics import topic

HEARTBEAT_S = 10.0
_HEARS = ("emotion_update", "intent_action", "invoke/+", "reply", "proactive", "status")
_QOS = 1

Use = Callable[[str, Json], Json]


class Link:
    """One connection. What is heard comes as (kind, payload); skills are answered on the way."""

    def __init__(self, client: Client, terminal_id: str, use: Use) -> None:
        self._client = client
        self._terminal_id = terminal_id
        self._use = use

    @classmethod
    @asynccontextmanager
    async def open(cls, broker: Broker, terminal_id: str, use: Use) -> AsyncIterator[Self]:
        """Online while the block lasts; the broker says that we are gone if we cannot."""
        online = topic(terminal_id, "online")
        async with broker.client(will=Will(online, "offline", _QOS, retain=True)) as client:
            await client.subscribe([(topic(terminal_id, kind), _QOS) for kind in _HEARS])
            await client.publish(online, "online", _QOS, retain=True)
            heart = asyncio.create_task(cls._beat(client, terminal_id))
            try:
                yield cls(client, terminal_id, use)
                await client.publish(online, "offline", _QOS, retain=True)
            finally:
                heart.cancel()
                await asyncio.gather(heart, return_exceptions=True)

    async def report(self, catalog: list[Json], skills: list[Json], version: int, soul_hint: str | None) -> None:
        """All that we can do, retained; after every connection, for the broker may have forgotten it."""
        hint = {"soul_hint": soul_hint} if soul_hint else {}
        await self._tell("skills", {"skill_version": version, "skills": skills, **hint}, retain=True)
        await self._tell("intent_catalog", {"catalog_version": version, "intent_catalog": catalog}, retain=True)

    async def say(self, input_id: str, text: str) -> None:
        """Something was said here; the reply comes with its id."""
        await self._tell("input", {"input_id": input_id, "type": "keyboard_text", "text": text})

    async def messages(self) -> AsyncIterator[tuple[str, Json]]:
        async for message in self._client.messages:
            kind, _, request_id = message.topic.value.removeprefix(topic(self._terminal_id, "")).partition("/")
            payload = json.loads(message.payload)
            yield kind, payload
            if kind == "invoke":
                result = self._use(payload["skill"], payload["arguments"])
                await self._tell(f"result/{request_id}", {"request_id": request_id, **result})

    async def _tell(self, kind: str, payload: Json, retain: bool = False) -> None:
        said = json.dumps({"terminal_id": self._terminal_id, **payload}, ensure_ascii=False)
        await self._client.publish(topic(self._terminal_id, kind), said, _QOS, retain=retain)

    @staticmethod
    async def _beat(client: Client, terminal_id: str) -> None:
        while True:
            await client.publish(topic(terminal_id, "heartbeat"), "1")
            await asyncio.sleep(HEARTBEAT_S)

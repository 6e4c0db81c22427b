"""The terminal's side of the MQTT protocol: presence, reports, inputs, and the results of skills."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Self

from aiomqtt import Client, MqttError, Will

from soulgraph.stores.records import Json
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.topics import topic

HEARTBEAT_S = 10.0
_SUBSCRIBED = ("emotion_update", "intent_action", "invoke/+", "reply", "proactive", "status")
_QOS = 1

UseSkill = Callable[[str, Json], Awaitable[Json]]
"""Takes the name of a skill and its arguments; returns `ok`, and `output` or `error`."""
_CANCEL_AGAIN_S = 0.5


async def until_one_ends(*tasks: asyncio.Task[None]) -> None:
    """Until the first of the tasks ends; raises what it has raised. The others are stopped."""
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
    finally:
        await stop(*tasks)


async def stop(*tasks: asyncio.Task[None]) -> None:
    """Cancel the tasks and wait for their end; again if need be.

    Python 3.11 forgets to cancel a task that waits for an acknowledgement (`asyncio.wait_for`) which has just come.
    """
    pending = {*tasks}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)  # their errors are seen


class Link:
    """One connection of a terminal to the broker."""

    def __init__(self, client: Client, terminal_id: str, use_skill: UseSkill) -> None:
        self._client = client
        self._terminal_id = terminal_id
        self._use_skill = use_skill
        self._using: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls, broker: Broker, terminal_id: str, use_skill: UseSkill) -> AsyncIterator[Self]:
        """Connect and be online while the block lasts; if the connection breaks, the broker publishes our will."""
        online = topic(terminal_id, "online")
        async with broker.client(will=Will(online, "offline", _QOS, retain=True)) as client:
            await client.subscribe([(topic(terminal_id, kind), _QOS) for kind in _SUBSCRIBED])
            await client.publish(online, "online", _QOS, retain=True)
            heartbeats = asyncio.create_task(cls._send_heartbeats(client, terminal_id))
            link = cls(client, terminal_id, use_skill)
            try:
                yield link
            finally:
                await stop(heartbeats, *link._using)
                with suppress(MqttError):  # then the broker publishes our will
                    await client.publish(online, "offline", _QOS, retain=True)

    async def report(self, catalog: list[Json], skills: list[Json], version: int, soul_hint: str | None) -> None:
        """Publish the catalog and the skills, retained. After every connection: the broker may have lost them."""
        hint = {"soul_hint": soul_hint} if soul_hint else {}
        await self._publish("skills", {"skill_version": version, "skills": skills, **hint}, retain=True)
        await self._publish("intent_catalog", {"catalog_version": version, "intent_catalog": catalog}, retain=True)

    async def send_input(self, input_id: str, text: str) -> None:
        """Send what the user said; the reply carries the same id."""
        await self._publish("input", {"input_id": input_id, "type": "keyboard_text", "text": text})

    async def messages(self) -> AsyncIterator[tuple[str, Json]]:
        """Each message as (kind, payload). After an `invoke` is yielded, its skill is used and the result sent.

        Messages that come while a skill is used are yielded meanwhile.
        """
        async for message in self._client.messages:
            kind, _, request_id = message.topic.value.removeprefix(topic(self._terminal_id, "")).partition("/")
            payload = json.loads(message.payload)
            yield kind, payload
            if kind == "invoke":
                use = asyncio.create_task(self._use(request_id, payload))
                self._using.add(use)
                use.add_done_callback(self._using.discard)

    async def _use(self, request_id: str, invoke: Json) -> None:
        result = await self._use_skill(invoke["skill"], invoke["arguments"])
        await self._publish(f"result/{request_id}", {"request_id": request_id, **result})

    async def _publish(self, kind: str, payload: Json, retain: bool = False) -> None:
        message = json.dumps({"terminal_id": self._terminal_id, **payload}, ensure_ascii=False)
        await self._client.publish(topic(self._terminal_id, kind), message, _QOS, retain=retain)

    @staticmethod
    async def _send_heartbeats(client: Client, terminal_id: str) -> None:
        while True:
            await client.publish(topic(terminal_id, "heartbeat"), "1")
            await asyncio.sleep(HEARTBEAT_S)

"""Souls as devices of Home Assistant: what the broker retains of them is brought into line with what they are.

Whatever is to be there follows from the database, and what is there is heard from the broker. So a server that comes
later, a second one, a broker that forgets, and souls that were deleted or renamed meanwhile need nothing of their own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from aiomqtt import Client, MqttError, Will
from sqlalchemy.exc import SQLAlchemyError

from soulgraph import __version__
from soulgraph.errors import SoulgraphError
from soulgraph.runtime.background import in_background
from soulgraph.soul.constants import Constants
from soulgraph.soul.gate import judge
from soulgraph.soul.population import Population
from soulgraph.stores.stores import Stores
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.home_assistant import entities
from soulgraph.terminals.home_assistant.entities import AVAILABILITY
from soulgraph.terminals.link import until_one_ends

MAX_SOULS = 100
"""The oldest: each is a device with eight entities."""
_QOS, _SUBACK_FAILURE = 1, 0x80
_RETRY_S, _SETTLE_S = 5.0, 0.5

_log = logging.getLogger(__name__)


class HomeAssistant:
    """`prefix` is that of the discovery topics."""

    def __init__(
        self,
        stores: Stores,
        broker: Broker,
        prefix: str,
        clock: Callable[[], float],
        constants: Callable[[], Constants],
        period_s: float,
    ) -> None:
        self._stores = stores
        self._broker = broker
        self._prefix = prefix
        self._clock = clock
        self._constants = constants
        self._period_s = period_s
        self._kept: dict[str, str] = {}
        self._wanted: dict[str, str] = {}
        self._dismissed: set[str] = set()
        self._born = asyncio.Event()
        self._healthy = True

    def running(self) -> AbstractAsyncContextManager[None]:
        return in_background(self._run(), "home assistant", "ended: its devices stand still until a restart")

    async def _run(self) -> None:
        while True:
            try:
                async with self._connected() as client:
                    await self._live(client)
            except* MqttError as errors:
                if self._healthy:
                    _log.warning("home assistant: %s; trying again every %g s", errors.exceptions[0], _RETRY_S)
                self._healthy = False
            await asyncio.sleep(_RETRY_S)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        """With our last will: without any server the devices are not available."""
        async with self._broker.client(will=Will(AVAILABILITY, "offline", _QOS, retain=True)) as client:
            self._kept.clear()
            self._dismissed.clear()
            topics = [*entities.filters(self._prefix), AVAILABILITY, f"{self._prefix}/status"]
            codes = await client.subscribe([(topic, _QOS) for topic in topics])
            if any(getattr(code, "value", code) >= _SUBACK_FAILURE for code in codes):
                raise MqttError(f"the broker does not let us listen to {', '.join(topics)}")
            await client.publish(AVAILABILITY, "online", _QOS, retain=True)
            try:
                yield client
            finally:
                with suppress(MqttError):  # another server hears it and says that it is there
                    await client.publish(AVAILABILITY, "offline", _QOS, retain=True)

    async def _live(self, client: Client) -> None:
        await until_one_ends(asyncio.create_task(self._listen(client)), asyncio.create_task(self._keep_up(client)))

    async def _listen(self, client: Client) -> None:
        async for message in client.messages:
            topic = message.topic.value
            payload = message.payload.decode(errors="replace") if isinstance(message.payload, bytes) else ""
            if topic == AVAILABILITY:
                if payload == "offline":
                    await client.publish(AVAILABILITY, "online", _QOS, retain=True)
            elif topic == f"{self._prefix}/status":
                if payload == "online":
                    self._greet()
            else:
                self._note(topic, payload)

    def _greet(self) -> None:
        """Home Assistant has started: everything is told anew, also what somebody had removed there."""
        self._kept = dict.fromkeys(self._kept, "")
        self._dismissed.clear()
        self._born.set()

    def _note(self, topic: str, payload: str) -> None:
        """What is retained now, by whichever server. Somebody who clears what we tell does not want it."""
        if payload:
            self._kept[topic] = payload
            return
        self._kept.pop(topic, None)
        if topic in self._wanted:
            self._dismissed.add(topic)

    async def _keep_up(self, client: Client) -> None:
        await asyncio.sleep(_SETTLE_S)  # what is retained has come by then
        while True:
            try:
                await self._bring_into_line(client)
            except (SoulgraphError, SQLAlchemyError) as error:
                _log.warning("home assistant: %s", str(error).partition("\n")[0])
            if not self._healthy:
                _log.info("home assistant: going on")
            self._healthy = True
            with suppress(TimeoutError):
                async with asyncio.timeout(self._period_s):
                    await self._born.wait()
            self._born.clear()

    async def _bring_into_line(self, client: Client) -> None:
        self._wanted = await self._read()
        for topic in [topic for topic in self._kept if topic not in self._wanted]:
            self._kept.pop(topic, None)
            await client.publish(topic, "", _QOS, retain=True)
        for topic, payload in self._wanted.items():
            if topic not in self._dismissed and self._kept.get(topic) != payload:
                self._kept[topic] = payload
                await client.publish(topic, payload, _QOS, retain=True)

    async def _read(self) -> dict[str, str]:
        """What is to be retained, by topic."""
        now, constants = self._clock(), self._constants()
        async with self._stores.read() as tx:
            rows = await tx.souls.moods(await tx.souls.oldest(MAX_SOULS))
        souls = [(row.personality_vector, row.emotion_state) for row in rows]
        wanted = {}
        for row, emotion in zip(rows, Population.of(souls).evolve(now, constants).states(), strict=True):
            gate = judge(row.personality_vector, emotion, now, constants)
            wanted[entities.config_topic(self._prefix, row.soul_id)] = entities.config(
                row.soul_id, row.name, __version__
            )
            wanted[entities.state_topic(row.soul_id)] = entities.state(emotion, gate, constants)
        return wanted

"""The way to the terminals, through an MQTT broker: how a soul feels and what it does, and who is there to hear it."""

import asyncio
import logging
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, Self
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from aiomqtt import Client, MqttError

from soulgraph.errors import ConfigurationError
from soulgraph.terminals import topics
from soulgraph.terminals.payloads import EmotionUpdate, IntentAction, Payload, Proactive

SETTING = "SOULGRAPH_MQTT_URL"

_URL_FORM = "must look like mqtt://user:password@host:1883 (mqtts:// for TLS), special characters percent-encoded"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_QOS = 1
_PATIENCE_S, _BROKER_TIMEOUT_S, _KEEPALIVE_S = 1.0, 5.0, 15
_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.2, 10.0
_MOST_WAITING = 10_000

_log = logging.getLogger(__name__)

Hear = Callable[[str, bytes], None]


class Hub(Protocol):
    def emotion_update(self, update: EmotionUpdate) -> None:
        """Never waits. Goes out as soon as the broker is there; what is outdated by then may be left out."""
        ...

    async def intent_action(self, action: IntentAction) -> bool:
        """Whether the broker has said, within a second, that it has it. Never raises and never tries again."""
        ...

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        """Whether the broker has it, as with an action."""
        ...


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is, and who we are to it."""

    host: str
    port: int
    username: str | None
    password: str | None = field(repr=False)
    tls: ssl.SSLContext | None
    # Of its own for every server: a broker ends the older of two connections with the same id.
    client_id: str = field(default_factory=lambda: f"soulgraph-{uuid4().hex[:12]}")

    @classmethod
    def parse(cls, url: str) -> Self:
        """Neither the error nor its cause shows the URL, for there may be a password in it."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ConfigurationError(SETTING, _URL_FORM) from None
        beyond = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in _PORTS or not host or port == 0 or beyond:
            raise ConfigurationError(SETTING, _URL_FORM)
        return cls(
            host=host,
            port=port or _PORTS[parts.scheme],
            username=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            tls=ssl.create_default_context() if parts.scheme == "mqtts" else None,
        )

    def client(self) -> Client:
        """A new one for each connection: an old one would send again what we have called undelivered."""
        return Client(
            self.host,
            self.port,
            username=self.username,
            password=self.password,
            identifier=self.client_id,
            tls_context=self.tls,
            timeout=_BROKER_TIMEOUT_S,
            keepalive=_KEEPALIVE_S,
        )

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Updates:
    """Emotion updates on their way out, in order. Where they pile up, a terminal needs only its newest."""

    def __init__(self, limit: int = _MOST_WAITING) -> None:
        self._limit = limit
        self._queue: deque[EmotionUpdate] = deque()
        self._some, self._none = asyncio.Event(), asyncio.Event()
        self._none.set()

    def put(self, update: EmotionUpdate) -> None:
        self._queue.append(update)
        if len(self._queue) > self._limit:
            self.keep_newest()
        self._none.clear()
        self._some.set()

    def keep_newest(self) -> None:
        """One for each terminal, and no more than there is room for."""
        newest: dict[str, EmotionUpdate] = {}
        for update in self._queue:
            newest.pop(update.terminal_id, None)
            newest[update.terminal_id] = update
        self._queue = deque(list(newest.values())[-self._limit :])

    async def first(self) -> EmotionUpdate:
        """The one to send next; it stays until it is `sent`."""
        await self._some.wait()
        return self._queue[0]

    def sent(self, update: EmotionUpdate) -> None:
        if self._queue[0] is update:  # not if it was outdated meanwhile
            self._queue.popleft()
        if not self._queue:
            self._some.clear()
            self._none.set()

    async def all_sent(self) -> None:
        await self._none.wait()


class MqttHub:
    """One task owns the connection and makes it again whenever it is lost."""

    def __init__(self, broker: Broker, hear: Hear | None) -> None:
        self._broker = broker
        self._hear = hear
        self._client: Client | None = None
        self._updates = Updates()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, hear: Hear | None = None) -> AsyncIterator[Self]:
        """Connected, or a ConfigurationError that says what to do. `hear` gets what terminals say of their presence."""
        hub = cls(Broker.parse(url), hear)
        connection = asyncio.create_task(hub._stay_connected())
        try:
            await hub._start(connection)
            yield hub
        finally:
            await hub._close(connection)

    def emotion_update(self, update: EmotionUpdate) -> None:
        self._updates.put(update)

    async def intent_action(self, action: IntentAction) -> bool:
        return await self._deliver(topics.intent_action(action.terminal_id), action)

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        return await self._deliver(topics.proactive(terminal_id), payload)

    async def _deliver(self, topic: str, payload: Payload) -> bool:
        if self._client is None:
            return False
        try:
            await self._client.publish(topic, payload.to_json(), _QOS, timeout=_PATIENCE_S)
        except MqttError:
            return False
        return True

    async def _start(self, connection: asyncio.Task[None]) -> None:
        await asyncio.wait({connection, self._started}, return_when=asyncio.FIRST_COMPLETED)
        if connection.done():
            try:
                connection.result()
            except (MqttError, ValueError) as error:
                raise ConfigurationError(
                    SETTING,
                    f"cannot use the broker at {self._broker} ({error}): start it, correct its address, user or "
                    "password, or leave the setting empty to do without terminals",
                ) from error
        connection.add_done_callback(_report)

    async def _close(self, connection: asyncio.Task[None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._updates.all_sent()
        self._closing = True
        connection.cancel()
        await asyncio.wait({connection})

    async def _stay_connected(self) -> None:
        delay = _FIRST_DELAY_S
        # Parting from a broker that hangs can turn our cancellation into an MqttError: hence the flag.
        while not self._closing:
            held_s = 0.0
            try:
                async with self._broker.client() as client:
                    held_s = await self._serve(client)
            except MqttError:
                if not self._started.done():
                    raise
            # A broker that throws us out as soon as we speak is not asked again at once.
            delay = _FIRST_DELAY_S if held_s > _LONGEST_DELAY_S else delay
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)

    async def _serve(self, client: Client) -> float:
        """Send what waits until the connection is lost: the seconds that took."""
        began = time.monotonic()
        self._connected(client)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send_updates(client))
                tasks.create_task(self._listen(client))
        except* MqttError as lost:
            _log.warning("mqtt: lost the broker at %s (%s); trying again", self._broker, lost.exceptions[0])
        finally:
            self._client = None
        return time.monotonic() - began

    def _connected(self, client: Client) -> None:
        _log.info("mqtt: connected to the broker at %s", self._broker)
        self._updates.keep_newest()
        self._client = client
        if not self._started.done():
            self._started.set_result(None)

    async def _send_updates(self, client: Client) -> None:
        while True:
            update = await self._updates.first()
            await client.publish(topics.emotion_update(update.terminal_id), update.to_json(), _QOS)
            self._updates.sent(update)

    async def _listen(self, client: Client) -> None:
        """Until the connection ends, which raises MqttError."""
        if self._hear:
            await client.subscribe([(topic, _QOS) for topic in topics.PRESENCE])
        async for message in client.messages:
            if self._hear:
                self._hear(message.topic.value, message.payload)


def _report(connection: asyncio.Task[None]) -> None:
    if not connection.cancelled() and (error := connection.exception()):
        _log.error("mqtt: the connection ended and is not made again", exc_info=error)

"""The hub: sends messages to terminals and receives theirs, over one MQTT connection that is renewed when lost."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from aiomqtt import Client, MqttError, ProtocolVersion

from soulgraph.errors import ConfigurationError
from soulgraph.terminals import topics
from soulgraph.terminals.broker import SETTING, Broker
from soulgraph.terminals.compact_emotion import CompactEmotion, Feeling, ToldEmotions
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.payloads import (
    Cleared,
    EmotionUpdate,
    IntentAction,
    Invoke,
    Payload,
    Proactive,
    Reply,
    Status,
)
from soulgraph.terminals.reports import SkillResult
from soulgraph.terminals.send_queue import Parcel, SendQueue

_QOS, _SUBACK_FAILURE = 1, 0x80
_IN_FLIGHT = 20
"""Unacknowledged messages at once; the default limit of brokers."""
_TIMEOUT_S, _SKILL_TIMEOUT_S = 1.0, 8.0
_FIRST_DELAY_S, _MAX_DELAY_S = 0.2, 10.0

_log = logging.getLogger(__name__)

OnMessage = Callable[[str, bytes], None]


class MqttHub:
    """One task owns the connection and renews it. Nobody who sends a message waits for a connection."""

    def __init__(
        self,
        broker: Broker,
        on_message: OnMessage | None = None,
        invocations: Invocations | None = None,
        group: str | None = None,
        websocket: str | None = None,
        embedded: bool = False,
    ) -> None:
        """`on_message` gets the topic and payload of each message of a terminal; None subscribes to nothing.

        Servers of one `group` share the subscriptions that one of them must handle, if the broker supports that. Our
        own does so in MQTT 3.1.1.
        """
        self.addresses = {"mqtt": broker.public_url} | ({"websocket": websocket} if websocket else {})
        self.broker = broker
        self._on_message = on_message
        self._invocations = invocations or Invocations()
        self._group = group
        self._needs_5 = not embedded
        self._client: Client | None = None
        self._queue = SendQueue()
        self._told = ToldEmotions()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False

    @classmethod
    @asynccontextmanager
    async def open(cls, broker: str | Broker, *receivers: Any, **options: Any) -> AsyncIterator[Self]:
        """A connected hub, of a broker or its URL; ConfigurationError, which says what to do, if that fails."""
        hub = cls(Broker.parse(broker) if isinstance(broker, str) else broker, *receivers, **options)
        connection = asyncio.create_task(hub._stay_connected())
        try:
            await hub._start(connection)
            yield hub
        finally:
            await hub._close(connection)

    def emotion_update(self, update: EmotionUpdate) -> None:
        topic = topics.topic(update.terminal_id, "emotion_update")
        self._queue.put(Parcel(topic, update, topic))

    def compact_emotion(self, terminal_id: str, feeling: Feeling, previous_at: float | None = None) -> None:
        if self._told.is_news(terminal_id, feeling, previous_at):
            self._keep(terminal_id, CompactEmotion.of(feeling))

    def clear_emotion(self, terminal_id: str) -> None:
        self._told.forget(terminal_id)
        self._keep(terminal_id, Cleared())

    def _keep(self, terminal_id: str, payload: Payload) -> None:
        topic = topics.topic(terminal_id, topics.COMPACT_EMOTION)
        self._queue.put(Parcel(topic, payload, topic, retain=True))

    def status(self, status: Status) -> None:
        topic = topics.topic(status.terminal_id, "status")
        self._queue.put(Parcel(topic, status, topic))

    def reply(self, reply: Reply) -> None:
        topic = topics.topic(reply.terminal_id, "reply")
        self._queue.put(Parcel(topic, reply, f"{topic} {reply.input_id}"))

    async def intent_action(self, action: IntentAction) -> bool:
        return await self._deliver(topics.topic(action.terminal_id, "intent_action"), action)

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        return await self._deliver(topics.topic(terminal_id, "proactive"), payload)

    async def forget(self, terminal_id: str) -> bool:
        self._told.forget(terminal_id)
        retained = [topics.topic(terminal_id, kind) for kind in topics.KEPT]
        return all([await self._publish(topic, "", retain=True) for topic in retained])

    async def invoke(self, terminal_id: str, invoke: Invoke) -> SkillResult:
        topic = topics.topic(terminal_id, "invoke", invoke.request_id)
        failed = ""
        with self._invocations.pending(terminal_id, invoke.request_id) as answer:
            if not answer.done() and not await self._deliver(topic, invoke):
                failed = "the terminal cannot be reached"
            try:
                async with asyncio.timeout(0 if failed else _SKILL_TIMEOUT_S):
                    return await answer
            except TimeoutError:
                failed = failed or f"the terminal did not answer within {_SKILL_TIMEOUT_S:g} s"
        return SkillResult(request_id=invoke.request_id, ok=False, error=failed)

    async def _deliver(self, topic: str, payload: Payload) -> bool:
        return await self._publish(topic, payload.to_json())

    async def _publish(self, topic: str, text: str, retain: bool = False) -> bool:
        if self._client is None:
            return False
        try:
            await self._client.publish(topic, text, _QOS, retain, timeout=_TIMEOUT_S)
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
                    f"cannot use the broker at {self.broker} ({error}): start it, correct its address, user or "
                    "password, or leave the setting empty to use the one that is built in",
                ) from error
        connection.add_done_callback(_log_failure)

    async def _close(self, connection: asyncio.Task[None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIMEOUT_S):
                await self._queue.wait_until_sent()
        self._closing = True
        connection.cancel()
        await asyncio.wait({connection})

    async def _stay_connected(self) -> None:
        delay = _FIRST_DELAY_S
        # Disconnecting from a broker that hangs can turn our cancellation into an MqttError: hence the flag.
        while not self._closing:
            connected_s = 0.0
            try:
                connected_s = await self._connect()
            except MqttError:
                if not self._started.done():
                    raise
            # The delay starts over only after a lasting connection: a broker may throw us out right after CONNECT.
            delay = _FIRST_DELAY_S if connected_s > _MAX_DELAY_S else delay
            await asyncio.sleep(delay)
            delay = min(2 * delay, _MAX_DELAY_S)

    async def _connect(self) -> float:
        """Connect and serve until the connection is lost; returns how many seconds it lasted.

        Shared subscriptions need MQTT 5, except with our own broker. One that refuses it gets MQTT 3.1.1 and plain
        subscriptions from then on.
        """
        if self._group and self._needs_5:
            try:
                async with self.broker.client(ProtocolVersion.V5) as client:
                    return await self._serve(client)
            except MqttError as error:
                if self._started.done():
                    raise
                _log.info("mqtt: no MQTT 5 at %s (%s), so nothing is shared among servers", self.broker, error)
                self._group = None
        async with self.broker.client() as client:
            return await self._serve(client)

    async def _serve(self, client: Client) -> float:
        """Receive, and send what is queued, until the connection is lost; returns the seconds that took."""
        started = time.monotonic()
        await self._subscribe(client)
        self._on_connected(client)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send(client))
                tasks.create_task(self._listen(client))
        except* MqttError as errors:
            _log.warning("mqtt: lost the broker at %s (%s); trying again", self.broker, _root_cause(errors))
        finally:
            self._client = None
        return time.monotonic() - started

    def _on_connected(self, client: Client) -> None:
        _log.info("mqtt: connected to the broker at %s", self.broker)
        self._told.forget_all()  # it may have lost what it retained
        self._queue.requeue_unsent()  # what the last connection did not acknowledge goes out again
        self._client = client
        if not self._started.done():
            self._started.set_result(None)

    async def _subscribe(self, client: Client) -> None:
        """Subscribe to the topics of terminals. Done before the hub counts as started, so that no message is missed."""
        if self._on_message is None:
            return
        to_one = list(topics.TO_ONE_SERVER)
        if self._group:
            to_one = [topics.shared(topic, self._group) for topic in to_one]
        codes = await client.subscribe([(topic, _QOS) for topic in (*topics.TO_EVERY_SERVER, *to_one)])
        if any(getattr(code, "value", code) >= _SUBACK_FAILURE for code in codes):
            raise MqttError("it does not let us listen to the terminals")

    async def _send(self, client: Client) -> None:
        """Publish what is queued, several at once: one by one, each would wait for the acknowledgement of the last."""
        in_flight = asyncio.Semaphore(_IN_FLIGHT)

        async def send(parcel: Parcel) -> None:
            await client.publish(parcel.topic, parcel.payload.to_json(), _QOS, parcel.retain)
            self._queue.mark_sent(parcel)
            in_flight.release()

        async with asyncio.TaskGroup() as sending:
            while True:
                await in_flight.acquire()
                sending.create_task(send(await self._queue.take()))

    async def _listen(self, client: Client) -> None:
        """Pass messages on until the connection is lost, which raises MqttError."""
        async for message in client.messages:
            if self._on_message:
                self._forget_if_deleted(message.topic.value, message.payload)
                self._on_message(message.topic.value, message.payload)

    def _forget_if_deleted(self, topic: str, payload: bytes) -> None:
        """A terminal that another server has deleted is told everything anew if it comes back."""
        if not payload and topic.endswith("/online"):
            self._told.forget(topic.split("/")[2])


def _root_cause(error: BaseException) -> BaseException:
    return _root_cause(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _log_failure(connection: asyncio.Task[None]) -> None:
    if not connection.cancelled() and (error := connection.exception()):
        _log.error("mqtt: the connection ended and is not made again", exc_info=error)

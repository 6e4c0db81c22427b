"""The way to the terminals and back, through an MQTT broker: one connection, made again whenever it is lost."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, Self

from aiomqtt import Client, MqttError, ProtocolVersion

from soulgraph.errors import ConfigurationError
from soulgraph.terminals import topics
from soulgraph.terminals.broker import SETTING, Broker
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.payloads import EmotionUpdate, IntentAction, Invoke, Payload, Proactive, Reply, Status
from soulgraph.terminals.reports import SkillResult
from soulgraph.terminals.send_queue import Parcel, SendQueue

_QOS, _REFUSED = 1, 0x80
_IN_FLIGHT = 20
"""As many as brokers take at once when they are not told otherwise."""
_TIMEOUT_S, _SKILL_TIMEOUT_S = 1.0, 8.0
_FIRST_DELAY_S, _MAX_DELAY_S = 0.2, 10.0

_log = logging.getLogger(__name__)

Hear = Callable[[str, bytes], None]


class Hub(Protocol):
    @property
    def addresses(self) -> dict[str, str]:
        """Where terminals find the broker, by protocol."""
        ...

    def emotion_update(self, update: EmotionUpdate) -> None:
        """Never waits. Goes out as soon as the broker is there; what is outdated by then may be left out."""
        ...

    async def intent_action(self, action: IntentAction) -> bool:
        """Whether the broker has said, within a second, that it has it. Never raises and never tries again."""
        ...

    async def invoke(self, terminal_id: str, invoke: Invoke) -> SkillResult:
        """What came of it. A terminal that is offline, or goes, or is silent for 8 s, is a failure, not an error."""
        ...

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        """Whether the broker has it, as with an action."""
        ...

    def reply(self, reply: Reply) -> None:
        """Never waits; every reply goes out as soon as the broker is there."""
        ...

    def status(self, status: Status) -> None:
        """Never waits; only the newest of a terminal need arrive."""
        ...


class MqttHub:
    """One task owns the connection. Whoever publishes finds it there or not, and never waits for it."""

    def __init__(
        self,
        broker: Broker,
        hear: Hear | None = None,
        invocations: Invocations | None = None,
        group: str | None = None,
        websocket: str | None = None,
    ) -> None:
        """`hear` gets what terminals say. Servers of one `group` share what only one need hear, if the broker can."""
        self.addresses = {"mqtt": broker.public_url} | ({"websocket": websocket} if websocket else {})
        self._broker = broker
        self._hear = hear
        self._invocations = invocations or Invocations()
        self._group = group
        self._client: Client | None = None
        self._waiting = SendQueue()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *listening: Any, **options: Any) -> AsyncIterator[Self]:
        """Connected, or a ConfigurationError that says what to do."""
        hub = cls(Broker.parse(url), *listening, **options)
        connection = asyncio.create_task(hub._stay_connected())
        try:
            await hub._start(connection)
            yield hub
        finally:
            await hub._close(connection)

    def emotion_update(self, update: EmotionUpdate) -> None:
        topic = topics.topic(update.terminal_id, "emotion_update")
        self._waiting.put(Parcel(topic, update, topic))

    def status(self, status: Status) -> None:
        topic = topics.topic(status.terminal_id, "status")
        self._waiting.put(Parcel(topic, status, topic))

    def reply(self, reply: Reply) -> None:
        topic = topics.topic(reply.terminal_id, "reply")
        self._waiting.put(Parcel(topic, reply, f"{topic} {reply.input_id}"))

    async def intent_action(self, action: IntentAction) -> bool:
        return await self._deliver(topics.topic(action.terminal_id, "intent_action"), action)

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        return await self._deliver(topics.topic(terminal_id, "proactive"), payload)

    async def invoke(self, terminal_id: str, invoke: Invoke) -> SkillResult:
        topic, failed = topics.topic(terminal_id, "invoke", invoke.request_id), ""
        with self._invocations.asked(terminal_id, invoke.request_id) as answer:
            if not answer.done() and not await self._deliver(topic, invoke):
                failed = "the terminal cannot be reached"
            try:
                async with asyncio.timeout(0 if failed else _SKILL_TIMEOUT_S):
                    return await answer
            except TimeoutError:
                failed = failed or f"the terminal did not answer within {_SKILL_TIMEOUT_S:g} s"
        return SkillResult(request_id=invoke.request_id, ok=False, error=failed)

    async def _deliver(self, topic: str, payload: Payload) -> bool:
        if self._client is None:
            return False
        try:
            await self._client.publish(topic, payload.to_json(), _QOS, timeout=_TIMEOUT_S)
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
                    "password, or leave the setting empty to use the one that is built in",
                ) from error
        connection.add_done_callback(_report)

    async def _close(self, connection: asyncio.Task[None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIMEOUT_S):
                await self._waiting.all_sent()
        self._closing = True
        connection.cancel()
        await asyncio.wait({connection})

    async def _stay_connected(self) -> None:
        delay = _FIRST_DELAY_S
        # Parting from a broker that hangs can turn our cancellation into an MqttError: hence the flag.
        while not self._closing:
            held_s = 0.0
            try:
                held_s = await self._connect()
            except MqttError:
                if not self._started.done():
                    raise
            # A broker that throws us out as soon as we speak is not asked again at once.
            delay = _FIRST_DELAY_S if held_s > _MAX_DELAY_S else delay
            await asyncio.sleep(delay)
            delay = min(2 * delay, _MAX_DELAY_S)

    async def _connect(self) -> float:
        """Only MQTT 5 has shared subscriptions for certain; a broker that refuses it is asked in the older version."""
        if self._group:
            try:
                async with self._broker.client(ProtocolVersion.V5) as client:
                    return await self._serve(client)
            except MqttError as error:
                if self._started.done():
                    raise
                _log.info("mqtt: no MQTT 5 at %s (%s), so nothing is shared among servers", self._broker, error)
                self._group = None
        async with self._broker.client() as client:
            return await self._serve(client)

    async def _serve(self, client: Client) -> float:
        """Listen, and send what waits, until the connection is lost: the seconds that took."""
        began = time.monotonic()
        await self._subscribe(client)
        self._connected(client)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send(client))
                tasks.create_task(self._listen(client))
        except* MqttError as lost:
            _log.warning("mqtt: lost the broker at %s (%s); trying again", self._broker, _first(lost))
        finally:
            self._client = None
        return time.monotonic() - began

    def _connected(self, client: Client) -> None:
        _log.info("mqtt: connected to the broker at %s", self._broker)
        self._waiting.take_back()
        self._client = client
        if not self._started.done():
            self._started.set_result(None)

    async def _subscribe(self, client: Client) -> None:
        """Before anything else, so that whoever finds the server ready is heard."""
        if self._hear is None:
            return
        for_one = [topics.shared(topic, self._group) for topic in topics.FOR_ONE] if self._group else topics.FOR_ONE
        granted = await client.subscribe([(topic, _QOS) for topic in (*topics.FOR_EACH, *for_one)])
        if any(getattr(code, "value", code) >= _REFUSED for code in granted):
            raise MqttError("it does not let us listen to the terminals")

    async def _send(self, client: Client) -> None:
        """Some are always under way: one by one, each would wait for the broker's nod to the last."""
        room = asyncio.Semaphore(_IN_FLIGHT)

        async def send(parcel: Parcel) -> None:
            await client.publish(parcel.topic, parcel.payload.to_json(), _QOS)
            self._waiting.sent(parcel)
            room.release()

        async with asyncio.TaskGroup() as under_way:
            while True:
                await room.acquire()
                under_way.create_task(send(await self._waiting.take()))

    async def _listen(self, client: Client) -> None:
        """Until the connection ends, which raises MqttError."""
        async for message in client.messages:
            if self._hear:
                self._hear(message.topic.value, message.payload)


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _report(connection: asyncio.Task[None]) -> None:
    if not connection.cancelled() and (error := connection.exception()):
        _log.error("mqtt: the connection ended and is not made again", exc_info=error)

"""A tunnel: one MQTT client's way through the server to the broker, with rules for the topics in both directions.

The broker lets the server do everything, and the client comes with the server's credentials. So what the client may say
and hear is decided here, packet by packet.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol
from uuid import uuid4

from soulgraph.errors import Forbidden, InvalidInput, RequestError, TooLarge
from soulgraph.terminals import topics
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import (
    FAILURE,
    LEVEL,
    LEVEL_5,
    PROTOCOL,
    Connect,
    ConnectCode,
    Publish,
    SubAck,
    Subscribe,
    Subscription,
    protocol_of,
    puback,
    refuse_connect,
    refuse_version_5,
    unsubscribed,
)
from soulgraph.terminals.reports import MAX_BYTES

MAX_PACKET = MAX_BYTES + 1024
"""A message with its topic."""

_MAX_FILTERS = 1000
_WRONG_VERSION = "only MQTT 3.1.1 is spoken here: set the client's protocol version to 4"
# What a client may send beside the packets that are looked into: acknowledgements, signs of life and its goodbye.
_PASSED_ON = {Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP, Kind.PINGREQ, Kind.DISCONNECT}


class Rights(Protocol):
    """What the client of a tunnel may do."""

    @property
    def everywhere(self) -> bool:
        """Whether it may listen to all terminals at once, also to those to come."""
        ...

    @property
    def may_resend(self) -> bool:
        """Whether it may also say what only servers say."""
        ...

    async def sees(self, terminal_id: str) -> bool:
        """Whether it may speak and listen as this terminal."""
        ...

    async def checked(self, terminal_id: str, kind: str, payload: bytes) -> bytes:
        """The payload, with the person the client speaks for; a RequestError if it names what is not the client's."""
        ...


class Relay(NamedTuple):
    """What a packet leads to."""

    to_broker: bytes = b""
    to_client: bytes = b""


class ConnectRefused(Exception):
    """`answer` tells the client in its own protocol, `error` says why."""

    def __init__(self, answer: bytes, error: RequestError) -> None:
        super().__init__(error.detail)
        self.answer = answer
        self.error = error


@dataclass
class Tunnel:
    """One connection. `key` is whose it is: clients of two keys never take over each other's connection."""

    rights: Rights
    broker: Broker
    key: str
    connected: bool = False
    _filters: set[str] = field(default_factory=set)
    _pending: dict[int, list[Subscription | None]] = field(default_factory=dict)
    """By packet id, what the broker has yet to acknowledge; None stands for a subscription that is refused here."""

    async def from_client(self, packet: Packet) -> Relay:
        """Raise ConnectRefused, or a RequestError if the connection must be closed for what the client did."""
        if not packet.whole:
            raise TooLarge(f"a message may have {MAX_BYTES} bytes at most")
        if not self.connected:
            return await self._connect(packet)
        match packet.kind:
            case Kind.PUBLISH:
                return Relay(to_broker=await self._publish(Publish.decode(packet)))
            case Kind.SUBSCRIBE:
                return await self._subscribe(Subscribe.decode(packet))
            case Kind.UNSUBSCRIBE:
                self._filters.difference_update(unsubscribed(packet))
            case kind if kind not in _PASSED_ON:
                raise InvalidInput(f"a client does not send packets of the kind {kind} here")
        return Relay(to_broker=packet.encode())

    async def from_broker(self, packet: Packet) -> Relay:
        match packet.kind:
            case Kind.PUBLISH:
                return await self._deliver(packet)
            case Kind.SUBACK:
                return Relay(to_client=self._acknowledge(SubAck.decode(packet)).encode())
        return Relay(to_client=packet.encode())

    async def _connect(self, packet: Packet) -> Relay:
        if packet.kind != Kind.CONNECT:
            raise InvalidInput("the first packet of a client is CONNECT")
        protocol = protocol_of(packet)
        if protocol != (PROTOCOL, LEVEL):
            is_5 = protocol == (PROTOCOL, LEVEL_5)
            answer = refuse_version_5(_WRONG_VERSION) if is_5 else refuse_connect(ConnectCode.WRONG_VERSION)
            raise ConnectRefused(answer, InvalidInput(_WRONG_VERSION))
        try:
            connect = await self._as_broker_wants(Connect.decode(packet))
        except RequestError as error:
            raise ConnectRefused(refuse_connect(ConnectCode.NOT_ALLOWED), error) from error
        self.connected = True
        return Relay(to_broker=connect.encode())

    async def _as_broker_wants(self, connect: Connect) -> Connect:
        """With the server's credentials.

        The session is a clean one: what an old one is subscribed to could not be known here.
        """
        will = connect.will
        if will:
            will = will._replace(payload=await self._checked(will.topic, will.payload))
        password = self.broker.password
        return replace(
            connect,
            client_id=f"tunnel-{self.key}-{connect.client_id or uuid4().hex}",
            clean=True,
            will=will,
            username=self.broker.username,
            password=None if password is None else password.encode(),
        )

    async def _publish(self, message: Publish) -> bytes:
        return replace(message, payload=await self._checked(message.topic, message.payload)).encode()

    async def _checked(self, topic: str, payload: bytes) -> bytes:
        """The payload as it may be published on this topic; a RequestError if it may not."""
        if len(payload) > MAX_BYTES:
            raise TooLarge(f"a message may have {MAX_BYTES} bytes at most")
        if not topics.is_of_terminal(topic):
            raise Forbidden(f"{topic[:200]!r} is no topic of a terminal")
        terminal_id, kind = topics.parse(topic)
        if not self.rights.may_resend and not topics.is_from_terminal(kind):
            raise Forbidden(f"terminals have nothing to say on {topic[:200]!r}")
        if not await self.rights.sees(terminal_id):
            raise Forbidden(f"this key may not speak as {terminal_id!r}")
        return await self.rights.checked(terminal_id, kind, payload)

    async def _subscribe(self, wanted: Subscribe) -> Relay:
        allowed = [
            # At most QoS 1: with it a message that is kept from the client can be acknowledged in its place.
            one._replace(qos=min(one.qos, 1)) if await self._may_subscribe(one.topic_filter) else None
            for one in wanted.subscriptions
        ]
        if not (passed := tuple(filter(None, allowed))):
            return Relay(to_client=SubAck(wanted.packet_id, [FAILURE] * len(allowed)).encode())
        self._pending[wanted.packet_id] = allowed
        self._filters.update(one.topic_filter for one in passed)
        return Relay(to_broker=replace(wanted, subscriptions=passed).encode())

    async def _may_subscribe(self, topic_filter: str) -> bool:
        is_new = topic_filter not in self._filters
        if not topics.is_filter(topic_filter) or (is_new and len(self._filters) >= _MAX_FILTERS):
            return False
        terminal_id = topics.terminal_of_filter(topic_filter)
        return self.rights.everywhere if terminal_id is None else await self.rights.sees(terminal_id)

    def _acknowledge(self, answer: SubAck) -> SubAck:
        """The broker's answer, with a failure in the place of what was never asked of it."""
        asked = self._pending.pop(answer.packet_id, None)
        if asked is None:
            return answer
        granted = iter(answer.codes)
        codes = [FAILURE if one is None else next(granted, FAILURE) for one in asked]
        self._filters -= {one.topic_filter for one, code in zip(asked, codes, strict=True) if one and code == FAILURE}
        return SubAck(answer.packet_id, codes)

    async def _deliver(self, packet: Packet) -> Relay:
        """Pass on what the client may hear. The embedded broker sends what is retained to everybody."""
        message = Publish.decode(packet)
        if packet.whole and len(message.payload) <= MAX_BYTES and await self._may_hear(message.topic):
            return Relay(to_client=packet.encode())
        return Relay(to_broker=puback(message.packet_id) if message.qos == 1 else b"")

    async def _may_hear(self, topic: str) -> bool:
        if not any(topics.matches(one, topic) for one in self._filters):
            return False
        return self.rights.everywhere or await self.rights.sees(topics.parse(topic)[0])

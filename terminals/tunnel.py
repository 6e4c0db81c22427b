"""A tunnel: one MQTT client's way through the server to the broker, with rules for the topics in both directions.

The broker lets the server do everything, and the client comes with the server's credentials. So what the client may say
and hear is decided here, packet by packet.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import uuid4

from soulgraph.errors import InvalidInput, RequestError
from soulgraph.terminals import topics
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import (
    FAILURE,
    MAX_FILTERS,
    Connect,
    ConnectCode,
    Publish,
    SubAck,
    Subscribe,
    Subscription,
    puback,
    refuse_connect,
    unsubscribed,
)
from soulgraph.terminals.reports import MAX_BYTES
from soulgraph.terminals.rules import (
    ConnectRefused,
    Rights,
    check_whole,
    checked_payload,
    may_hear,
    may_subscribe,
    read_connect,
)

TUNNEL = "tunnel-"
"""What the client ids of those begin with who come through a server, and with its credentials."""
# What a client may send beside the packets that are looked into: acknowledgements, signs of life and its goodbye.
_PASSED_ON = {Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP, Kind.PINGREQ, Kind.DISCONNECT}


class Relay(NamedTuple):
    """What a packet leads to."""

    to_broker: bytes = b""
    to_client: bytes = b""


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
        check_whole(packet)
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
        wanted = read_connect(packet)
        try:
            connect = await self._as_broker_wants(wanted)
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
            will = will._replace(payload=await checked_payload(self.rights, will.topic, will.payload))
        password = self.broker.password
        return replace(
            connect,
            client_id=f"{TUNNEL}{self.key}-{connect.client_id or uuid4().hex}",
            clean=True,
            will=will,
            username=self.broker.username,
            password=None if password is None else password.encode(),
        )

    async def _publish(self, message: Publish) -> bytes:
        return replace(message, payload=await checked_payload(self.rights, message.topic, message.payload)).encode()

    async def _subscribe(self, wanted: Subscribe) -> Relay:
        allowed = [await self._allowed(one) for one in wanted.subscriptions]
        if not (passed := tuple(filter(None, allowed))):
            return Relay(to_client=SubAck(wanted.packet_id, [FAILURE] * len(allowed)).encode())
        self._pending[wanted.packet_id] = allowed
        return Relay(to_broker=replace(wanted, subscriptions=passed).encode())

    async def _allowed(self, wanted: Subscription) -> Subscription | None:
        topic_filter = wanted.topic_filter
        if topic_filter not in self._filters and len(self._filters) >= MAX_FILTERS:
            return None
        if not await may_subscribe(self.rights, topic_filter):
            return None
        self._filters.add(topic_filter)
        # At most QoS 1: with it a message that is kept from the client can be acknowledged in its place.
        return wanted._replace(qos=min(wanted.qos, 1))

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
        """Pass on what the client has asked for and may hear. Some brokers send more, such as whatever is retained."""
        message = Publish.decode(packet)
        if packet.whole and len(message.payload) <= MAX_BYTES and await self._may_hear(message.topic):
            return Relay(to_client=packet.encode())
        return Relay(to_broker=puback(message.packet_id) if message.qos == 1 else b"")

    async def _may_hear(self, topic: str) -> bool:
        if not any(topics.matches(one, topic) for one in self._filters):
            return False
        return await may_hear(self.rights, topic)

"""One client of the embedded broker, from its CONNECT to its end."""

import asyncio
import time
from dataclasses import replace
from typing import Protocol
from uuid import uuid4

from soulgraph.errors import InvalidInput, RequestError, SoulgraphError, Unauthorized
from soulgraph.terminals import topics
from soulgraph.terminals.client_queue import ClientQueue, Message
from soulgraph.terminals.client_sender import Sender
from soulgraph.terminals.embedded_wires import Wire
from soulgraph.terminals.fair_share import FairShare, Slice
from soulgraph.terminals.message_router import MessageRouter
from soulgraph.terminals.mqtt_framing import Kind, Packet, PacketBuffer
from soulgraph.terminals.mqtt_packets import (
    CONNECTED,
    FAILURE,
    MAX_FILTERS,
    PONG,
    Connect,
    ConnectCode,
    Publish,
    SubAck,
    Subscribe,
    Subscription,
    acknowledge,
    packet_id_of,
    refuse_connect,
    unsubscribed,
)
from soulgraph.terminals.rules import (
    MAX_PACKET,
    NO_CONNECT,
    ConnectRefused,
    Login,
    check_whole,
    checked_payload,
    may_hear,
    may_subscribe,
    read_connect,
)

CONNECT_S = 10.0
"""Seconds for a CONNECT, and for the rest of a packet that has begun."""
_MAX_CONNECT = 16 * 1024
_MAX_UNRELEASED = 1000
"""Messages of QoS 2 that have been received and not yet been released."""
_KEEPALIVE_FACTOR = 1.5


class Host(Protocol):
    """What a client needs of its broker."""

    router: MessageRouter
    share: FairShare

    async def login(self, connect: Connect) -> Login: ...

    def enter(self, client: "Client") -> None:
        """Let a client in that has logged in; one of the same key and client id must go."""
        ...

    def leave(self, client: "Client") -> None: ...


class Client:
    """`login` is who it is, once its CONNECT was accepted; `parted_because` says why the broker has ended it."""

    def __init__(self, wire: Wire, host: Host) -> None:
        self.wire = wire
        self._host = host
        self._slice = Slice(host.share)
        self._buffer = PacketBuffer(_MAX_CONNECT)
        self.queue = ClientQueue()
        self._sender = Sender(self.queue, wire, self._may_hear)
        self.login: Login | None = None
        self.connect = Connect("", 0)
        self.is_server = False
        self.parted_because = ""
        self._will: Message | None = None
        self._filters: set[str] = set()
        self._unreleased: set[int] = set()
        self._heard_at = self._packet_began_at = time.monotonic()
        self._is_reading = True
        self._receiving: asyncio.Task[None] | None = None
        self._has_left = False

    @property
    def identity(self) -> tuple[str, str]:
        """Of its key and its client id: clients of two keys never take over each other's connection."""
        return (self.login.key_id if self.login else "", self.connect.client_id)

    @property
    def name(self) -> str:
        return self.login.name if self.login else "a client"

    async def serve(self) -> None:
        """Until one side ends it. Raises ConnectRefused, or another error that says what the client did wrong."""
        self._receiving = asyncio.create_task(self._receive())
        tasks = {self._receiving, asyncio.create_task(self._sender.run())}
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                if not task.cancelled():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._slice.begin()  # many may end at once, and each may have had a thousand subscriptions
            self.leave()

    def part(self, reason: str) -> None:
        """End the connection from this side."""
        self.parted_because = reason
        if self._receiving:
            self._receiving.cancel()

    def leave(self) -> None:
        """Take it out of the broker and publish its last will. Its connection may still be open."""
        if self._has_left:
            return
        self._has_left = True
        for topic_filter in self._filters:
            self._host.router.unsubscribe(self, topic_filter)
        self._host.leave(self)
        if self._will:
            self._host.router.publish(self._will)

    def deliver(self, message: Message) -> None:
        """Queue a message. A client that lets too many wait must go; the server is waited for by who publishes."""
        if self.queue.is_full and not self.is_server:
            self.part("it reads too slowly")
        else:
            self.queue.put(message)

    def is_overdue(self, now: float) -> bool:
        """Whether it has been silent for too long, or too slow with a packet."""
        if not self._is_reading:  # it is we who keep it waiting
            return False
        if self.login is None or self._buffer.is_inside_packet:
            return now - self._packet_began_at > CONNECT_S
        keepalive_s = self.connect.keepalive_s
        return keepalive_s > 0 and now - self._heard_at > _KEEPALIVE_FACTOR * keepalive_s

    async def _receive(self) -> None:
        """Handle what the client sends, until it says goodbye or is gone."""
        while data := await self._read():
            if self.login is None and not self._buffer.is_inside_packet and data[0] >> 4 != Kind.CONNECT:
                raise InvalidInput(NO_CONNECT)  # at once: what looks like its length may promise much
            await self._slice.begin()
            for packet in self._buffer.feed(data):
                check_whole(packet)
                if packet.kind == Kind.DISCONNECT and self.login:
                    self._will = None
                    return
                await self._handle(packet)
                self._packet_began_at = time.monotonic()
                await self._slice.go_on()

    async def _read(self) -> bytes:
        self._heard_at = self._packet_began_at
        self._is_reading = True
        data = await self.wire.receive()
        self._is_reading = False
        if not self._buffer.is_inside_packet:
            self._packet_began_at = time.monotonic()
        return data

    async def _handle(self, packet: Packet) -> None:
        if self.login is None:
            await self._begin(read_connect(packet))
            return
        match packet.kind:
            case Kind.PUBLISH:
                await self._publish(Publish.decode(packet), self.login)
            case Kind.SUBSCRIBE:
                await self._subscribe(Subscribe.decode(packet), self.login)
            case Kind.UNSUBSCRIBE:
                self._unsubscribe(unsubscribed(packet))
                await self._answer(acknowledge(Kind.UNSUBACK, packet_id_of(packet)))
            case Kind.PUBREL:
                self._unreleased.discard(packet_id_of(packet))
                await self._answer(acknowledge(Kind.PUBCOMP, packet_id_of(packet)))
            case Kind.PINGREQ:
                await self._answer(PONG)
            case kind if kind != Kind.PUBACK:  # nothing waits for it: the connection brings what was sent, or ends
                raise InvalidInput(f"a client does not send packets of the kind {kind} here")

    async def _begin(self, connect: Connect) -> None:
        """Let the client in, or raise ConnectRefused."""
        try:
            login = await self._host.login(connect)
            if will := connect.will:
                payload = await checked_payload(login.rights, will.topic, will.payload)
                self._will = Message(will.topic, payload, will.qos, will.retain)
        except SoulgraphError as error:
            raise ConnectRefused(refuse_connect(_code_of(error)), error) from error
        self.connect = replace(connect, client_id=connect.client_id or uuid4().hex)
        self.login = login
        self._buffer.limit = MAX_PACKET
        self._host.enter(self)
        self._slice.exempt = self.is_server
        self.queue.put(CONNECTED)

    async def _publish(self, message: Publish, login: Login) -> None:
        payload = await checked_payload(login.rights, message.topic, message.payload)
        if message.qos < 2 or self._is_first(message.packet_id):
            if not self.is_server:
                await self._host.router.wait_for_server()
            self._host.router.publish(Message(message.topic, payload, message.qos, message.retain))
        if message.qos:
            kind = Kind.PUBACK if message.qos == 1 else Kind.PUBREC
            await self._answer(acknowledge(kind, message.packet_id))

    def _is_first(self, packet_id: int) -> bool:
        """Whether a message of QoS 2 comes for the first time; it may come again until it is released."""
        if packet_id in self._unreleased:
            return False
        if len(self._unreleased) >= _MAX_UNRELEASED:
            raise InvalidInput(f"more than {_MAX_UNRELEASED} messages of QoS 2 wait for their release")
        self._unreleased.add(packet_id)
        return True

    async def _subscribe(self, wanted: Subscribe, login: Login) -> None:
        """Answer, and then tell what is retained. QoS 2 is granted as 1."""
        granted: list[Subscription] = []
        codes = []
        for one in wanted.subscriptions:
            await self._slice.go_on()
            asked = one._replace(qos=min(one.qos, 1))
            if await self._may_subscribe(login, one.topic_filter) and self._add(asked):
                granted.append(asked)
                codes.append(asked.qos)
            else:
                codes.append(FAILURE)
        await self._answer(SubAck(wanted.packet_id, codes).encode())
        for one in granted:
            await self._tell_retained(one)

    async def _may_subscribe(self, login: Login, topic_filter: str) -> bool:
        """What is shared is for servers, which share the work."""
        if topics.is_shared(topic_filter):
            return self.is_server and topics.is_filter(topics.unshared(topic_filter))
        return await may_subscribe(login.rights, topic_filter)

    def _add(self, wanted: Subscription) -> bool:
        topic_filter, qos = wanted
        is_new = topic_filter not in self._filters
        if self._has_left or (is_new and len(self._filters) >= MAX_FILTERS):
            return False
        if not self._host.router.subscribe(self, topic_filter, qos):
            return False
        self._filters.add(topic_filter)
        return True

    async def _tell_retained(self, subscription: Subscription) -> None:
        for messages in self._host.router.retained(subscription.topic_filter):
            await self._slice.go_on()
            for message in messages:
                await self.queue.wait_for_room()
                self.queue.put(message._replace(qos=min(message.qos, subscription.qos)))

    def _unsubscribe(self, topic_filters: list[str]) -> None:
        for topic_filter in self._filters.intersection(topic_filters):
            self._filters.remove(topic_filter)
            self._host.router.unsubscribe(self, topic_filter)

    async def _may_hear(self, topic: str) -> bool:
        return self.login is not None and await may_hear(self.login.rights, topic)

    async def _answer(self, packet: bytes) -> None:
        await self.queue.wait_for_room()
        self.queue.put(packet)


def _code_of(error: SoulgraphError) -> ConnectCode:
    if isinstance(error, Unauthorized):
        return ConnectCode.WRONG_PASSWORD
    return ConnectCode.NOT_ALLOWED if isinstance(error, RequestError) else ConnectCode.UNAVAILABLE

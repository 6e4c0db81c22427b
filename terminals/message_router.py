"""Brings each message of the embedded broker to those who have subscribed to its topic."""

from collections.abc import Iterator
from typing import Protocol
from zlib import crc32

from soulgraph.terminals import topics
from soulgraph.terminals.client_queue import ClientQueue, Message
from soulgraph.terminals.retained import RetainedMessages
from soulgraph.terminals.subscriptions import Subscriptions


class Recipient(Protocol):
    def deliver(self, message: Message) -> None: ...


class Subscriber(Recipient, Protocol):
    queue: ClientQueue

    @property
    def is_server(self) -> bool:
        """Whether it is a server's own connection, which hears all terminals."""
        ...


class Group:
    """The servers that share a subscription: each message goes to one of them."""

    def __init__(self) -> None:
        self.members: list[Subscriber] = []

    def deliver(self, message: Message) -> None:
        """What comes on one topic goes to the same server while none comes or goes: so inputs stay in order."""
        self.members[crc32(message.topic.encode()) % len(self.members)].deliver(message)


class MessageRouter:
    def __init__(self) -> None:
        self._subscriptions: Subscriptions[Recipient] = Subscriptions()
        self._retained = RetainedMessages()
        self._servers: set[Subscriber] = set()
        self._groups: dict[str, Group] = {}

    def subscribe(self, subscriber: Subscriber, topic_filter: str, qos: int) -> bool:
        """False if there are too many subscriptions already."""
        if subscriber.is_server:
            self._servers.add(subscriber)
        if not topics.is_shared(topic_filter):
            return self._subscriptions.add(topic_filter, subscriber, qos)
        group = self._groups.get(topic_filter) or Group()
        if not self._subscriptions.add(topics.unshared(topic_filter), group, qos):
            return False
        self._groups[topic_filter] = group
        if subscriber not in group.members:
            group.members.append(subscriber)
        return True

    def unsubscribe(self, subscriber: Subscriber, topic_filter: str) -> None:
        if not topics.is_shared(topic_filter):
            self._subscriptions.remove(topic_filter, subscriber)
            return
        group = self._groups[topic_filter]
        group.members.remove(subscriber)
        if not group.members:
            self._subscriptions.remove(topics.unshared(topic_filter), self._groups.pop(topic_filter))

    def leave(self, subscriber: Subscriber) -> None:
        if subscriber in self._servers:
            self._servers.remove(subscriber)
            subscriber.queue.clear()  # whoever waits for room in it would wait for ever

    def retained(self, topic_filter: str) -> Iterator[list[Message]]:
        return self._retained.matching(topic_filter)

    async def wait_for_server(self) -> None:
        """Return when every server has room for another message: none is ever lost on the way to it."""
        for server in tuple(self._servers):
            await server.queue.wait_for_room()

    def publish(self, message: Message) -> None:
        """Retain a message if it is to be and can be, and deliver it."""
        if message.retain:
            self._retained.keep(message)
        for recipient, qos in self._subscriptions.of(message.topic).items():
            recipient.deliver(Message(message.topic, message.payload, min(qos, message.qos)))

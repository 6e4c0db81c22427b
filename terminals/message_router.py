"""Brings each message of the embedded broker to those who have subscribed to its topic."""

from collections.abc import Iterator
from typing import Protocol

from soulgraph.terminals.client_queue import ClientQueue, Message
from soulgraph.terminals.retained import RetainedMessages
from soulgraph.terminals.subscriptions import Subscriptions


class Subscriber(Protocol):
    queue: ClientQueue

    @property
    def is_server(self) -> bool:
        """Whether it is the server's own connection, which hears all terminals."""
        ...

    def deliver(self, message: Message) -> None: ...


class MessageRouter:
    def __init__(self) -> None:
        self._subscriptions: Subscriptions[Subscriber] = Subscriptions()
        self._retained = RetainedMessages()
        self._server: Subscriber | None = None

    def subscribe(self, subscriber: Subscriber, topic_filter: str, qos: int) -> bool:
        """False if there are too many subscriptions already."""
        if subscriber.is_server:
            self._server = subscriber
        return self._subscriptions.add(topic_filter, subscriber, qos)

    def unsubscribe(self, subscriber: Subscriber, topic_filter: str) -> None:
        self._subscriptions.remove(topic_filter, subscriber)

    def leave(self, subscriber: Subscriber) -> None:
        if self._server is subscriber:
            self._server = None

    def retained(self, topic_filter: str) -> Iterator[list[Message]]:
        return self._retained.matching(topic_filter)

    async def wait_for_server(self) -> None:
        """Return when the server has room for another message: none is ever lost on the way to it."""
        if self._server:
            await self._server.queue.wait_for_room()

    def publish(self, message: Message) -> None:
        """Retain a message if it is to be and can be, and deliver it."""
        if message.retain:
            self._retained.keep(message)
        for subscriber, qos in self._subscriptions.of(message.topic).items():
            subscriber.deliver(Message(message.topic, message.payload, min(qos, message.qos)))

"""The bus: messages from each server to all that share its database. With SQLite there is only one.

What is published under a topic reaches every handler of that topic, on every server and in the same order. Messages are
hints, not records: what must not be lost is in the database, and after a gap it is read from there.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import uuid4

from sqlalchemy import URL

from soulgraph.runtime.postgres_bus import PostgresBus
from soulgraph.stores.notifications import Notifications
from soulgraph.stores.records import Json

Handler = Callable[[Json], None]


class Bus(Protocol):
    @property
    def server_id(self) -> str:
        """Another one in every process."""
        ...

    def publish(self, topic: str, data: Json) -> None:
        """Send a message to every server, this one too. It never waits and never fails."""
        ...

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Call the handler with every message of this topic from now on."""
        ...

    def on_gap(self, handler: Callable[[], None]) -> None:
        """Call the handler whenever messages of other servers may have been lost, or heard in another order."""
        ...

    async def settled(self) -> None:
        """Return when handlers of this server have heard everything that it has published so far."""
        ...


class LocalBus:
    """Of a server that is alone: handlers are called at once."""

    def __init__(self) -> None:
        self.server_id = uuid4().hex[:8]
        self._handlers: defaultdict[str, list[Handler]] = defaultdict(list)

    def publish(self, topic: str, data: Json) -> None:
        for handler in self._handlers.get(topic, ()):
            handler(data)

    def subscribe(self, topic: str, handler: Handler) -> None:
        self._handlers[topic].append(handler)

    def on_gap(self, handler: Callable[[], None]) -> None:
        """Nothing is lost on the way from here to here."""

    async def settled(self) -> None:
        """Everything was heard at once."""


@asynccontextmanager
async def open_bus(url: URL) -> AsyncIterator[Bus]:
    """The bus of all servers on this database."""
    if url.get_backend_name() != "postgresql":
        yield LocalBus()
        return
    bus = PostgresBus(Notifications(url))
    async with bus.running():
        yield bus

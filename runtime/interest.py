"""Who listens on other servers: each announces to all of them what its listeners hear, and that it is alive.

What has changed is announced at once, everything when a server that has just started asks for it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from soulgraph.nodes.context import ListenerEvent
from soulgraph.runtime.bus import Bus
from soulgraph.runtime.notices import Subscription
from soulgraph.runtime.periodic import Periodic
from soulgraph.stores.records import Json

HEARTBEAT_S = 10.0
FORGET_S = 30.0


@dataclass(slots=True)
class _Server:
    """How many listeners have which subscription there, by soul."""

    heard_at: float
    souls: dict[str, dict[Subscription, int]] = field(default_factory=dict)

    def set_count(self, subscription: Subscription, count: int) -> None:
        counts = self.souls.setdefault(subscription.soul_id, {})
        counts[subscription] = count
        if not count:
            del counts[subscription]
        if not counts:
            del self.souls[subscription.soul_id]


class Interest:
    def __init__(self, bus: Bus, clock: Callable[[], float] = time.monotonic) -> None:
        self._bus = bus
        self._clock = clock
        self._own: Counter[Subscription] = Counter()
        self._changed: set[Subscription] = set()
        self._servers: dict[str, _Server] = {}
        bus.subscribe("interest", self._note)
        bus.subscribe("interest_wanted", lambda _: self._announce(everything=True))
        bus.subscribe("server_gone", self._forget)
        bus.on_gap(self._ask)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ask the other servers what they have, and tell them that this one is alive for as long as the block lasts."""
        self._ask()
        async with Periodic("interest", HEARTBEAT_S, self._beat).running():
            yield
        self._bus.publish("server_gone", {"server_id": self._bus.server_id})

    @property
    def servers(self) -> set[str]:
        """The other servers that are alive."""
        self._forget_silent()
        return set(self._servers)

    @property
    def subscriptions(self) -> set[Subscription]:
        """What listeners of other servers have."""
        self._forget_silent()
        return {one for server in self._servers.values() for counts in server.souls.values() for one in counts}

    def hearing(
        self, soul_id: str, event: ListenerEvent, people: Collection[str] | None
    ) -> list[tuple[Subscription, int]]:
        """Under which subscriptions, and how often, such an event is heard on other servers."""
        self._forget_silent()
        found = [server.souls[soul_id] for server in self._servers.values() if soul_id in server.souls]
        return [(one, count) for counts in found for one, count in counts.items() if one.hears(event, people)]

    def count(self, soul_id: str, event: ListenerEvent, people: Collection[str] | None) -> int:
        """How many hear such an event on other servers."""
        return sum(count for _, count in self.hearing(soul_id, event, people))

    def add(self, subscription: Subscription) -> None:
        """A listener of this server has it."""
        self._own[subscription] += 1
        self._announce_soon(subscription)

    def remove(self, subscription: Subscription) -> None:
        """A listener of this server has it no more."""
        self._own[subscription] -= 1
        if not self._own[subscription]:
            del self._own[subscription]
        self._announce_soon(subscription)

    def _announce_soon(self, subscription: Subscription) -> None:
        """Together with what else changes meanwhile."""
        if not self._changed:
            asyncio.get_running_loop().call_soon(self._announce)
        self._changed.add(subscription)

    def _announce(self, everything: bool = False) -> None:
        """The numbers as they are now, so that it does no harm to hear them twice."""
        subscriptions = [*self._own] if everything else self._changed
        counts = [[*one, self._own[one]] for one in subscriptions]
        self._changed = set()
        self._bus.publish("interest", {"server_id": self._bus.server_id, "everything": everything, "counts": counts})

    async def _beat(self) -> None:
        self._announce()

    def _ask(self) -> None:
        self._bus.publish("interest_wanted", {})

    def _note(self, data: Json) -> None:
        server_id = data["server_id"]
        if server_id == self._bus.server_id:
            return
        if server_id not in self._servers and not data["everything"]:
            self._ask()  # once: it is known from here on
        if server_id not in self._servers or data["everything"]:
            self._servers[server_id] = _Server(self._clock())
        server = self._servers[server_id]
        server.heard_at = self._clock()
        for *subscription, count in data["counts"]:
            server.set_count(Subscription(*subscription), count)

    def _forget(self, data: Json) -> None:
        self._servers.pop(data["server_id"], None)

    def _forget_silent(self) -> None:
        """Servers that were killed say no goodbye."""
        earliest = self._clock() - FORGET_S
        for server_id in [key for key, server in self._servers.items() if server.heard_at < earliest]:
            del self._servers[server_id]

"""Who is there: what is heard of terminals, kept in mind until the next tick writes it down."""

import logging
from collections.abc import Callable

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import Sighting
from soulgraph.terminals import topics

_MOST = 10_000
_SAYINGS = {("online", b"online"): True, ("online", b"offline"): False, ("heartbeat", b"1"): True}

_log = logging.getLogger(__name__)


class Presence:
    """Written in batches, so that neither a heartbeat nor a turn costs a transaction of its own.

    What an outage of the database loses, the next heartbeat says again.
    """

    def __init__(self, clock: Callable[[], float], count_dropped: Callable[[], None]) -> None:
        self._clock = clock
        self._count_dropped = count_dropped
        self._sightings: dict[str, Sighting] = {}

    def seen(self, terminal_id: str, online: bool = True) -> None:
        if len(self._sightings) < _MOST or terminal_id in self._sightings:
            self._sightings[terminal_id] = Sighting(terminal_id, online, self._clock())

    def hear(self, topic: str, payload: bytes) -> None:
        """A terminal's message; one that makes no sense is counted, logged and dropped."""
        try:
            terminal_id, kind = topics.sender(topic)
            self.seen(terminal_id, _SAYINGS[kind, payload])
        except (InvalidInput, KeyError):
            self._count_dropped()
            _log.warning("mqtt: dropped %r on %r", payload[:80], topic[:200])

    def take(self) -> list[Sighting]:
        """What was heard since it was last asked for, the newest of each terminal."""
        sightings, self._sightings = self._sightings, {}
        return list(sightings.values())

"""Who is there: what is heard of terminals, kept in mind until the next tick writes it down."""

from collections.abc import Callable

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import Sighting

_MOST = 10_000
_SAYINGS = {("online", b"online"): True, ("online", b"offline"): False, ("heartbeat", b"1"): True}


class Presence:
    """Written in batches, so that neither a heartbeat nor a turn costs a transaction of its own.

    What an outage of the database loses, the next heartbeat says again.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sightings: dict[str, Sighting] = {}

    def seen(self, terminal_id: str, online: bool = True) -> None:
        if len(self._sightings) < _MOST or terminal_id in self._sightings:
            self._sightings[terminal_id] = Sighting(terminal_id, online, self._clock())

    def hear(self, terminal_id: str, kind: str, payload: bytes) -> None:
        """What a terminal says of itself, in one of the few words there are for it."""
        online = _SAYINGS.get((kind, payload))
        if online is None:
            raise InvalidInput(f"{payload[:80]!r} says nothing of presence")
        self.seen(terminal_id, online)

    def take(self) -> list[Sighting]:
        """What was heard since it was last asked for, the newest of each terminal."""
        sightings, self._sightings = self._sightings, {}
        return list(sightings.values())

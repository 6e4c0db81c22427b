"""Who is there: what is heard of terminals, kept in mind until the next tick writes it down."""

from collections.abc import Callable, Iterable

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import PresenceReport

_MAX_TERMINALS = 10_000
_SAYINGS = {("online", b"online"): True, ("online", b"offline"): False, ("heartbeat", b"1"): True}


class Presence:
    """Written in batches, so that neither a heartbeat nor a turn costs a transaction of its own.

    What an outage of the database loses, the next heartbeat says again. `gone` are those whose last word was that
    they are offline.
    """

    def __init__(self, clock: Callable[[], float], gone: Iterable[str] = ()) -> None:
        self._clock = clock
        self._sightings: dict[str, PresenceReport] = {}
        self.gone = set(gone)

    def seen(self, terminal_id: str, online: bool = True) -> None:
        """It is known from the terminal itself."""
        if len(self._sightings) < _MAX_TERMINALS or terminal_id in self._sightings:
            self._sightings[terminal_id] = PresenceReport(terminal_id, online, self._clock())
        if online:
            self.gone.discard(terminal_id)
        elif len(self.gone) < _MAX_TERMINALS:
            self.gone.add(terminal_id)

    def spoken_at(self, terminal_id: str) -> None:
        """Where somebody speaks there is a terminal, but that does not bring one back that has gone."""
        if terminal_id not in self.gone:
            self.seen(terminal_id)

    def confirm(self, awake: Iterable[str]) -> None:
        """Other servers have heard of these; what was heard here since is newer."""
        self.gone.difference_update(terminal_id for terminal_id in awake if terminal_id not in self._sightings)

    def hear(self, terminal_id: str, kind: str, payload: bytes) -> None:
        """What a terminal says of itself, in one of the few words there are for it."""
        online = _SAYINGS.get((kind, payload))
        if online is None:
            raise InvalidInput(f"{payload[:80]!r} says nothing of presence")
        self.seen(terminal_id, online)

    def take(self) -> list[PresenceReport]:
        """What was heard since it was last asked for, the newest of each terminal."""
        reports, self._sightings = self._sightings, {}
        return list(reports.values())

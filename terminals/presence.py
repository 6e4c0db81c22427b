"""Which terminals are online: their reports, kept in memory until the next tick writes them to the database."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import PresenceReport
from soulgraph.stores.terminals import MAX_TERMINALS

_ONLINE_BY_MESSAGE = {("online", b"online"): True, ("online", b"offline"): False, ("heartbeat", b"1"): True}


class PresenceChange(NamedTuple):
    terminal_id: str
    soul_id: str
    online: bool


class Presence:
    """Reports are written in batches, so that neither a heartbeat nor a turn costs a transaction of its own.

    What is lost while the database is down, the next heartbeat reports again. `gone` are the terminals whose last
    report was that they are offline.
    """

    def __init__(self, clock: Callable[[], float], gone: Iterable[str] = ()) -> None:
        self._clock = clock
        self._unwritten: dict[str, PresenceReport] = {}
        self._awake: dict[str, str] | None = None
        self.gone = set(gone)

    def seen(self, terminal_id: str, online: bool = True) -> None:
        """Note what a terminal reported about itself."""
        if len(self._unwritten) < MAX_TERMINALS or terminal_id in self._unwritten:
            self._unwritten[terminal_id] = PresenceReport(terminal_id, online, self._clock())
        if online:
            self.gone.discard(terminal_id)
        elif len(self.gone) < MAX_TERMINALS:
            self.gone.add(terminal_id)

    def forget(self, terminal_id: str) -> None:
        """Forget a terminal that has been deleted."""
        self._unwritten.pop(terminal_id, None)
        self.gone.discard(terminal_id)

    def spoken_at(self, terminal_id: str) -> None:
        """Note a turn at a terminal as a sign that it is online, unless its own last report was that it is offline."""
        if terminal_id not in self.gone:
            self.seen(terminal_id)

    def confirm(self, awake: Iterable[str]) -> None:
        """Clear `gone` of terminals the database has as online. A report received here that is unwritten is newer."""
        self.gone.difference_update(terminal_id for terminal_id in awake if terminal_id not in self._unwritten)

    def changes(self, awake: Mapping[str, str]) -> list[PresenceChange]:
        """Which terminals have come and gone since the last call, given all that are online now and their souls.

        A terminal that has another soul now is gone from the one before. The first call only takes note.
        """
        before = awake if self._awake is None else self._awake
        self._awake = dict(awake)
        gone = [PresenceChange(*terminal, online=False) for terminal in sorted(before.items() - awake.items())]
        return gone + [PresenceChange(*terminal, online=True) for terminal in sorted(awake.items() - before.items())]

    def receive(self, terminal_id: str, kind: str, payload: bytes) -> None:
        """Take in a message on presence; InvalidInput if it is none of the three there are."""
        online = _ONLINE_BY_MESSAGE.get((kind, payload))
        if online is None:
            raise InvalidInput(f"{payload[:80]!r} says nothing of presence")
        self.seen(terminal_id, online)

    def take(self) -> list[PresenceReport]:
        """The reports since the last call, the newest of each terminal."""
        reports, self._unwritten = self._unwritten, {}
        return list(reports.values())

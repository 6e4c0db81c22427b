"""What listeners are told: notices, who hears which, and those that are kept to be told again."""

import json
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from soulgraph.nodes.context import ListenerEvent

_MAX_KEPT = 5000
_MAX_REPLAYED = 50
"""Of one soul; who has missed more reads everything anew, which is less work for both."""
_ALWAYS = frozenset({"proactive", "state_changed"})
"""What a socket hears of a soul that it has only spoken to."""

encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True)
class Notice:
    """One event about a soul; with an `id` if it can be told again."""

    event: ListenerEvent
    data: dict[str, Any]
    id: str | None = field(default=None, compare=False)

    @cached_property
    def json(self) -> str:
        """The data as JSON, made once for however many listen."""
        return encode_json(self.data)


class Subscription(NamedTuple):
    """What a listener hears: of which soul, for which person (None: anybody's), and how much of it.

    `everything`, or only what the soul says and that its profile has changed; `nodes`: the steps of its graphs too,
    and for an owner what they return.
    """

    soul_id: str
    user_id: str | None = None
    everything: bool = True
    nodes: bool = False
    is_owner: bool = False

    def hears(self, event: ListenerEvent, people: Collection[str] | None) -> bool:
        """Whether an event is told that concerns these people; None: everybody."""
        concerned = people is None or self.user_id is None or self.user_id in people
        return concerned and (self.everything or event in _ALWAYS) and (self.nodes or event != "node")


class _Kept(NamedTuple):
    soul_id: str
    people: Collection[str] | None
    notice: Notice


class KeptNotices:
    """The last notices in the order in which they were heard, which is the same on every server."""

    def __init__(self, first_id: str, limit: int = _MAX_KEPT) -> None:
        self._limit = limit
        self.begin(first_id)

    def begin(self, first_id: str) -> None:
        """Forget everything: what is told from now on comes after this id."""
        self.last_id = first_id
        self._kept: deque[_Kept] = deque()
        self._place_of = {first_id: 0}
        self._gone = 0

    def mark(self, event_id: str) -> None:
        """Let somebody go on after this id, which is of no notice."""
        self.add("", (), Notice("listening", {}, event_id))

    def add(self, soul_id: str, people: Collection[str] | None, notice: Notice) -> None:
        assert notice.id is not None, "what is told again has an id"
        if len(self._kept) >= self._limit:
            self._drop_oldest()
        self._kept.append(_Kept(soul_id, people, notice))
        self._place_of[notice.id] = self._gone + len(self._kept)
        self.last_id = notice.id

    def since(self, subscription: Subscription, event_id: str) -> list[Notice] | None:
        """What was told under this subscription after that event; None if it cannot be told again."""
        place = self._place_of.get(event_id)
        if place is None:
            return None
        told = [
            one.notice
            for one in islice(self._kept, place - self._gone, None)
            if one.soul_id == subscription.soul_id and subscription.hears(one.notice.event, one.people)
        ]
        return told if len(told) <= _MAX_REPLAYED else None

    def _drop_oldest(self) -> None:
        """Whoever has heard the dropped one last can still go on; whoever has heard less cannot."""
        oldest = next(iter(self._place_of))
        del self._place_of[oldest]
        self._kept.popleft()
        self._gone += 1

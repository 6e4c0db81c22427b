"""The emotion history of a soul: a fixed number of places (ring buffers), dense for recent times and thin for old ones.

The points of a series are numbered. Every other one goes to the first ring, every other one of the rest to the second,
and so on; a full ring overwrites its oldest point. So each point is written once, none has to be searched for or
deleted, and the density of points halves each time one looks twice as far back.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, delete

from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import Gate
from soulgraph.stores import schema
from soulgraph.stores.records import EmotionPoint
from soulgraph.stores.repository import Repository, fields_of

RESOLUTION_S = 10.0
RINGS, SLOTS = 20, 49  # SLOTS is odd: the points of a ring have odd numbers, and only then fill all its slots
PLACES = 2 * RINGS * SLOTS
_TURNS, _TICKS = 0, RINGS * SLOTS


def point_of(soul_id: str, feeling: EmotionState, gate: Gate) -> EmotionPoint:
    return EmotionPoint(
        soul_id=soul_id,
        at=feeling.updated_at,
        p=feeling.p,
        a=feeling.a,
        d=feeling.d,
        boredom=feeling.boredom,
        shock_load=feeling.shock_load,
        extreme_memory=feeling.extreme_memory,
        exec_probability=gate.exec_probability,
        exec_mode=gate.exec_mode,
        locked=gate.locked,
        drift=feeling.drift.to_dict(),
    )


def stretch_of(at: float) -> int:
    """The number of the 10-second interval that a tick falls into; the history keeps one point per interval."""
    return int(at // RESOLUTION_S)


def place_of(n: int) -> int:
    """The place of the n-th point of a series. Point 0 goes to the last ring, where it stays longest."""
    # `n & -n` is the lowest bit set in n: odd numbers go to ring 0, multiples of 2 but not of 4 to ring 1, and so on.
    ring = min((n & -n).bit_length(), RINGS) - 1 if n else RINGS - 1
    return ring * SLOTS + (n >> ring) % SLOTS


class History(Repository[EmotionPoint]):
    table = schema.emotion_history
    record = EmotionPoint

    async def add_turn(self, n: int, point: EmotionPoint) -> None:
        """Store the emotion after the soul's n-th input, counted from 0."""
        await self._put(place=_TURNS + place_of(n), **fields_of(point))

    async def drop_turns(self, soul_id: str, since: int, until: int) -> None:
        """Delete the points after the inputs from number `since` to below `until`, counted from 0."""
        row = self.table.c
        places = {_TURNS + place_of(n) for n in range(since, until)}
        await self._connection.execute(delete(self.table).where(row.soul_id == soul_id, row.place.in_(places)))

    async def add_ticks(self, points: Sequence[EmotionPoint]) -> None:
        rows = [{"place": _TICKS + place_of(stretch_of(point.at)), **fields_of(point)} for point in points]
        await self._put_all(rows)

    async def between(self, soul_id: str, since: float, until: float) -> list[EmotionPoint]:
        """The points of turns and ticks in this time, the oldest first."""
        return await self._all(self._between(), soul_id=soul_id, since=since, until=until)

    @classmethod
    @cache
    def _between(cls) -> Select[Any]:
        at = cls.table.c.at
        return cls._rows("soul_id").where(at.between(bindparam("since"), bindparam("until"))).order_by(at)

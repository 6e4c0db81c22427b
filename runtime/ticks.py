"""Time passes for the souls that are awake: all in one step, stored together, and each terminal is told.

A soul that nobody watches needs no ticks, because reading it draws its emotion on to the moment.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar, cast

from soulgraph.runtime.rounds import Rounds
from soulgraph.soul.constants import Constants
from soulgraph.soul.emotions import EmotionState, EmotionStateDict
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.population import Population
from soulgraph.stores.factories import default_session_id
from soulgraph.stores.history import point_of, stretch_of
from soulgraph.stores.records import Json, MoodRow
from soulgraph.stores.stores import Stores
from soulgraph.terminals.hub import Hub
from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.presence import Presence

T = TypeVar("T")

_AT_ONCE = 20
"""Souls moved in one go: they hold up a turn by some milliseconds."""
_GLANCE_S = 0.005
_STEP_S, _SPREAD = 0.06, 0.7
"""From one go to the next, and the share of the period that all may take."""


class Moved(NamedTuple):
    """A soul after a tick; `stored` is its feeling as it is written and sent."""

    since: float
    feeling: EmotionState
    gate: Gate
    stored: EmotionStateDict


@dataclass(frozen=True, slots=True)
class Ticks:
    stores: Stores
    presence: Presence
    hub: Hub | None
    constants: Constants
    clock: Callable[[], float]
    period_s: float
    observe: Callable[[int, float], None]
    busy: Callable[[], bool] = lambda: False

    def running(self) -> AbstractAsyncContextManager[None]:
        """Ticking for as long as the block lasts."""
        return Rounds("ticks", self.period_s, self.tick).running()

    async def tick(self) -> None:
        """One step for everyone who is awake; with nobody awake it is one query."""
        began, now, count = time.perf_counter(), self.clock(), 0
        bodies = await self._awake(now)
        slices = list(_slices(list(bodies)))
        step_s = min(_STEP_S, _SPREAD * self.period_s / max(1, len(slices)))
        for n, souls in enumerate(slices):
            await self._give_way(began + n * step_s, began + (n + 1) * step_s)
            moved = await self._pass_time(souls, now)
            self._publish(bodies, moved, now)
            count += len(moved)
        self.observe(count, time.perf_counter() - began)

    async def _give_way(self, due: float, latest: float) -> None:
        """Turns go first while there is time; with nothing to wait for they get a breath."""
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        while time.perf_counter() < latest:
            if not self.busy():
                return
            await asyncio.sleep(_GLANCE_S)

    async def _awake(self, now: float) -> dict[str, list[str]]:
        """The terminals of every soul that has some that are there."""
        for reports in _slices(self.presence.take()):
            async with self.stores.write() as tx:
                await tx.terminals.note(reports)
            await asyncio.sleep(_GLANCE_S)
        bodies: dict[str, list[str]] = {}
        async with self.stores.read() as tx:
            for terminal_id, soul_id in await tx.terminals.awake(now):
                bodies.setdefault(soul_id, []).append(terminal_id)
        self.presence.confirm(chain.from_iterable(bodies.values()))
        return bodies

    async def _pass_time(self, soul_ids: Sequence[str], now: float) -> dict[str, Moved]:
        async with self.stores.write() as tx:
            moved = _moved(await tx.souls.claim(soul_ids, now, self.period_s), now, self.constants)
            await tx.souls.tick({soul_id: soul.stored for soul_id, soul in moved.items()}, now)
            await tx.history.add_ticks(
                [
                    point_of(soul_id, soul.feeling, soul.gate)
                    for soul_id, soul in moved.items()
                    if stretch_of(soul.feeling.updated_at) != stretch_of(soul.since)
                ]
            )
        return moved

    def _publish(self, bodies: Mapping[str, Sequence[str]], moved: Mapping[str, Moved], now: float) -> None:
        if self.hub is None:
            return
        for soul_id, soul in moved.items():
            for terminal_id in bodies[soul_id]:
                self.hub.emotion_update(_update(soul_id, soul, terminal_id, now))


def _slices(crowd: Sequence[T]) -> Iterator[Sequence[T]]:
    return (crowd[at : at + _AT_ONCE] for at in range(0, len(crowd), _AT_ONCE))


def _update(soul_id: str, soul: Moved, terminal_id: str, now: float) -> EmotionUpdate:
    """Not checked again: these are our own figures, and checking them takes longer than moving the soul."""
    return EmotionUpdate.model_construct(
        session_id=default_session_id(soul_id, terminal_id=terminal_id),
        terminal_id=terminal_id,
        soul_id=soul_id,
        soul_emotion=cast(Json, soul.stored),
        exec_probability=soul.gate.exec_probability,
        exec_mode=soul.gate.exec_mode,
        ts=now,
    )


def _moved(rows: Sequence[MoodRow], now: float, constants: Constants) -> dict[str, Moved]:
    """Everyone at `now`, in one vectorised step."""
    souls = [(row.personality_vector, row.emotion_state) for row in rows]
    after = Population.of(souls).evolve(now, constants).states()
    return {
        row.soul_id: Moved(
            row.emotion_state.updated_at,
            emotion,
            judge(row.personality_vector, emotion, now, constants),
            emotion.to_dict(),
        )
        for row, emotion in zip(rows, after, strict=True)
    }

"""Ticks: every few seconds, moves the emotion of every soul with an online terminal on to now.

The new states are computed in one vectorised step, stored in batches and published to the terminals and to those who
listen. For a soul that is only listened to they are computed and not stored. Other souls need no ticks, because whoever
reads one computes its present emotion.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.periodic import Periodic
from soulgraph.soul.constants import Constants
from soulgraph.soul.emotion_report import emotion_report
from soulgraph.soul.emotions import EmotionState, EmotionStateDict
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.gate_words import gate_report
from soulgraph.soul.language import lang_of
from soulgraph.soul.population import Population
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import default_session_id
from soulgraph.stores.history import point_of, stretch_of
from soulgraph.stores.records import Json, MoodRow
from soulgraph.stores.stores import Stores
from soulgraph.terminals.compact_emotion import Feeling
from soulgraph.terminals.hub_port import Hub
from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.presence import Presence

T = TypeVar("T")

_AT_ONCE, _MAX_AT_ONCE = 20, 100
"""Souls per batch: one batch delays a running turn by some milliseconds. With very many souls batches grow instead of
following each other ever faster, because a batch has a price of its own."""
_REPORTS_AT_ONCE = 200
_PAGE = 1000
_POLL_S = 0.005
_STEP_S, _MIN_STEP_S, _SPREAD = 0.06, 0.01, 0.7
"""Seconds from one batch to the next, and the share of the period that all batches may take together."""


class Pace(NamedTuple):
    """Souls per batch, and seconds from one batch to the next."""

    at_once: int
    step_s: float


class Ticked(NamedTuple):
    """A soul after a tick; `previous_at` is the time of its state before, `stored` its emotion as a dict."""

    name: str
    previous_at: float
    emotion: EmotionState
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
    listeners: Listeners = field(default_factory=Listeners)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Tick every `period_s` seconds for as long as the block lasts."""
        return Periodic("ticks", self.period_s, self.tick).running()

    async def tick(self) -> None:
        """Tick every soul that has an online terminal or a listener; if there is none, this costs one query."""
        began = time.perf_counter()
        now = self.clock()
        terminals = await self._online_terminals(now)
        pace = self._pace(len(terminals) + len(self.listeners.watched))
        ticked: set[str] = set()
        async for soul_ids in self._paced(list(terminals), pace):
            now = await self._renewed(now)
            souls = await self._tick_batch(soul_ids, now)
            self._publish(terminals, souls, now)
            self._tell(souls)
            ticked |= souls.keys()
        # Souls that are listened to without a terminal, or that another server has ticked for its terminals.
        async for soul_ids in self._paced(sorted(self.listeners.watched - ticked), pace):
            now = await self._renewed(now)
            self._tell(await self._read_batch(soul_ids, now))
        self.observe(len(ticked), time.perf_counter() - began)

    async def _renewed(self, now: float) -> float:
        """The time of the round, or the time it is if the round takes longer than a period.

        Otherwise what another server has ticked meanwhile would seem to be of the future and be ticked again, and
        terminals whose heartbeats nobody writes down would seem to have gone.
        """
        at = self.clock()
        if at - now <= self.period_s:
            return now
        await self._note_presence()
        return at

    def _pace(self, souls: int) -> Pace:
        """The pace at which so many souls are ticked within their share of the period, if that is possible."""
        each_s = _SPREAD * self.period_s / max(_AT_ONCE, souls)
        at_once = min(max(_AT_ONCE, math.ceil(_MIN_STEP_S / each_s)), max(_AT_ONCE, _MAX_AT_ONCE))
        return Pace(at_once, min(_STEP_S, at_once * each_s))

    async def _paced(self, soul_ids: Sequence[str], pace: Pace) -> AsyncIterator[Sequence[str]]:
        """Batches of these souls, one every `step_s`."""
        began = time.perf_counter()
        for n, batch in enumerate(_batches(soul_ids, pace.at_once)):
            await self._wait_for_turns(began + n * pace.step_s, began + (n + 1) * pace.step_s)
            yield batch

    async def _wait_for_turns(self, due: float, latest: float) -> None:
        """Wait until `due`, then until no turn is running, but not longer than `latest`.

        It always sleeps at least once, so that turns can run between two batches.
        """
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        while time.perf_counter() < latest:
            if not self.busy():
                return
            await asyncio.sleep(_POLL_S)

    async def _online_terminals(self, now: float) -> dict[str, list[str]]:
        """Store the new presence reports, then return the ids of the online terminals of each soul that has some."""
        await self._note_presence()
        awake = await self._awake(now)
        terminals: dict[str, list[str]] = {}
        for terminal_id, soul_id in awake.items():
            terminals.setdefault(soul_id, []).append(terminal_id)
        self.presence.confirm(awake)
        await asyncio.sleep(0)
        for change in self.presence.changes(awake):
            self.listeners.presence_changed(change.soul_id, change.terminal_id, change.online, iso(now))
        await asyncio.sleep(0)
        return terminals

    async def _note_presence(self) -> None:
        for reports in _batches(self.presence.take(), _REPORTS_AT_ONCE):
            async with self.stores.write() as tx:
                await tx.terminals.note(reports)
            await asyncio.sleep(_POLL_S)

    async def _awake(self, now: float) -> dict[str, str]:
        """The soul of every online terminal that has one, in the order of the terminals' ids."""
        awake: dict[str, str] = {}
        last, more = "", True
        while more:
            async with self.stores.read() as tx:
                page = await tx.terminals.awake_after(last, now, _PAGE)
            awake.update((terminal.terminal_id, terminal.soul_id) for terminal in page)
            more = len(page) == _PAGE
            last = page[-1].terminal_id if more else last
        return awake

    async def _tick_batch(self, soul_ids: Sequence[str], now: float) -> dict[str, Ticked]:
        """Tick the souls that nobody else has ticked in this period, and add a history point where one is due."""
        async with self.stores.write() as tx:
            ticked = _evolve(await tx.souls.claim(soul_ids, now, self.period_s), now, self.constants)
            await tx.souls.tick({soul_id: soul.stored for soul_id, soul in ticked.items()}, now)
            await tx.history.add_ticks(
                [
                    point_of(soul_id, soul.emotion, soul.gate)
                    for soul_id, soul in ticked.items()
                    # One point per interval: ticks come more often than the history can resolve.
                    if stretch_of(soul.emotion.updated_at) != stretch_of(soul.previous_at)
                ]
            )
        return ticked

    async def _read_batch(self, soul_ids: Sequence[str], now: float) -> dict[str, Ticked]:
        async with self.stores.read() as tx:
            return _evolve(await tx.souls.moods(soul_ids), now, self.constants)

    def _tell(self, ticked: Mapping[str, Ticked]) -> None:
        for soul_id in ticked.keys() & self.listeners.watched:
            soul = ticked[soul_id]
            self.listeners.tell_emotion_here(emotion_report(soul_id, soul.emotion, soul.gate, self.constants))

    def _publish(self, terminals: Mapping[str, Sequence[str]], ticked: Mapping[str, Ticked], now: float) -> None:
        if self.hub is None:
            return
        for soul_id, soul in ticked.items():
            feeling = Feeling(soul_id, soul.emotion, soul.gate, now, self.constants)
            for terminal_id in terminals[soul_id]:
                self.hub.emotion_update(_update_message(soul_id, soul, terminal_id, now))
                self.hub.compact_emotion(terminal_id, feeling, soul.previous_at)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[at : at + size] for at in range(0, len(items), size))


def _update_message(soul_id: str, soul: Ticked, terminal_id: str, now: float) -> EmotionUpdate:
    """Built without validation: these are our own figures, and validating them takes longer than the tick itself."""
    return EmotionUpdate.model_construct(
        session_id=default_session_id(soul_id, terminal_id=terminal_id),
        terminal_id=terminal_id,
        soul_id=soul_id,
        soul_emotion=cast(Json, soul.stored),
        exec_probability=soul.gate.exec_probability,
        exec_mode=soul.gate.exec_mode,
        # Nobody has spoken: the words are in the language of the soul's name.
        gate=gate_report(soul.gate, lang_of(soul.name)),
        ts=now,
    )


def _evolve(rows: Sequence[MoodRow], now: float, constants: Constants) -> dict[str, Ticked]:
    """The emotion and gate of each soul at `now`, by soul id."""
    souls = [(row.personality_vector, row.emotion_state) for row in rows]
    emotions = Population.of(souls).evolve(now, constants).states()
    return {
        row.soul_id: Ticked(
            row.name,
            row.emotion_state.updated_at,
            emotion,
            judge(row.personality_vector, emotion, now, constants),
            emotion.to_dict(),
        )
        for row, emotion in zip(rows, emotions, strict=True)
    }

"""Terminals: the bodies, which soul each one carries and what it can do."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, select

from soulgraph.stores import schema
from soulgraph.stores.records import Json, PresenceReport, Terminal
from soulgraph.stores.repository import Repository, fields_of

SILENCE_S = 60.0


def awake() -> ColumnElement[bool]:
    """Terminals that are there and carry a soul, by the values of `hearing`."""
    row = schema.terminals.c
    heard = row.last_seen.between(bindparam("heard_from"), bindparam("heard_until"))
    return row.online & heard & row.soul_id.is_not(None)


@cache
def _awake() -> Select[tuple[str, str | None]]:
    return select(schema.terminals.c.terminal_id, schema.terminals.c.soul_id).where(awake())


def hearing(now: float) -> dict[str, float]:
    """A terminal seen long before now is gone; one seen long after now was seen before the clock went back."""
    return {"heard_from": now - SILENCE_S, "heard_until": now + SILENCE_S}


def is_online(terminal: Terminal, now: float) -> bool:
    return terminal.online and terminal.last_seen is not None and abs(now - terminal.last_seen) <= SILENCE_S


class Terminals(Repository[Terminal]):
    table = schema.terminals
    record = Terminal

    async def find(self, terminal_id: str) -> Terminal | None:
        return await self._first(self._rows("terminal_id"), terminal_id=terminal_id)

    async def all(self) -> list[Terminal]:
        return await self._all(self._rows().order_by(self.table.c.terminal_id))

    async def bind(self, terminal_id: str, soul_id: str, now: float) -> None:
        await self._ensure(terminal_id, now)
        await self._set({"terminal_id": terminal_id}, soul_id=soul_id, updated_at=now, online=True, last_seen=now)

    async def seen(self, terminal_id: str, now: float) -> bool:
        """Note that the terminal is there; says whether it is known."""
        return await self._set({"terminal_id": terminal_id}, online=True, last_seen=now)

    async def appear(self, terminal_id: str, now: float) -> None:
        """Note that the terminal is there; one that is new is known from now on, without a soul."""
        if not await self.seen(terminal_id, now):
            await self._put_new(**fields_of(Terminal.unknown(terminal_id, now)))
            await self.seen(terminal_id, now)

    async def note(self, reports: Iterable[PresenceReport]) -> None:
        """The same for many at once, unknown ones left out; in the order of ids, so that two servers never deadlock."""
        ordered = sorted(reports, key=lambda report: report.terminal_id)
        if ordered:
            rows = [{"key_terminal_id": s.terminal_id, "online": s.online, "last_seen": s.last_seen} for s in ordered]
            await self._connection.execute(self._update(("terminal_id",), ("online", "last_seen")), rows)

    async def awake(self, now: float) -> list[tuple[str, str]]:
        """(terminal_id, soul_id) of every terminal that is there and carries a soul."""
        return [(row.terminal_id, row.soul_id) for row in await self._connection.execute(_awake(), hearing(now))]

    async def gone(self) -> list[str]:
        """The ids of those whose last word was that they are offline."""
        row = self.table.c
        said_so = select(row.terminal_id).where(~row.online, row.last_seen.is_not(None))
        return [found.terminal_id for found in await self._connection.execute(said_so)]

    async def report_catalog(self, terminal_id: str, version: int, catalog: list[Json], now: float) -> bool:
        """Take over a catalog unless a newer one is known; says whether it was taken."""
        terminal = await self._ensure(terminal_id, now)
        report = {"intent_catalog": catalog, "catalog_version": version}
        return await self._report(terminal_id, version >= terminal.catalog_version, report, now)

    async def report_skills(self, terminal_id: str, version: int, skills: list[Json], now: float) -> bool:
        """Take over a list of skills unless a newer one is known; says whether it was taken."""
        terminal = await self._ensure(terminal_id, now)
        report = {"skills": skills, "skill_version": version}
        return await self._report(terminal_id, version >= terminal.skill_version, report, now)

    async def _report(self, terminal_id: str, current: bool, report: dict[str, Any], now: float) -> bool:
        return current and await self._set({"terminal_id": terminal_id}, **report, updated_at=now)

    async def _ensure(self, terminal_id: str, now: float) -> Terminal:
        """The terminal, known from now on and held against other reports until the transaction ends."""
        unknown = Terminal.unknown(terminal_id, now)
        await self._put_new(**fields_of(unknown))
        return await self._first(self._locked("terminal_id"), terminal_id=terminal_id) or unknown

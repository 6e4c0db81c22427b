"""Terminals: the devices a soul speaks through, with the soul of each, its skills and whether it is online."""

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, func, select

from soulgraph.errors import Conflict
from soulgraph.stores import schema
from soulgraph.stores.bulk_update import update_rows
from soulgraph.stores.records import Json, PresenceReport, Terminal
from soulgraph.stores.repository import Repository, fields_of

SILENCE_S = 60.0
"""A terminal that was not seen for this long counts as offline."""
MAX_TERMINALS = 10_000
"""Anybody on the broker may report any id, and each is a row."""


class AwakeTerminal(NamedTuple):
    """An online terminal with its soul and its usual person."""

    terminal_id: str
    soul_id: str
    user_id: str


@cache
def _online_with_soul() -> Select[tuple[str, str | None, str]]:
    """Selects the fields of `AwakeTerminal`; binds the values of `_seen_range`."""
    row = schema.terminals.c
    seen = row.last_seen.between(bindparam("seen_from"), bindparam("seen_until"))
    return select(row.terminal_id, row.soul_id, row.user_id).where(row.online & seen & row.soul_id.is_not(None))


@cache
def _page_of_online() -> Select[tuple[str, str | None, str]]:
    row = schema.terminals.c
    later = _online_with_soul().where(row.terminal_id > bindparam("after"))
    return later.order_by(row.terminal_id).limit(bindparam("page"))


def _seen_range(now: float) -> dict[str, float]:
    """The upper limit excludes terminals that were seen before the server's clock was put back."""
    return {"seen_from": now - SILENCE_S, "seen_until": now + SILENCE_S}


def is_online(terminal: Terminal, now: float) -> bool:
    return terminal.online and terminal.last_seen is not None and abs(now - terminal.last_seen) <= SILENCE_S


class Terminals(Repository[Terminal]):
    table = schema.terminals
    record = Terminal

    async def find(self, terminal_id: str) -> Terminal | None:
        return await self._first(self._rows("terminal_id"), terminal_id=terminal_id)

    async def all(self) -> list[Terminal]:
        return await self._all(self._rows().order_by(self.table.c.terminal_id))

    async def bind(self, terminal_id: str, soul_id: str, now: float, user_id: str | None = None) -> None:
        """Give the terminal this soul, and a usual person if one is named; a terminal that is unknown is added."""
        await self._ensure(terminal_id, now)
        person = {"user_id": user_id} if user_id else {}
        await self._set(
            {"terminal_id": terminal_id}, soul_id=soul_id, updated_at=now, online=True, last_seen=now, **person
        )

    async def seen(self, terminal_id: str, now: float) -> bool:
        """Record that the terminal is online; False if it is unknown."""
        return await self._set({"terminal_id": terminal_id}, online=True, last_seen=now)

    async def appear(self, terminal_id: str, now: float) -> None:
        """Record that the terminal is online; one that is unknown is added, without a soul."""
        if not await self.seen(terminal_id, now):
            await self._add_unknown(terminal_id, now)
            await self.seen(terminal_id, now)

    async def remove(self, terminal_id: str) -> bool:
        """Delete the terminal; False if it is unknown."""
        return await self._remove(terminal_id=terminal_id)

    async def note(self, reports: Iterable[PresenceReport]) -> None:
        """Store many presence reports in one batch; unknown terminals are left out."""
        await update_rows(self._connection, self.table, "terminal_id", [fields_of(report) for report in reports])

    async def awake(self, now: float) -> list[AwakeTerminal]:
        """Every online terminal that has a soul."""
        rows = await self._connection.execute(_online_with_soul(), _seen_range(now))
        return [AwakeTerminal._make(row) for row in rows]

    async def awake_after(self, terminal_id: str, now: float, page: int) -> list[AwakeTerminal]:
        """The next `page` online terminals that have a soul, by id: many thousands at once would stop the server."""
        bound = {"after": terminal_id, "page": page, **_seen_range(now)}
        rows = await self._connection.execute(_page_of_online(), bound)
        return [AwakeTerminal._make(row) for row in rows]

    async def gone(self) -> list[str]:
        """The ids of the terminals whose last report was that they are offline."""
        row = self.table.c
        query = select(row.terminal_id).where(~row.online, row.last_seen.is_not(None))
        return [found.terminal_id for found in await self._connection.execute(query)]

    async def report_catalog(self, terminal_id: str, version: int, catalog: list[Json], now: float) -> bool:
        """Store the terminal's intents unless a newer version is stored; True if they were stored."""
        terminal = await self._ensure(terminal_id, now)
        report = {"intent_catalog": catalog, "catalog_version": version}
        return await self._report(terminal_id, version >= terminal.catalog_version, report, now)

    async def report_skills(self, terminal_id: str, version: int, skills: list[Json], now: float) -> bool:
        """Store the terminal's skills unless a newer version is stored; True if they were stored."""
        terminal = await self._ensure(terminal_id, now)
        report = {"skills": skills, "skill_version": version}
        return await self._report(terminal_id, version >= terminal.skill_version, report, now)

    async def _report(self, terminal_id: str, current: bool, report: dict[str, Any], now: float) -> bool:
        return current and await self._set({"terminal_id": terminal_id}, **report, updated_at=now)

    async def _ensure(self, terminal_id: str, now: float) -> Terminal:
        """The terminal, added if it is unknown, and locked until the transaction ends."""
        terminal = await self._first(self._locked("terminal_id"), terminal_id=terminal_id)
        if terminal is None:
            await self._add_unknown(terminal_id, now)
            terminal = await self._first(self._locked("terminal_id"), terminal_id=terminal_id)
        return terminal or Terminal.unknown(terminal_id, now)

    async def _add_unknown(self, terminal_id: str, now: float) -> None:
        """Add a terminal, unless another transaction has; a Conflict if there are too many."""
        known = (await self._connection.execute(select(func.count()).select_from(self.table))).scalar()
        if known >= MAX_TERMINALS:
            raise Conflict(
                "too_many_terminals",
                f"there are {known} terminals, and no more are added: delete those that are no longer used",
            )
        await self._put_new(**fields_of(Terminal.unknown(terminal_id, now)))

"""Terminals: the bodies, which soul each one carries and what it can do."""

from typing import Any

from soulgraph.stores import schema
from soulgraph.stores.records import Json, Terminal
from soulgraph.stores.repository import Repository, fields_of


class Terminals(Repository[Terminal]):
    table = schema.terminals
    record = Terminal

    async def find(self, terminal_id: str) -> Terminal | None:
        return await self._first(self._rows("terminal_id"), terminal_id=terminal_id)

    async def all(self) -> list[Terminal]:
        return await self._all(self._rows().order_by(self.table.c.terminal_id))

    async def bind(self, terminal_id: str, soul_id: str, now: float) -> None:
        await self._ensure(terminal_id, now)
        await self._set({"terminal_id": terminal_id}, soul_id=soul_id, updated_at=now)

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
        unknown = Terminal(terminal_id, None, [], 0, [], 0, now)
        await self._put_new(**fields_of(unknown))
        return await self._first(self._locked("terminal_id"), terminal_id=terminal_id) or unknown

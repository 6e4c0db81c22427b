"""Terminals: the bodies, which soul each one carries and what it can do."""

from sqlalchemy import update

from soulgraph.stores import schema
from soulgraph.stores.records import Json, Terminal
from soulgraph.stores.repository import Repository


class Terminals(Repository[Terminal]):
    table = schema.terminals
    record = Terminal

    async def find(self, terminal_id: str) -> Terminal | None:
        return await self._first(self._rows.where(self.table.c.terminal_id == terminal_id))

    async def all(self) -> list[Terminal]:
        return await self._all(self._rows.order_by(self.table.c.terminal_id))

    async def bind(self, terminal_id: str, soul_id: str, now: float) -> None:
        await self._ensure(terminal_id, now)
        await self._change(terminal_id, soul_id=soul_id, updated_at=now)

    async def report_catalog(self, terminal_id: str, version: int, catalog: list[Json], now: float) -> bool:
        """Take over a catalog unless a newer one is known; says whether it was taken."""
        terminal = await self._ensure(terminal_id, now)
        if version < terminal.catalog_version:
            return False
        await self._change(terminal_id, intent_catalog=catalog, catalog_version=version, updated_at=now)
        return True

    async def report_skills(self, terminal_id: str, version: int, skills: list[Json], now: float) -> bool:
        """Take over a list of skills unless a newer one is known; says whether it was taken."""
        terminal = await self._ensure(terminal_id, now)
        if version < terminal.skill_version:
            return False
        await self._change(terminal_id, skills=skills, skill_version=version, updated_at=now)
        return True

    async def _ensure(self, terminal_id: str, now: float) -> Terminal:
        if terminal := await self.find(terminal_id):
            return terminal
        terminal = Terminal(terminal_id, None, [], 0, [], 0, now)
        await self._put(
            terminal_id=terminal_id,
            skills=[],
            skill_version=0,
            intent_catalog=[],
            catalog_version=0,
            updated_at=now,
        )
        return terminal

    async def _change(self, terminal_id: str, **values: object) -> None:
        await self._connection.execute(
            update(self.table).where(self.table.c.terminal_id == terminal_id).values(**values)
        )

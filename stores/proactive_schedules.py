"""ProactiveSchedules: when each soul may next speak of its own accord, and how often it has on its last day."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Double, Select, String, Update, bindparam, case, literal, select, update

from soulgraph.stores import schema, schema_memory
from soulgraph.stores.records import ProactiveSchedule
from soulgraph.stores.repository import Repository, dialect_insert


class ProactiveSchedules(Repository[ProactiveSchedule]):
    table = schema_memory.lives
    record = ProactiveSchedule

    async def of(self, soul_ids: Collection[str]) -> list[ProactiveSchedule]:
        """Those of these souls that have been scheduled."""
        return await self._all(self._among(), soul_ids=list(soul_ids))

    async def schedule(self, due_at: Mapping[str, float]) -> None:
        """Set when each soul is due; one that is gone is left out."""
        if due_at:
            rows = [{"key": soul_id, "due": due} for soul_id, due in sorted(due_at.items())]
            await self._connection.execute(_schedule(self._connection.dialect.name), rows)

    async def claim(self, next_due_at: Mapping[str, float], now: float) -> list[ProactiveSchedule]:
        """Those of these souls that are due, and only the caller's: they are due again as it says.

        One that another server is claiming is left to it.
        """
        due = await self._all(self._due(), soul_ids=list(next_due_at), now=now)
        for schedule in due:
            await self._set({"soul_id": schedule.soul_id}, due_at=next_due_at[schedule.soul_id])
        return due

    async def spoke(self, soul_id: str, day: str) -> None:
        """Count one more on that day."""
        await self._connection.execute(_spoke(), {"key": soul_id, "today": day})

    @classmethod
    @cache
    def _among(cls) -> Select[Any]:
        return cls._rows().where(cls.table.c.soul_id.in_(bindparam("soul_ids", expanding=True)))

    @classmethod
    @cache
    def _due(cls) -> Select[Any]:
        due = cls._among().where(cls.table.c.due_at <= bindparam("now"))
        return due.order_by(cls.table.c.soul_id).with_for_update(skip_locked=True)


@cache
def _schedule(dialect: str) -> Any:
    lives, soul_id = schema_memory.lives, schema.souls.c.soul_id
    row = select(soul_id, bindparam("due", type_=Double), literal(""), literal(0)).where(soul_id == bindparam("key"))
    statement = dialect_insert(lives, dialect).from_select(["soul_id", "due_at", "day", "spoken"], row)
    return statement.on_conflict_do_update(index_elements=["soul_id"], set_={"due_at": statement.excluded.due_at})


@cache
def _spoke() -> Update:
    life, today = schema_memory.lives.c, bindparam("today", type_=String)
    count = case((life.day == today, life.spoken + 1), else_=1)
    return update(schema_memory.lives).where(life.soul_id == bindparam("key")).values(day=today, spoken=count)

"""When each soul may next speak on its own, and how often it did so on the last day it spoke."""

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
        """The schedules of these souls; souls without one are left out."""
        return await self._all(self._of_souls(), soul_ids=list(soul_ids))

    async def schedule(self, due_at: Mapping[str, float]) -> None:
        """Set when each soul is due; souls that were deleted are left out."""
        if due_at:
            rows = [{"key": soul_id, "due": due} for soul_id, due in sorted(due_at.items())]
            await self._connection.execute(_upsert_due(self._connection.dialect.name), rows)

    async def claim(self, next_due_at: Mapping[str, float], now: float) -> list[ProactiveSchedule]:
        """Move the souls that are due on to their next due time, and return their schedules as they were.

        Souls that another server is claiming at this moment are skipped, so that each is claimed by one server only.
        """
        due = await self._all(self._due_of_souls(), soul_ids=list(next_due_at), now=now)
        for schedule in due:
            await self._set({"soul_id": schedule.soul_id}, due_at=next_due_at[schedule.soul_id])
        return due

    async def spoke(self, soul_id: str, day: str) -> None:
        """Count one more proactive message on this day."""
        await self._connection.execute(_count_spoken(), {"key": soul_id, "today": day})

    @classmethod
    @cache
    def _of_souls(cls) -> Select[Any]:
        return cls._rows().where(cls.table.c.soul_id.in_(bindparam("soul_ids", expanding=True)))

    @classmethod
    @cache
    def _due_of_souls(cls) -> Select[Any]:
        due = cls._of_souls().where(cls.table.c.due_at <= bindparam("now"))
        return due.order_by(cls.table.c.soul_id).with_for_update(skip_locked=True)


@cache
def _upsert_due(dialect: str) -> Any:
    """Inserts from a select on `souls`, so that a soul deleted meanwhile gives no row instead of an error."""
    soul_id = schema.souls.c.soul_id
    row = select(soul_id, bindparam("due", type_=Double), literal(""), literal(0)).where(soul_id == bindparam("key"))
    statement = dialect_insert(schema_memory.lives, dialect).from_select(["soul_id", "due_at", "day", "spoken"], row)
    return statement.on_conflict_do_update(index_elements=["soul_id"], set_={"due_at": statement.excluded.due_at})


@cache
def _count_spoken() -> Update:
    row = schema_memory.lives.c
    today = bindparam("today", type_=String)
    count = case((row.day == today, row.spoken + 1), else_=1)
    return update(schema_memory.lives).where(row.soul_id == bindparam("key")).values(day=today, spoken=count)

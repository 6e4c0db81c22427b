"""When each soul may next speak to a person on its own, and how often it did so on the last day it spoke to them."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Double, Select, String, Update, bindparam, case, literal, select, tuple_, update

from soulgraph.stores import schema, schema_memory
from soulgraph.stores.records import ProactiveSchedule
from soulgraph.stores.repository import Repository, dialect_insert

Pair = tuple[str, str]
"""A soul and a person, by their ids."""
_MAX_PAIRS = 500
"""PostgreSQL refuses a statement with some thousands of pairs: it exceeds its stack."""


class ProactiveSchedules(Repository[ProactiveSchedule]):
    table = schema_memory.lives
    record = ProactiveSchedule

    async def of(self, pairs: Collection[Pair]) -> list[ProactiveSchedule]:
        """The schedules of these pairs; those without one are left out."""
        return [one for part in bound_parts(pairs) for one in await self._all(self._of_pairs(), **part)]

    async def schedule(self, due_at: Mapping[Pair, float]) -> None:
        """Set when each pair is due; souls that were deleted are left out."""
        if due_at:
            ordered = sorted(due_at.items())
            rows = [{"key": soul_id, "person": user_id, "due": due} for (soul_id, user_id), due in ordered]
            await self._connection.execute(_upsert_due(self._connection.dialect.name), rows)

    async def claim(self, next_due_at: Mapping[Pair, float], now: float) -> list[ProactiveSchedule]:
        """Move the pairs that are due on to their next due time, and return their schedules as they were.

        Those that another server is claiming at this moment are skipped, so that each is claimed by one server only.
        """
        parts = bound_parts(next_due_at)
        due = [one for part in parts for one in await self._all(self._due_of_pairs(), **part, now=now)]
        for schedule in due:
            keys = {"soul_id": schedule.soul_id, "user_id": schedule.user_id}
            await self._set(keys, due_at=next_due_at[schedule.soul_id, schedule.user_id])
        return due

    async def spoke(self, soul_id: str, user_id: str, day: str) -> None:
        """Count one more proactive message on this day."""
        await self._connection.execute(_count_spoken(), {"key": soul_id, "person": user_id, "today": day})

    @classmethod
    @cache
    def _of_pairs(cls) -> Select[Any]:
        """The souls are bound too, because SQLite uses no index for pairs."""
        row = cls.table.c
        of_souls = cls._rows().where(row.soul_id.in_(bindparam("souls", expanding=True)))
        return of_souls.where(tuple_(row.soul_id, row.user_id).in_(bindparam("pairs", expanding=True)))

    @classmethod
    @cache
    def _due_of_pairs(cls) -> Select[Any]:
        due = cls._of_pairs().where(cls.table.c.due_at <= bindparam("now"))
        return due.order_by(cls.table.c.soul_id, cls.table.c.user_id).with_for_update(skip_locked=True)


def bound_parts(pairs: Collection[Pair]) -> Iterator[dict[str, Any]]:
    """The values of `pairs` and `souls` for as many statements as it takes, in the order of the pairs."""
    ordered = sorted(pairs)
    for at in range(0, len(ordered), _MAX_PAIRS):
        part = ordered[at : at + _MAX_PAIRS]
        yield {"pairs": part, "souls": sorted({soul_id for soul_id, _ in part})}


@cache
def _upsert_due(dialect: str) -> Any:
    """Inserts from a select on `souls`, so that a soul deleted meanwhile gives no row instead of an error."""
    soul_id = schema.souls.c.soul_id
    person, due = bindparam("person", type_=String), bindparam("due", type_=Double)
    row = select(soul_id, person, due, literal(""), literal(0)).where(soul_id == bindparam("key"))
    columns = ["soul_id", "user_id", "due_at", "day", "spoken"]
    statement = dialect_insert(schema_memory.lives, dialect).from_select(columns, row)
    update_due = {"due_at": statement.excluded.due_at}
    return statement.on_conflict_do_update(index_elements=["soul_id", "user_id"], set_=update_due)


@cache
def _count_spoken() -> Update:
    row = schema_memory.lives.c
    today = bindparam("today", type_=String)
    count = case((row.day == today, row.spoken + 1), else_=1)
    mine = row.soul_id == bindparam("key"), row.user_id == bindparam("person")
    return update(schema_memory.lives).where(*mine).values(day=today, spoken=count)

"""Token usage: one row per soul, day and kind of model call, to which every call is added."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from soulgraph.stores import schema_memory
from soulgraph.stores.records import DailyUsage
from soulgraph.stores.repository import Repository, dialect_insert, fields_of

_table = schema_memory.usage
_COUNTED = ("calls", "input_tokens", "output_tokens")


class UsageBook(Repository[DailyUsage]):
    table = _table
    record = DailyUsage

    async def add(self, usage: DailyUsage) -> None:
        """Add to the row of this soul, day and kind. The database adds, so that concurrent writers lose nothing."""
        await self._connection.execute(_add_to_row(self._connection.dialect.name), fields_of(usage))

    async def of(self, soul_id: str, since_day: str) -> list[DailyUsage]:
        """The soul's rows from this day on, the newest day first."""
        return await self._all(_rows_since(), soul_id=soul_id, since_day=since_day)

    async def spent(self, soul_id: str, day: str) -> int:
        """All tokens of the soul on this day, input and output of all kinds."""
        return int((await self._connection.execute(_tokens_of_day(), {"soul_id": soul_id, "day": day})).scalar())


@cache
def _add_to_row(dialect: str) -> Any:
    statement = dialect_insert(_table, dialect)
    sums = {name: _table.c[name] + statement.excluded[name] for name in _COUNTED}
    return statement.on_conflict_do_update(index_elements=list(_table.primary_key), set_=sums)


@cache
def _rows_since() -> Select[Any]:
    query = UsageBook._rows("soul_id").where(_table.c.day >= bindparam("since_day"))
    return query.order_by(_table.c.day.desc(), _table.c.kind)


@cache
def _tokens_of_day() -> Select[Any]:
    tokens = func.coalesce(func.sum(_table.c.input_tokens + _table.c.output_tokens), 0)
    return select(tokens).where(_table.c.soul_id == bindparam("soul_id"), _table.c.day == bindparam("day"))

"""Updates many rows of a table, each by its key, at the price of one statement.

PostgreSQL gets all values as one JSON parameter: sent row by row, even in a batch, they cost several times as much on
both sides. SQLite runs in the process, so there a batch is as good.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Table, Update, bindparam, column, func, select, update
from sqlalchemy.dialects.postgresql import JSONB

from soulgraph.stores.database import Connection


async def update_rows(connection: Connection, table: Table, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each row has the key and the columns to be changed, the same in all; rows that do not exist are left out.

    They are locked in the order of their keys, so that two transactions never deadlock.
    """
    if not rows:
        return
    columns = tuple(name for name in rows[0] if name != key)
    if connection.dialect.name == "postgresql":
        await connection.execute(_from_json(table, key, columns), {"rows": rows})
    else:
        bound = [{f"new_{name}": value for name, value in row.items()} for row in rows]
        await connection.execute(_by_key(table, key, columns), sorted(bound, key=lambda row: str(row[f"new_{key}"])))


@cache
def _from_json(table: Table, key: str, columns: tuple[str, ...]) -> Update:
    given = func.jsonb_to_recordset(bindparam("rows", type_=JSONB))
    typed = [column(name, table.c[name].type) for name in (key, *columns)]
    new = given.table_valued(*typed, name="given").render_derived(name="given", with_types=True)
    rows = select(new).join(table, table.c[key] == new.c[key]).order_by(table.c[key])
    locked = rows.with_for_update(of=table, key_share=True).subquery("locked")
    return update(table).where(table.c[key] == locked.c[key]).values({name: locked.c[name] for name in columns})


@cache
def _by_key(table: Table, key: str, columns: tuple[str, ...]) -> Update:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in columns}
    return update(table).where(table.c[key] == bindparam(f"new_{key}")).values(values)

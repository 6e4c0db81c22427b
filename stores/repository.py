"""`Repository`: the statements that every repository is made of, and the conversion of rows to records."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Insert, Row, Select, Table, Update, bindparam, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from soulgraph.stores.database import Connection

R = TypeVar("R")
Id = TypeVar("Id", int, str)


def fields_of(record: Any) -> dict[str, Any]:
    """A record as a dict of columns; unlike `asdict` it does not copy the JSON in them."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def padded(ids: Collection[Id]) -> list[Id]:
    """Ids for an IN clause: sorted, the last one repeated up to the next power of two.

    PostgreSQL is spared planning a statement only if it has seen the very same text, with as many parameters, before.
    """
    known = sorted(ids)
    return known + known[-1:] * ((1 << (len(known) - 1).bit_length()) - len(known)) if known else known


class Repository(Generic[R]):
    """Reads and writes one table on the connection of a transaction.

    Statements are built once and cached: building one takes several times as long as running it.
    """

    table: ClassVar[Table]
    record: type[R]

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def _first(self, query: Select[Any], **values: Any) -> R | None:
        row = (await self._connection.execute(query, values)).first()
        return None if row is None else self._record(row)

    async def _all(self, query: Select[Any], **values: Any) -> list[R]:
        return [self._record(row) for row in await self._connection.execute(query, values)]

    def _record(self, row: Row[Any]) -> R:
        """A row as a record; `_rows` selects the columns in the order of the record's fields."""
        record: Callable[..., R] = self.record
        return record(*row)

    async def _add(self, *rows: Mapping[str, Any]) -> None:
        await self._connection.execute(self._insert(), rows)

    async def _put(self, **values: Any) -> None:
        """Insert the row, or overwrite the one with the same primary key."""
        await self._put_all([values])

    async def _put_all(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """`_put` for many rows with the same columns, in one batch."""
        if rows:
            statement = _upsert(self.table, self._connection.dialect.name, tuple(rows[0]))
            await self._connection.execute(statement, rows)

    async def _put_new(self, **values: Any) -> bool:
        """Insert the row unless there is one with the same primary key; True if it was inserted."""
        statement = _insert_new(self.table, self._connection.dialect.name)
        return (await self._connection.execute(statement, values)).first() is not None

    async def _set(self, keys: Mapping[str, Any], **values: Any) -> bool:
        """Update the rows with these keys; True if there were any."""
        statement = self._update(tuple(keys), tuple(values))
        bound = {f"key_{name}": value for name, value in keys.items()} | values
        return bool((await self._connection.execute(statement, bound)).rowcount)

    async def _remove(self, **keys: Any) -> bool:
        """Delete the rows with these keys; True if there were any."""
        where = [self.table.c[name] == value for name, value in keys.items()]
        return bool((await self._connection.execute(delete(self.table).where(*where))).rowcount)

    @classmethod
    @cache
    def _rows(cls, *columns: str) -> Select[Any]:
        """A select of all rows, or of those where each named column equals the bind parameter of its name."""
        fields = cls.record.__dataclass_fields__  # type: ignore[attr-defined]
        query = select(*[cls.table.c[name] for name in fields])
        return query.where(*[cls.table.c[name] == bindparam(name) for name in columns])

    @classmethod
    @cache
    def _locked(cls, *columns: str) -> Select[Any]:
        """`_rows`, locked against other writers until the transaction ends; new foreign keys to them are allowed."""
        return cls._rows(*columns).with_for_update(key_share=True)

    @classmethod
    @cache
    def _insert(cls) -> Insert:
        return insert(cls.table)

    @classmethod
    @cache
    def _update(cls, keys: tuple[str, ...], columns: tuple[str, ...]) -> Update:
        """An update by keys; it also increments `version` if the table has that column."""
        where = [cls.table.c[name] == bindparam(f"key_{name}") for name in keys]
        values: dict[str, Any] = {name: bindparam(name) for name in columns}
        if "version" in cls.table.c:
            values["version"] = cls.table.c.version + 1
        return update(cls.table).where(*where).values(values)


@cache
def _upsert(table: Table, dialect: str, columns: tuple[str, ...]) -> Any:
    keys = [column.name for column in table.primary_key]
    statement = dialect_insert(table, dialect)
    values = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=values)


@cache
def _insert_new(table: Table, dialect: str) -> Any:
    """Returns the key of an inserted row: on PostgreSQL the number of inserted rows is not known."""
    keys = list(table.primary_key)
    return dialect_insert(table, dialect).on_conflict_do_nothing(index_elements=keys).returning(*keys)


def dialect_insert(table: Table, dialect: str) -> Any:
    """An insert that supports ON CONFLICT, which SQLAlchemy's generic one does not."""
    return (postgres_insert if dialect == "postgresql" else sqlite_insert)(table)

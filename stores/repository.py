"""What every repository shares: the connection of one transaction, and rows as records."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Insert, Row, Select, Table, Update, bindparam, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from soulgraph.stores.database import Connection

R = TypeVar("R")


def fields_of(record: Any) -> dict[str, Any]:
    """A record's columns; unlike `asdict` it does not copy the JSON in them."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


class Repository(Generic[R]):
    """Reads and writes one table. Statements are cached: building one costs several times what running it does."""

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
        """`_rows` selects the columns in the order of the record's fields."""
        make: Callable[..., R] = self.record
        return make(*row)

    async def _add(self, *rows: Mapping[str, Any]) -> None:
        await self._connection.execute(self._insert(), rows)

    async def _put(self, **values: Any) -> None:
        """Insert the row, or overwrite the one with the same primary key."""
        await self._put_all([values])

    async def _put_all(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same for many rows, in one batch."""
        if rows:
            statement = _upsert(self.table, self._connection.dialect.name, tuple(rows[0]))
            await self._connection.execute(statement, rows)

    async def _put_new(self, **values: Any) -> bool:
        """Insert the row unless there is one with the same primary key; says whether it was new."""
        statement = _insert_new(self.table, self._connection.dialect.name)
        return (await self._connection.execute(statement, values)).first() is not None

    async def _set(self, keys: Mapping[str, Any], **values: Any) -> bool:
        """Change the row with these keys; says whether there is one."""
        statement = self._update(tuple(keys), tuple(values))
        bound = {f"key_{name}": value for name, value in keys.items()} | values
        return bool((await self._connection.execute(statement, bound)).rowcount)

    async def _remove(self, **keys: Any) -> bool:
        where = [self.table.c[name] == value for name, value in keys.items()]
        return bool((await self._connection.execute(delete(self.table).where(*where))).rowcount)

    @classmethod
    @cache
    def _rows(cls, *columns: str) -> Select[Any]:
        """All rows, or those where each of the columns has the value bound to its name."""
        fields = cls.record.__dataclass_fields__  # type: ignore[attr-defined]
        query = select(*[cls.table.c[name] for name in fields])
        return query.where(*[cls.table.c[name] == bindparam(name) for name in columns])

    @classmethod
    @cache
    def _locked(cls, *columns: str) -> Select[Any]:
        """The same rows, held against other writers until the transaction ends; others may still refer to them."""
        return cls._rows(*columns).with_for_update(key_share=True)

    @classmethod
    @cache
    def _insert(cls) -> Insert:
        return insert(cls.table)

    @classmethod
    @cache
    def _update(cls, keys: tuple[str, ...], columns: tuple[str, ...]) -> Update:
        """A `version` column counts every change."""
        where = [cls.table.c[name] == bindparam(f"key_{name}") for name in keys]
        values: dict[str, Any] = {name: bindparam(name) for name in columns}
        if "version" in cls.table.c:
            values["version"] = cls.table.c.version + 1
        return update(cls.table).where(*where).values(values)


@cache
def _upsert(table: Table, dialect: str, columns: tuple[str, ...]) -> Any:
    keys = [column.name for column in table.primary_key]
    statement = dialect_insert(table, dialect)
    new = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=new)


@cache
def _insert_new(table: Table, dialect: str) -> Any:
    """Returns the key of a row that was new: on PostgreSQL the count of inserted rows is not known."""
    keys = list(table.primary_key)
    return dialect_insert(table, dialect).on_conflict_do_nothing(index_elements=keys).returning(*keys)


def dialect_insert(table: Table, dialect: str) -> Any:
    return (postgres_insert if dialect == "postgresql" else sqlite_insert)(table)

"""What every repository shares: a connection inside a transaction, and rows as records."""

from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Insert, Select, Table, insert, select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncConnection

R = TypeVar("R")


def fields_of(record: Any) -> dict[str, Any]:
    """A record's columns; unlike `asdict` it does not copy the JSON in them."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


class Repository(Generic[R]):
    """Reads and writes one table through the connection of one transaction."""

    table: ClassVar[Table]
    record: type[R]
    _rows: ClassVar[Select[Any]]
    _insert: ClassVar[Insert]

    def __init_subclass__(cls) -> None:
        """Statements that never change are built once: building one costs as much as running it."""
        if "table" in cls.__dict__:
            cls._rows = select(*[cls.table.c[name] for name in cls.record.__dataclass_fields__])  # type: ignore[attr-defined]
            cls._insert = insert(cls.table)

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def _first(self, query: Select[Any]) -> R | None:
        row = (await self._connection.execute(query)).first()
        return None if row is None else self.record(**row._mapping)

    async def _all(self, query: Select[Any]) -> list[R]:
        return [self.record(**row._mapping) for row in await self._connection.execute(query)]

    async def _add(self, **values: Any) -> None:
        await self._connection.execute(self._insert, values)

    async def _put(self, **values: Any) -> None:
        """Insert the row, or overwrite the one with the same primary key."""
        keys = [column.name for column in self.table.primary_key]
        rest = {name: value for name, value in values.items() if name not in keys}
        await self._connection.execute(
            self._upsert.values(**values).on_conflict_do_update(index_elements=keys, set_=rest)
        )

    async def _put_new(self, **values: Any) -> bool:
        """Insert the row unless there is one with the same primary key; says whether it was new."""
        inserted = await self._connection.execute(self._upsert.on_conflict_do_nothing(), values)
        return bool(inserted.rowcount)

    @property
    def _upsert(self) -> Any:
        dialect_insert = postgres_insert if self._connection.dialect.name == "postgresql" else sqlite_insert
        return dialect_insert(self.table)

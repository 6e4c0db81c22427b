"""What the tables share: the metadata, the JSON and serial types, and the foreign keys to a row's owner."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from soulgraph.errors import InvalidInput

# Constraints have the same names on both databases, so that migrations can refer to them.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# A Python None is stored as SQL NULL, not as the JSON value null.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
# SQLite generates ids only for columns of the type INTEGER.
Serial = BigInteger().with_variant(Integer, "sqlite")


class Ids(TypeDecorator[tuple[str, ...]]):
    """A few ids in a text column, one per line; an empty text is easy to search for.

    An id with a line break would be read as two, so it is refused.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Iterable[str] | None, dialect: Dialect) -> str:
        ids = tuple(value or ())
        if any("\n" in one for one in ids):
            raise InvalidInput("an id cannot contain a line break")
        return "\n".join(ids)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple(value.split("\n")) if value else ()


def ids(name: str) -> Column[tuple[str, ...]]:
    return Column(name, Ids, nullable=False, server_default=text("''"))


def owner_columns(primary_key: bool = False) -> tuple[Column[Any], ...]:
    """The person to whom a row belongs, and with whom it is shared."""
    return (
        Column("user_id", String, primary_key=primary_key, nullable=False, server_default=text("''")),
        ids("shared_with"),
    )


def shared_index(table: str, *columns: str) -> Index:
    """Finds the few rows of a soul that are shared among the many that are not, in the order of these columns."""
    shared = text("shared_with <> ''")
    return Index(f"ix_{table}_shared", "soul_id", *columns, sqlite_where=shared, postgresql_where=shared)


def is_shared(table: Table) -> ColumnElement[bool]:
    """Written out as in `shared_index`: for a bound parameter the databases would not use that index."""
    return table.c.shared_with != literal_column("''")


def soul_id(primary_key: bool = False) -> Column[str]:
    """A column with the owning soul; deleting the soul deletes the row."""
    owner = ForeignKey("souls.soul_id", ondelete="CASCADE")
    return Column("soul_id", String, owner, primary_key=primary_key, nullable=False)


def message_id() -> Column[int]:
    """A key column with a message; deleting the message deletes the row."""
    message = ForeignKey("messages.message_id", ondelete="CASCADE")
    return Column("message_id", Serial, message, primary_key=True, autoincrement=False)


def session_id() -> Column[str]:
    """A key column with a session; deleting the session deletes the row."""
    session = ForeignKey("sessions.session_id", ondelete="CASCADE")
    return Column("session_id", String, session, primary_key=True)


def use_columns() -> tuple[Column[Any], ...]:
    """Columns that count how often something was recalled, and how often the reply then used it."""
    return (
        Column("recalled", Integer, nullable=False),
        Column("useful", Integer, nullable=False),
        Column("last_recalled_at", Double),
    )

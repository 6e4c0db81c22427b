"""What a database's errors mean that are none of ours: it cannot be used now, and why."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from soulgraph.errors import StoreUnavailable

DISK_FULL = "the disk is full, and nothing was written: free some space, and send it again"
_READ_ONLY = "the database is read-only, and nothing was written: let it take writes, and send it again"
_NO_CONNECTION = "no connection is left at the database, and nothing was written: raise its limit, or send it later"
_REASONS = {
    "SQLITE_FULL": DISK_FULL,
    "SQLITE_READONLY": _READ_ONLY,
    "53100": DISK_FULL,
    "53300": _NO_CONNECTION,
    "25006": _READ_ONLY,
}
"""By the names of SQLite's result codes and by PostgreSQL's SQLSTATE."""
_TROUBLE = (
    sqlite3.OperationalError,
    sqlite3.InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    PoolTimeout,
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise StoreUnavailable for errors of the database; those of a statement are ours, and stay what they are."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, psycopg.Error, PoolTimeout) as error:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        reason = _REASONS.get(_code_of(cause))
        if reason is None and not _is_trouble(cause):
            raise
        raise StoreUnavailable(reason or f"the database does not answer, nothing was written: {cause}") from error


def _is_trouble(cause: BaseException) -> bool:
    """SQLite says of a damaged file no more than that it is an error of the database."""
    return isinstance(cause, _TROUBLE) or type(cause) is sqlite3.DatabaseError


def _code_of(cause: BaseException) -> str:
    if isinstance(cause, psycopg.Error):
        return cause.sqlstate or ""
    name: str = getattr(cause, "sqlite_errorname", "") or ""
    return "_".join(name.split("_")[:2])  # without what is more special, as in SQLITE_READONLY_DBMOVED

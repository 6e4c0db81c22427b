"""The rows of the database as they are at one moment."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

Rows = Sequence[Any]


@dataclass(frozen=True)
class Stored:
    """`messages` are in order, and `memories` are rows of tables whose words belong to somebody, by table."""

    sessions: Rows = ()
    messages: Rows = ()
    turns: Rows = ()
    jobs: Rows = ()
    plans: Rows = ()
    events: Rows = ()
    provenance: Rows = ()
    memories: dict[str, Rows] = field(default_factory=dict)

    def by_session(self) -> dict[str, list[Any]]:
        told = defaultdict(list)
        for message in self.messages:
            told[message.session_id].append(message)
        return told

    def by_turn(self) -> dict[str, list[Any]]:
        told = defaultdict(list)
        for message in self.messages:
            told[message.turn_id].append(message)
        return told


OWNED = ("facts", "slots", "relations", "preferences")


def read(url: str) -> Stored:
    with psycopg.connect(url, row_factory=namedtuple_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

        def rows(query: str) -> Rows:
            return connection.execute(query.encode()).fetchall()

        return Stored(
            rows("SELECT * FROM sessions"),
            rows("SELECT * FROM messages ORDER BY message_id"),
            rows("SELECT * FROM turns"),
            rows("SELECT * FROM outbox"),
            rows("SELECT * FROM plans"),
            rows("SELECT * FROM event_uses"),
            rows("SELECT * FROM event_provenance"),
            {table: rows(f"SELECT * FROM {table}") for table in OWNED},
        )


def ids_in(value: Any) -> list[Any]:
    """Of a column of JSON, or of lines."""
    if isinstance(value, str) and value.startswith("["):
        return list(json.loads(value))
    return value.splitlines() if isinstance(value, str) else list(value)


def texts_of(row: Any) -> Iterator[str]:
    yield from (value for value in row if isinstance(value, str))

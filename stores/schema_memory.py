"""The tables of a soul's heart: what it keeps of its user, what it thinks, and the work that follows a turn."""

from sqlalchemy import BigInteger, Column, Double, Index, Integer, String, Table, Text, UniqueConstraint, text

from soulgraph.stores.columns import Json, Serial, metadata, soul_id

preferences = Table(
    "preferences",
    metadata,
    soul_id(primary_key=True),
    Column("key", String, primary_key=True),
    Column("value", Text, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("source", String, nullable=False),
    Column("evidence", Json, nullable=False),
    Column("updated_at", Double, nullable=False),
)

slots = Table(
    "slots",
    metadata,
    soul_id(primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("job_id", Serial, primary_key=True, autoincrement=True),
    Column("kind", String, nullable=False),
    soul_id(),
    Column("session_id", String, nullable=False),
    Column("turn_id", String, nullable=False),
    Column("payload", Json, nullable=False),
    Column("status", String, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("run_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("error", Text, nullable=False, server_default=text("''")),
    UniqueConstraint("turn_id", "kind"),
    Index(None, "status", "run_at"),
    Index(None, "session_id", "status", "job_id"),
    sqlite_autoincrement=True,
)

# Every inner monologue the soul has had; the one in its own row is the last.
inner_versions = Table(
    "inner_versions",
    metadata,
    soul_id(primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("inner_state", Text, nullable=False),
    Column("source", String, nullable=False),
    Column("created_at", Double, nullable=False),
)

# When a soul may next speak by itself, and how often it has today.
lives = Table(
    "lives",
    metadata,
    soul_id(primary_key=True),
    Column("due_at", Double, nullable=False),
    Column("day", String, nullable=False),
    Column("spoken", Integer, nullable=False),
)

# What the model calls of one day have cost, by what they were for.
usage = Table(
    "usage",
    metadata,
    soul_id(primary_key=True),
    Column("day", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
)

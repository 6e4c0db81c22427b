"""The table of plans: what a person has asked to be reminded of, what lies ahead of them, and what a soul promised."""

from sqlalchemy import Column, Double, Index, String, Table, Text, text

from soulgraph.stores.columns import Json, metadata, owner_columns, shared_index, soul_id

_WAITING = text("next_at IS NOT NULL")

# `due` and `ends` follow from `local_due` and `zone`, which are as it was said. `next_at` is when something is to be
# done with the row next: when it is due, or while a server works on it when that one counts as dead.
plans = Table(
    "plans",
    metadata,
    soul_id(primary_key=True),
    Column("plan_id", String, primary_key=True),
    *owner_columns(),
    Column("kind", String, nullable=False),
    Column("content", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("due", Double),
    Column("ends", Double),
    Column("local_due", String, nullable=False),
    Column("zone", String, nullable=False),
    Column("grain", String, nullable=False),
    Column("recurs", String, nullable=False),
    Column("source", String, nullable=False),
    Column("session_id", String, nullable=False),
    Column("evidence", Json, nullable=False),
    Column("next_at", Double),
    Column("follow_up_at", Double),
    Column("delivered_at", Double),
    Column("delivery_id", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("ix_plans_next_at", "next_at", sqlite_where=_WAITING, postgresql_where=_WAITING),
    Index(None, "soul_id", "user_id", "status", "due"),
    shared_index("plans"),
)

"""The tables of preferences, memory slots, facts, relations, the outbox, monologues, schedules and token usage."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from soulgraph.stores.columns import Json, Serial, metadata, owner_columns, shared_index, soul_id

preferences = Table(
    "preferences",
    metadata,
    soul_id(primary_key=True),
    *owner_columns(primary_key=True),
    Column("key", String, primary_key=True),
    Column("value", Text, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("source", String, nullable=False),
    Column("evidence", Json, nullable=False),
    Column("updated_at", Double, nullable=False),
    shared_index("preferences"),
)

slots = Table(
    "slots",
    metadata,
    soul_id(primary_key=True),
    *owner_columns(primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
    shared_index("slots"),
)

# What people have told about themselves and theirs, one sentence each. `subject` and `attribute` tell which facts can
# contradict each other, `message_ids` are the evidence. A fact that holds no more keeps its row, with `valid_to`.
# `model` and `vector` are its embedding, computed after it was drawn; NULL until then.
facts = Table(
    "facts",
    metadata,
    soul_id(primary_key=True),
    Column("fact_id", String, primary_key=True),
    *owner_columns(),
    Column("subject", String, nullable=False),
    Column("attribute", String, nullable=False),
    Column("value", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("message_ids", Json, nullable=False),
    Column("said_at", Double, nullable=False),
    Column("valid_from", Double),
    Column("valid_to", Double),
    Column("superseded_by", String),
    Column("source", String, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("model", String),
    Column("vector", LargeBinary),
    Index(None, "soul_id", "user_id", "said_at"),
    Index(None, "soul_id", "updated_at", "model"),
    Index(None, "model"),
    shared_index("facts", "said_at"),
)

# What a soul and a person are to each other. `inner_state` is what the soul understands and feels about this person,
# `scratch_area` its working notes about them: both are read in turns with this person only.
relations = Table(
    "relations",
    metadata,
    soul_id(primary_key=True),
    Column("user_id", String, primary_key=True),
    Column("bond", Text, nullable=False),
    Column("inner_state", Text, nullable=False),
    Column("scratch_area", Text, nullable=False),
    Column("since", Double, nullable=False),
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
    Index(None, "soul_id", "created_at"),
    sqlite_autoincrement=True,
)

# All versions of each soul's inner monologue, and of those about a person (`user_id`); the last one is also in the
# row of the soul or of the relation.
inner_versions = Table(
    "inner_versions",
    metadata,
    soul_id(primary_key=True),
    Column("user_id", String, primary_key=True, server_default=text("''")),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("inner_state", Text, nullable=False),
    Column("source", String, nullable=False),
    Column("created_at", Double, nullable=False),
)

# The proactive schedules: when a soul may next speak to a person on its own, and how often it did so on `day`.
lives = Table(
    "lives",
    metadata,
    soul_id(primary_key=True),
    Column("user_id", String, primary_key=True, server_default=text("''")),
    Column("due_at", Double, nullable=False),
    Column("day", String, nullable=False),
    Column("spoken", Integer, nullable=False),
)

# Calls and tokens per soul, day and kind of model call.
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

# How far each conversation of another program was imported: a second run goes on there, and nothing is doubled. What
# went into slots has no session; the row of a conversation goes with its session, which then can be imported anew.
chat_imports = Table(
    "chat_imports",
    metadata,
    soul_id(primary_key=True),
    Column("user_id", String, primary_key=True),
    Column("program", String, primary_key=True),
    Column("conversation_id", String, primary_key=True),
    Column("session_id", String, ForeignKey("sessions.session_id", ondelete="CASCADE")),
    Column("lines", Integer, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index(None, "session_id"),
)

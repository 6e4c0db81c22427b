"""The tables. Times are epoch seconds; JSON is JSONB on PostgreSQL."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Serial = BigInteger().with_variant(Integer, "sqlite")


def _soul_id(primary_key: bool = False) -> Column[str]:
    """The owning soul; its rows go when it goes."""
    owner = ForeignKey("souls.soul_id", ondelete="CASCADE")
    return Column("soul_id", String, owner, primary_key=primary_key, nullable=False)


def _message_id() -> Column[int]:
    """The message this row is about, and with which it goes."""
    message = ForeignKey("messages.message_id", ondelete="CASCADE")
    return Column("message_id", Serial, message, primary_key=True, autoincrement=False)


def _session_id() -> Column[str]:
    """The session this row is about, and with which it goes."""
    session = ForeignKey("sessions.session_id", ondelete="CASCADE")
    return Column("session_id", String, session, primary_key=True)


def _use_columns() -> tuple[Column[Any], ...]:
    """How often something was recalled, and how often the reply then drew on it."""
    return (
        Column("recalled", Integer, nullable=False),
        Column("useful", Integer, nullable=False),
        Column("last_recalled_at", Double),
    )


def _preset_table(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column("id", String, primary_key=True),
        Column("name", String, nullable=False),
        Column("data", Json, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("updated_at", Double, nullable=False),
    )


souls = Table(
    "souls",
    metadata,
    Column("soul_id", String, primary_key=True),
    Column("user_id", String, nullable=False),
    Column("name", String, nullable=False),
    Column("mbti_type", String(4), nullable=False),
    Column("character_id", String),
    Column("personality_vector", Json, nullable=False),
    Column("emotion_state", Json, nullable=False),
    Column("model_version", String, nullable=False),
    Column("dynamic_profile", Json, nullable=False),
    Column("inner_state", Text, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("ticked_at", Double),
    UniqueConstraint("user_id", "name"),
)

terminals = Table(
    "terminals",
    metadata,
    Column("terminal_id", String, primary_key=True),
    Column("soul_id", String, ForeignKey("souls.soul_id", ondelete="SET NULL")),
    Column("skills", Json, nullable=False),
    Column("skill_version", Integer, nullable=False),
    Column("intent_catalog", Json, nullable=False),
    Column("catalog_version", Integer, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("online", Boolean, nullable=False, server_default=false()),
    Column("last_seen", Double),
    Index(None, "last_seen"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String, primary_key=True),
    _soul_id(),
    Column("user_id", String, nullable=False),
    Column("title", String, nullable=False),
    Column("background_id", String),
    Column("template_id", String, nullable=False),
    Column("character_snapshot", Json, nullable=False),
    Column("persona_state", Json, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("continued_from", String),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("guard", Json, nullable=False, server_default=text("'{}'")),
    Index(None, "soul_id", "updated_at"),
)

messages = Table(
    "messages",
    metadata,
    Column("message_id", Serial, primary_key=True, autoincrement=True),
    Column("session_id", String, ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("turn_id", String, nullable=False),
    Column("role", String, nullable=False),
    Column("content", Text, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("input_id", String),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("session_id", "input_id"),
    Index(None, "session_id", "archived", "message_id"),
    Index(None, "session_id", "message_id"),
    sqlite_autoincrement=True,
)

# What a message is found by: its terms, as the index in `memory` reads them, and the message before it as context.
episodes = Table(
    "episodes",
    metadata,
    _message_id(),
    _soul_id(),
    Column("previous_id", BigInteger),
    Column("by_user", Boolean, nullable=False),
    Column("at", Double, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    Index(None, "soul_id", "message_id"),
)

episode_vectors = Table(
    "episode_vectors",
    metadata,
    _message_id(),
    _soul_id(),
    Column("model", String, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index(None, "soul_id", "model", "message_id"),
)

episode_uses = Table("episode_uses", metadata, _message_id(), *_use_columns())

# Every state the second layer of a session's persona was in.
persona_versions = Table(
    "persona_versions",
    metadata,
    _session_id(),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("evolved_persona", Text, nullable=False),
    Column("source", String, nullable=False),
    Column("created_at", Double, nullable=False),
)

# The catalogue of the event library; the events themselves are in Chroma. `merged` counts near-duplicates it took in.
event_uses = Table(
    "event_uses",
    metadata,
    Column("event_id", String, primary_key=True),
    *_use_columns(),
    Column("merged", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Index(None, "created_at"),
)

# Which sessions an event was drawn from. An event itself names none.
event_provenance = Table(
    "event_provenance",
    metadata,
    Column("event_id", String, primary_key=True),
    _session_id(),
    _soul_id(),
    Column("message_ids", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Index(None, "session_id"),
)

# One row per input that was heard. The answer follows when the turn is written; a row without one is a turn
# that failed after the soul had heard the words, so a retry answers without hurting it twice.
turns = Table(
    "turns",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("input_id", String, primary_key=True),
    Column("turn_id", String, nullable=False, unique=True),
    _soul_id(),
    Column("user_emotion", Json, nullable=False),
    Column("answer", Json),
    Column("created_at", Double, nullable=False),
    Index(None, "soul_id"),
)

# A soul has a fixed number of places, so its history cannot grow beyond them: `history` says which is whose.
emotion_history = Table(
    "emotion_history",
    metadata,
    _soul_id(primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("p", Double, nullable=False),
    Column("a", Double, nullable=False),
    Column("d", Double, nullable=False),
    Column("boredom", Double, nullable=False),
    Column("shock_load", Double, nullable=False),
    Column("extreme_memory", Double, nullable=False),
    Column("exec_probability", Double, nullable=False),
    Column("exec_mode", String, nullable=False),
    Column("locked", Boolean, nullable=False),
)

characters = _preset_table("characters")
backgrounds = _preset_table("backgrounds")
templates = _preset_table("templates")

preferences = Table(
    "preferences",
    metadata,
    _soul_id(primary_key=True),
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
    _soul_id(primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("job_id", Serial, primary_key=True, autoincrement=True),
    Column("kind", String, nullable=False),
    _soul_id(),
    Column("session_id", String, nullable=False),
    Column("turn_id", String, nullable=False),
    Column("payload", Json, nullable=False),
    Column("status", String, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("run_at", Double, nullable=False),
    Column("created_at", Double, nullable=False),
    UniqueConstraint("turn_id", "kind"),
    Index(None, "status", "run_at"),
    Index(None, "session_id"),
    sqlite_autoincrement=True,
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("scope", String, nullable=False),
    Column("hash", String, nullable=False, unique=True),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
)

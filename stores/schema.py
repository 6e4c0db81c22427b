"""The tables of souls, conversations, memory and the library. Times are epoch seconds; JSON is JSONB on PostgreSQL."""

from sqlalchemy import (
    BigInteger,
    Boolean,
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
    false,
    text,
)

from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.columns import (
    Json,
    Serial,
    ids,
    message_id,
    metadata,
    owner_columns,
    session_id,
    shared_index,
    soul_id,
    use_columns,
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
    Column("scratch_area", Text, nullable=False, server_default=text("''")),
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
    Column("user_id", String, nullable=False, server_default=text(f"'{DEFAULT_USER}'")),
    Index(None, "last_seen"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String, primary_key=True),
    soul_id(),
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
    Column("reflected_to", BigInteger, nullable=False, server_default=text("0")),
    Column("memory_hint", Text, nullable=False, server_default=text("''")),
    ids("people"),
    Column("souls", Json, nullable=False, server_default=text("'{}'")),
    Column("facts_to", BigInteger, nullable=False, server_default=text("0")),
    Column("facts_asked_to", BigInteger, nullable=False, server_default=text("0")),
    Index(None, "soul_id", "updated_at"),
)

# `user_id` and `soul_id` are who spoke and to whom: the role says which is which. `people` and `souls` are who else was
# present. `sqlite_autoincrement`: the id of a deleted message is never used again, as on PostgreSQL.
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
    Column("proactive", Boolean, nullable=False, server_default=false()),
    Column("user_id", String, nullable=False, server_default=text("''")),
    Column("soul_id", String, nullable=False, server_default=text("''")),
    ids("people"),
    ids("souls"),
    UniqueConstraint("session_id", "input_id"),
    # Most are archived some day: the few that are not have an index of their own.
    Index(
        "ix_messages_unarchived",
        "session_id",
        "message_id",
        sqlite_where=text("archived = 0"),
        postgresql_where=text("NOT archived"),
    ),
    Index(None, "session_id", "message_id"),
    sqlite_autoincrement=True,
)

# The search index: the terms of each message, as the index in `memory` reads them, and the message before it. Every
# soul that was present has a row, and only those: no soul remembers what it did not witness.
episodes = Table(
    "episodes",
    metadata,
    message_id(),
    soul_id(primary_key=True),
    Column("previous_id", BigInteger),
    Column("by_user", Boolean, nullable=False),
    Column("at", Double, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    *owner_columns(),
    Column("size", Integer, nullable=False, server_default=text("0")),
    Column("asks", Boolean, nullable=False, server_default=false()),
    Column("dated", Boolean, nullable=False, server_default=false()),
    Index(None, "soul_id", "message_id"),
    Index(None, "soul_id", "user_id", "message_id"),
    shared_index("episodes", "message_id"),
)

# `soul_id` repeats that of the episode, so that one index finds the vectors of a soul and model in order.
episode_vectors = Table(
    "episode_vectors",
    metadata,
    message_id(),
    soul_id(primary_key=True),
    Column("model", String, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index(None, "soul_id", "model", "message_id"),
)

episode_uses = Table("episode_uses", metadata, message_id(), *use_columns())

# All versions of each session's evolved persona.
persona_versions = Table(
    "persona_versions",
    metadata,
    session_id(),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("evolved_persona", Text, nullable=False),
    Column("source", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("dimensions", Json),
)

# The event library; Chroma finds its events by their meaning. `merged` counts merged near-duplicates.
# `audience` is who may recall it, as Chroma has it too; NULL until an event from before audiences has got one there.
# `document` is the event itself; NULL until one from before this column has been copied from Chroma.
event_uses = Table(
    "event_uses",
    metadata,
    Column("event_id", String, primary_key=True),
    *use_columns(),
    Column("merged", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("audience", Text),
    Column("document", Text),
    Index(None, "created_at"),
)

# The sessions that an event was made from. They are kept apart from the event, which all souls share.
event_provenance = Table(
    "event_provenance",
    metadata,
    Column("event_id", String, primary_key=True),
    session_id(),
    soul_id(),
    Column("message_ids", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Index(None, "session_id", "created_at"),
)

# One row per input, written when its effect on the soul's emotion is stored. The answer is added at the end of the
# turn. A row without an answer is a turn that failed in between: a retry answers without applying the effect twice.
# `before` is how the soul was until then, for those who take the input back; NULL in rows from before it was kept.
turns = Table(
    "turns",
    metadata,
    Column("session_id", String, primary_key=True),
    Column("input_id", String, primary_key=True),
    Column("turn_id", String, nullable=False, unique=True),
    soul_id(),
    Column("user_emotion", Json, nullable=False),
    Column("answer", Json),
    Column("created_at", Double, nullable=False),
    Column("before", Json),
    Index(None, "soul_id"),
    Index(None, "session_id", "created_at"),
)

# Each soul has a fixed number of places, so that its history cannot grow without limit; `history` assigns them.
emotion_history = Table(
    "emotion_history",
    metadata,
    soul_id(primary_key=True),
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
    Column("drift", Json),  # NULL in points from before it was kept
)

characters = _preset_table("characters")
backgrounds = _preset_table("backgrounds")
templates = _preset_table("templates")

# In a table of their own, because characters are read in every turn and pictures are not. The name is `avatar` or that
# of an expression.
pictures = Table(
    "pictures",
    metadata,
    Column("character_id", String, ForeignKey("characters.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("content_type", String, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("updated_at", Double, nullable=False),
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
    Column("user_id", String),
    ids("soul_ids"),
)

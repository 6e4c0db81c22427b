"""Memory: the search index of messages, the catalogue and provenance of events, and versions of evolved personas."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from soulgraph.senses.tokenizer import fingerprints

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
Serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")

_SAID = sa.text(
    "SELECT message_id, m.session_id, soul_id, role = 'user', m.created_at, content"
    " FROM messages m JOIN sessions s ON s.session_id = m.session_id"
    " WHERE message_id > :after ORDER BY message_id LIMIT :batch"
)
_INDEX = sa.text(
    "INSERT INTO episodes (message_id, soul_id, previous_id, by_user, at, terms)"
    " VALUES (:id, :soul, :previous, :by_user, :at, :terms)"
)
_BATCH = 500


def upgrade() -> None:
    op.add_column("sessions", sa.Column("guard", Json, server_default=sa.text("'{}'"), nullable=False))
    op.create_index("ix_messages_session_id_message_id", "messages", ["session_id", "message_id"], unique=False)
    _create_personas()
    _create_events()
    _create_episodes()
    _index_what_was_said()


def _create_personas() -> None:
    op.create_table(
        "persona_versions",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("evolved_persona", sa.Text(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        _of_session("persona_versions"),
        sa.PrimaryKeyConstraint("session_id", "n", name="pk_persona_versions"),
    )


def _create_events() -> None:
    op.create_table(
        "event_uses",
        sa.Column("event_id", sa.String(), nullable=False),
        *_use_columns(),
        sa.Column("merged", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="pk_event_uses"),
    )
    op.create_index("ix_event_uses_created_at", "event_uses", ["created_at"], unique=False)
    op.create_table(
        "event_provenance",
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("message_ids", Json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        _of_session("event_provenance"),
        _of_soul("event_provenance"),
        sa.PrimaryKeyConstraint("event_id", "session_id", name="pk_event_provenance"),
    )
    op.create_index("ix_event_provenance_session_id", "event_provenance", ["session_id"], unique=False)


def _create_episodes() -> None:
    op.create_table(
        "episodes",
        sa.Column("message_id", Serial, autoincrement=False, nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("previous_id", sa.BigInteger(), nullable=True),
        sa.Column("by_user", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        _of_message("episodes"),
        _of_soul("episodes"),
        sa.PrimaryKeyConstraint("message_id", name="pk_episodes"),
    )
    op.create_index("ix_episodes_soul_id_message_id", "episodes", ["soul_id", "message_id"], unique=False)
    op.create_table(
        "episode_vectors",
        sa.Column("message_id", Serial, autoincrement=False, nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        _of_message("episode_vectors"),
        _of_soul("episode_vectors"),
        sa.PrimaryKeyConstraint("message_id", name="pk_episode_vectors"),
    )
    columns = ["soul_id", "model", "message_id"]
    op.create_index("ix_episode_vectors_soul_id_model_message_id", "episode_vectors", columns, unique=False)
    op.create_table(
        "episode_uses",
        sa.Column("message_id", Serial, autoincrement=False, nullable=False),
        *_use_columns(),
        _of_message("episode_uses"),
        sa.PrimaryKeyConstraint("message_id", name="pk_episode_uses"),
    )


def _index_what_was_said() -> None:
    connection, after = op.get_bind(), 0
    last: dict[str, int] = {}
    while said := connection.execute(_SAID, {"after": after, "batch": _BATCH}).all():
        rows = []
        for message_id, session_id, soul_id, by_user, at, content in said:
            row = {"id": message_id, "soul": soul_id, "previous": last.get(session_id), "by_user": bool(by_user)}
            rows.append({**row, "at": at, "terms": fingerprints(content)})
            last[session_id] = after = message_id
        connection.execute(_INDEX, rows)


def _use_columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("recalled", sa.Integer(), nullable=False),
        sa.Column("useful", sa.Integer(), nullable=False),
        sa.Column("last_recalled_at", sa.Double(), nullable=True),
    )


def _of_soul(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name=f"fk_{table}_soul_id", ondelete="CASCADE")


def _of_session(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_session_id"
    return sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"], name=name, ondelete="CASCADE")


def _of_message(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_message_id"
    return sa.ForeignKeyConstraint(["message_id"], ["messages.message_id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    for table in ("episode_uses", "episode_vectors", "episodes", "event_provenance", "event_uses", "persona_versions"):
        op.drop_table(table)
    op.drop_index("ix_messages_session_id_message_id", table_name="messages")
    op.drop_column("sessions", "guard")

"""The first schema: souls, terminals, sessions and messages, the library, memory slots, outbox and API keys."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
Serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_keys"),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
    )
    op.create_table(
        "backgrounds",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", Json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_backgrounds"),
    )
    op.create_table(
        "characters",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", Json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_characters"),
    )
    op.create_table(
        "souls",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mbti_type", sa.String(length=4), nullable=False),
        sa.Column("character_id", sa.String(), nullable=True),
        sa.Column("personality_vector", Json, nullable=False),
        sa.Column("emotion_state", Json, nullable=False),
        sa.Column("model_version", sa.String(), nullable=False),
        sa.Column("dynamic_profile", Json, nullable=False),
        sa.Column("inner_state", sa.Text(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("soul_id", name="pk_souls"),
        sa.UniqueConstraint("user_id", "name", name="uq_souls_user_id_name"),
    )
    op.create_table(
        "templates",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", Json, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_templates"),
    )
    op.create_table(
        "outbox",
        sa.Column("job_id", Serial, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("run_at", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_outbox_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", name="pk_outbox"),
        sa.UniqueConstraint("turn_id", "kind", name="uq_outbox_turn_id_kind"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_session_id", "outbox", ["session_id"], unique=False)
    op.create_index("ix_outbox_status_run_at", "outbox", ["status", "run_at"], unique=False)
    op.create_table(
        "preferences",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("evidence", Json, nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_preferences_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "key", name="pk_preferences"),
    )
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("background_id", sa.String(), nullable=True),
        sa.Column("template_id", sa.String(), nullable=False),
        sa.Column("character_snapshot", Json, nullable=False),
        sa.Column("persona_state", Json, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("continued_from", sa.String(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_sessions_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_soul_id_updated_at", "sessions", ["soul_id", "updated_at"], unique=False)
    op.create_table(
        "slots",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_slots_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "n", name="pk_slots"),
    )
    op.create_table(
        "terminals",
        sa.Column("terminal_id", sa.String(), nullable=False),
        sa.Column("soul_id", sa.String(), nullable=True),
        sa.Column("skills", Json, nullable=False),
        sa.Column("skill_version", sa.Integer(), nullable=False),
        sa.Column("intent_catalog", Json, nullable=False),
        sa.Column("catalog_version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_terminals_soul_id", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("terminal_id", name="pk_terminals"),
    )
    op.create_table(
        "turns",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("input_id", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("user_emotion", Json, nullable=False),
        sa.Column("answer", Json, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_turns_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "input_id", name="pk_turns"),
        sa.UniqueConstraint("turn_id", name="uq_turns_turn_id"),
    )
    op.create_index("ix_turns_soul_id", "turns", ["soul_id"], unique=False)
    op.create_table(
        "messages",
        sa.Column("message_id", Serial, autoincrement=True, nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("input_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.session_id"], name="fk_messages_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", name="pk_messages"),
        sa.UniqueConstraint("session_id", "input_id", name="uq_messages_session_id_input_id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_messages_session_id_archived_message_id",
        "messages",
        ["session_id", "archived", "message_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index("ix_messages_session_id_archived_message_id", table_name="messages")
    op.drop_table("messages")
    op.drop_index("ix_turns_soul_id", table_name="turns")
    op.drop_table("turns")
    op.drop_table("terminals")
    op.drop_table("slots")
    op.drop_index("ix_sessions_soul_id_updated_at", table_name="sessions")
    op.drop_table("sessions")
    op.drop_table("preferences")
    op.drop_index("ix_outbox_status_run_at", table_name="outbox")
    op.drop_index("ix_outbox_session_id", table_name="outbox")
    op.drop_table("outbox")
    op.drop_table("templates")
    op.drop_table("souls")
    op.drop_table("characters")
    op.drop_table("backgrounds")
    op.drop_table("api_keys")

"""Indexes by which what is new is found without looking at all that was before."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_NEW = {"outbox": ["soul_id", "created_at"], "turns": ["session_id", "created_at"]}


def upgrade() -> None:
    for table, columns in _NEW.items():
        op.create_index(_name(table, columns), table, columns)
    op.drop_index("ix_event_provenance_session_id", "event_provenance")
    op.create_index("ix_event_provenance_session_id_created_at", "event_provenance", ["session_id", "created_at"])
    op.drop_index("ix_messages_session_id_archived_message_id", "messages")
    op.create_index(
        "ix_messages_unarchived",
        "messages",
        ["session_id", "message_id"],
        sqlite_where=sa.text("archived = 0"),
        postgresql_where=sa.text("NOT archived"),
    )


def downgrade() -> None:
    op.drop_index("ix_messages_unarchived", "messages")
    archived = ["session_id", "archived", "message_id"]
    op.create_index("ix_messages_session_id_archived_message_id", "messages", archived)
    op.drop_index("ix_event_provenance_session_id_created_at", "event_provenance")
    op.create_index("ix_event_provenance_session_id", "event_provenance", ["session_id"])
    for table, columns in _NEW.items():
        op.drop_index(_name(table, columns), table)


def _name(table: str, columns: list[str]) -> str:
    return f"ix_{table}_{'_'.join(columns)}"

"""How far the conversations of other programs were imported."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chat_imports",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("program", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String()),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("soul_id", "user_id", "program", "conversation_id", name="pk_chat_imports"),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_chat_imports_soul_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.session_id"], name="fk_chat_imports_session_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_chat_imports_session_id", "chat_imports", ["session_id"])


def downgrade() -> None:
    op.drop_table("chat_imports")

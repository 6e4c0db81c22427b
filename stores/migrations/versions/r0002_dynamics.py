"""Ticks: the emotion history, the presence of terminals, and when a soul was last ticked."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("souls", sa.Column("ticked_at", sa.Double(), nullable=True))
    op.add_column("terminals", sa.Column("online", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("terminals", sa.Column("last_seen", sa.Double(), nullable=True))
    op.create_index("ix_terminals_last_seen", "terminals", ["last_seen"], unique=False)
    op.create_table(
        "emotion_history",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("p", sa.Double(), nullable=False),
        sa.Column("a", sa.Double(), nullable=False),
        sa.Column("d", sa.Double(), nullable=False),
        sa.Column("boredom", sa.Double(), nullable=False),
        sa.Column("shock_load", sa.Double(), nullable=False),
        sa.Column("extreme_memory", sa.Double(), nullable=False),
        sa.Column("exec_probability", sa.Double(), nullable=False),
        sa.Column("exec_mode", sa.String(), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_emotion_history_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "place", name="pk_emotion_history"),
    )


def downgrade() -> None:
    op.drop_table("emotion_history")
    op.drop_index("ix_terminals_last_seen", table_name="terminals")
    op.drop_column("terminals", "last_seen")
    op.drop_column("terminals", "online")
    op.drop_column("souls", "ticked_at")

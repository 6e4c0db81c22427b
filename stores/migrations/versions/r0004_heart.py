"""Errors and retries of jobs, versions of the inner monologue, proactive schedules, and token usage."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("proactive", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("sessions", sa.Column("reflected_to", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("outbox", sa.Column("error", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.drop_index("ix_outbox_session_id", table_name="outbox")
    op.create_index("ix_outbox_session_id_status_job_id", "outbox", ["session_id", "status", "job_id"], unique=False)
    op.create_table(
        "inner_versions",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("inner_state", sa.Text(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        _of_a_soul("inner_versions"),
        sa.PrimaryKeyConstraint("soul_id", "n", name="pk_inner_versions"),
    )
    op.create_table(
        "lives",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("spoken", sa.Integer(), nullable=False),
        _of_a_soul("lives"),
        sa.PrimaryKeyConstraint("soul_id", name="pk_lives"),
    )
    op.create_table(
        "usage",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        _of_a_soul("usage"),
        sa.PrimaryKeyConstraint("soul_id", "day", "kind", name="pk_usage"),
    )


def _of_a_soul(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name=f"fk_{table}_soul_id", ondelete="CASCADE")


def downgrade() -> None:
    for table in ("usage", "lives", "inner_versions"):
        op.drop_table(table)
    op.drop_index("ix_outbox_session_id_status_job_id", table_name="outbox")
    op.create_index("ix_outbox_session_id", "outbox", ["session_id"], unique=False)
    op.drop_column("outbox", "error")
    op.drop_column("sessions", "reflected_to")
    op.drop_column("messages", "proactive")

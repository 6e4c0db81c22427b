"""Plans, reminders and promises."""

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.columns import Json

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_WAITING = sa.text("next_at IS NOT NULL")
_SHARED = sa.text("shared_with <> ''")


def upgrade() -> None:
    op.create_table(
        "plans",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("plan_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), server_default=sa.text("''"), nullable=False),
        sa.Column("shared_with", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("due", sa.Double()),
        sa.Column("ends", sa.Double()),
        sa.Column("local_due", sa.String(), nullable=False),
        sa.Column("zone", sa.String(), nullable=False),
        sa.Column("grain", sa.String(), nullable=False),
        sa.Column("recurs", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("evidence", Json, nullable=False),
        sa.Column("next_at", sa.Double()),
        sa.Column("follow_up_at", sa.Double()),
        sa.Column("delivered_at", sa.Double()),
        sa.Column("delivery_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_plans_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "plan_id", name="pk_plans"),
    )
    op.create_index("ix_plans_next_at", "plans", ["next_at"], sqlite_where=_WAITING, postgresql_where=_WAITING)
    op.create_index("ix_plans_soul_id_user_id_status_due", "plans", ["soul_id", "user_id", "status", "due"])
    op.create_index("ix_plans_shared", "plans", ["soul_id"], sqlite_where=_SHARED, postgresql_where=_SHARED)


def downgrade() -> None:
    op.drop_table("plans")

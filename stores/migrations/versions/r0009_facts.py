"""Facts: what people have told, dated, with evidence; and how far each session was read for them."""

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.columns import Json

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_SHARED = sa.text("shared_with <> ''")


def upgrade() -> None:
    op.create_table(
        "facts",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("fact_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), server_default=sa.text("''"), nullable=False),
        sa.Column("shared_with", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("attribute", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("message_ids", Json, nullable=False),
        sa.Column("said_at", sa.Double(), nullable=False),
        sa.Column("valid_from", sa.Double()),
        sa.Column("valid_to", sa.Double()),
        sa.Column("superseded_by", sa.String()),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("model", sa.String()),
        sa.Column("vector", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_facts_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "fact_id", name="pk_facts"),
    )
    op.create_index("ix_facts_soul_id_user_id_said_at", "facts", ["soul_id", "user_id", "said_at"])
    op.create_index("ix_facts_soul_id_updated_at_model", "facts", ["soul_id", "updated_at", "model"])
    op.create_index("ix_facts_model", "facts", ["model"])
    op.create_index("ix_facts_shared", "facts", ["soul_id", "said_at"], sqlite_where=_SHARED, postgresql_where=_SHARED)
    for name in ("facts_to", "facts_asked_to"):
        op.add_column("sessions", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False))


def downgrade() -> None:
    op.drop_column("sessions", "facts_asked_to")
    op.drop_column("sessions", "facts_to")
    op.drop_table("facts")

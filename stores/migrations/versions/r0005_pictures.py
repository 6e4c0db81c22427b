"""The pictures of characters."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pictures",
        sa.Column("character_id", sa.String(), nullable=False),
        sa.Column("png", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["character_id"], ["characters.id"], name="fk_pictures_character_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("character_id", name="pk_pictures"),
    )


def downgrade() -> None:
    op.drop_table("pictures")

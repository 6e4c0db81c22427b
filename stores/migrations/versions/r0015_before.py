"""Turns know how the soul was before them, so that what was said can be taken back."""

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.columns import Json

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("before", Json))


def downgrade() -> None:
    op.drop_column("turns", "before")

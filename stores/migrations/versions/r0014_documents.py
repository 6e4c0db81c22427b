"""The events themselves are in the database: Chroma only finds them, and can be built anew."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # NULL until a server has copied the event from Chroma, which no migration can open.
    op.add_column("event_uses", sa.Column("document", sa.Text()))


def downgrade() -> None:
    op.drop_column("event_uses", "document")

"""Working notes of souls, hints to update memory, and the dimensions of evolved personas."""

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.columns import Json

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("souls", sa.Column("scratch_area", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("sessions", sa.Column("memory_hint", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("persona_versions", sa.Column("dimensions", Json))


def downgrade() -> None:
    op.drop_column("persona_versions", "dimensions")
    op.drop_column("sessions", "memory_hint")
    op.drop_column("souls", "scratch_area")

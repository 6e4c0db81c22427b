"""Working notes of souls, hints to update memory, the dimensions of evolved personas, and the third model of moods."""

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
    # States of the second model are read as they are: what they lack begins at nothing.
    _rename_model("persona-pad-v2", "persona-pad-v3")


def downgrade() -> None:
    _rename_model("persona-pad-v3", "persona-pad-v2")
    op.drop_column("persona_versions", "dimensions")
    op.drop_column("sessions", "memory_hint")
    op.drop_column("souls", "scratch_area")


def _rename_model(old: str, new: str) -> None:
    souls = sa.table("souls", sa.column("model_version"))
    op.execute(souls.update().where(souls.c.model_version == old).values(model_version=new))

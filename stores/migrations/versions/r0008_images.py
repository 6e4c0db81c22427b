"""Several images of a character, each with its type; and the drift of the traits in the emotion history."""

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.columns import Json

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("emotion_history", sa.Column("drift", Json))
    with op.batch_alter_table("pictures") as batch:
        batch.alter_column("png", new_column_name="content", existing_type=sa.LargeBinary(), existing_nullable=False)
        batch.add_column(sa.Column("name", sa.String(), server_default="avatar", nullable=False))
        batch.add_column(sa.Column("content_type", sa.String(), server_default="image/png", nullable=False))
        batch.add_column(sa.Column("updated_at", sa.Double(), server_default="0", nullable=False))
        batch.drop_constraint("pk_pictures", type_="primary")
        batch.create_primary_key("pk_pictures", ["character_id", "name"])
    # The picture came with its character. The defaults were only for the pictures there are: new ones say it all.
    made = "SELECT created_at FROM characters WHERE characters.id = pictures.character_id"
    op.execute(f"UPDATE pictures SET updated_at = ({made})")
    with op.batch_alter_table("pictures") as batch:
        for name, kind in {"name": sa.String(), "content_type": sa.String(), "updated_at": sa.Double()}.items():
            batch.alter_column(name, server_default=None, existing_type=kind, existing_nullable=False)


def downgrade() -> None:
    """Only an avatar that is a PNG can be kept."""
    op.execute("DELETE FROM pictures WHERE name <> 'avatar' OR content_type <> 'image/png'")
    with op.batch_alter_table("pictures") as batch:
        batch.drop_constraint("pk_pictures", type_="primary")
        batch.create_primary_key("pk_pictures", ["character_id"])
        for name in ("name", "content_type", "updated_at"):
            batch.drop_column(name)
        batch.alter_column("content", new_column_name="png", existing_type=sa.LargeBinary(), existing_nullable=False)
    op.drop_column("emotion_history", "drift")

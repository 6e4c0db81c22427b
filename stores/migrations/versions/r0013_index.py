"""Episodes know the days they speak of, their size and whether they ask; their terms know irregular forms."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

import sqlalchemy as sa
from alembic import op

from soulgraph.stores.episodes import index_columns

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_BATCH = 1000
_messages = sa.table("messages", sa.column("message_id"), sa.column("content"), sa.column("created_at"))
_episodes = sa.table("episodes", *(sa.column(name) for name in ("message_id", "terms", "size", "asks", "dated")))


def upgrade() -> None:
    # Not in a batch: SQLite would copy the table, and its partial index would become a whole one.
    op.add_column("episodes", sa.Column("size", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column("episodes", sa.Column("asks", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("episodes", sa.Column("dated", sa.Boolean(), server_default=sa.false(), nullable=False))
    connection = op.get_bind()
    done = 0
    page = sa.select(_messages).order_by(_messages.c.message_id).limit(_BATCH)
    while rows := connection.execute(page.where(_messages.c.message_id > done)).all():
        done = rows[-1].message_id
        _index(connection, rows)


def _index(connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> None:
    """In which zone "yesterday" was said is not known here: days are those of UTC."""
    statement = sa.update(_episodes).where(_episodes.c.message_id == sa.bindparam("key"))
    indexed = [(row.message_id, index_columns(row.content, row.created_at, UTC)) for row in rows]
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in indexed[0][1]}
    new = [{"key": key, **{f"new_{name}": value for name, value in row.items()}} for key, row in indexed]
    connection.execute(statement.values(values), new)


def downgrade() -> None:
    """The terms stay as they are: they are found by the older tokenizer too, but for irregular forms."""
    for name in ("dated", "asks", "size"):
        op.drop_column("episodes", name)

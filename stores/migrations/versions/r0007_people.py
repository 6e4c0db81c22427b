"""People: whose memories, preferences, monologues, schedules and keys are, with whom they are shared, and relations."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.columns import Ids, Json
from soulgraph.stores.migrations.ownership import give_to_people, take_from_people

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_SHARED = sa.text("shared_with <> ''")


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("user_id", sa.String()))
    op.add_column("api_keys", _ids("soul_ids"))
    op.add_column("terminals", _text("user_id", DEFAULT_USER))
    op.add_column("sessions", _ids("people"))
    op.add_column("sessions", sa.Column("souls", Json, server_default=sa.text("'{}'"), nullable=False))
    for column in (_text("user_id"), _text("soul_id"), _ids("people"), _ids("souls")):
        op.add_column("messages", column)
    op.add_column("event_uses", sa.Column("audience", sa.Text()))
    _rekey("episodes", ["message_id", "soul_id"], _text("user_id"), _ids("shared_with"))
    _rekey("episode_vectors", ["message_id", "soul_id"])
    _rekey("slots", ["soul_id", "user_id", "n"], _text("user_id"), _ids("shared_with"))
    _rekey("preferences", ["soul_id", "user_id", "key"], _text("user_id"), _ids("shared_with"))
    _rekey("inner_versions", ["soul_id", "user_id", "n"], _text("user_id"))
    _rekey("lives", ["soul_id", "user_id"], _text("user_id"))
    _create_relations()
    give_to_people(op.get_bind())
    _index_owners()


def _text(name: str, default: str = "") -> sa.Column[str]:
    return sa.Column(name, sa.String(), server_default=sa.text(f"'{default}'"), nullable=False)


def _ids(name: str) -> sa.Column[Any]:
    return sa.Column(name, Ids(), server_default=sa.text("''"), nullable=False)


def _rekey(table: str, keys: list[str], *columns: sa.Column[Any]) -> None:
    """Add columns and make these the primary key; on SQLite the table is written anew."""
    with op.batch_alter_table(table) as batch:
        for column in columns:
            batch.add_column(column)
        batch.drop_constraint(f"pk_{table}", type_="primary")
        batch.create_primary_key(f"pk_{table}", keys)


def _create_relations() -> None:
    op.create_table(
        "relations",
        sa.Column("soul_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("bond", sa.Text(), nullable=False),
        sa.Column("inner_state", sa.Text(), nullable=False),
        sa.Column("scratch_area", sa.Text(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["soul_id"], ["souls.soul_id"], name="fk_relations_soul_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("soul_id", "user_id", name="pk_relations"),
    )


def _index_owners() -> None:
    """After the rows have got their owners, so that the indexes are written once."""
    op.create_index("ix_episodes_soul_id_user_id_message_id", "episodes", ["soul_id", "user_id", "message_id"])
    for table, columns in {"episodes": ["message_id"], "slots": [], "preferences": []}.items():
        name, keys = f"ix_{table}_shared", ["soul_id", *columns]
        op.create_index(name, table, keys, sqlite_where=_SHARED, postgresql_where=_SHARED)


def downgrade() -> None:
    for table in ("preferences", "slots", "episodes"):
        op.drop_index(f"ix_{table}_shared", table_name=table)
    op.drop_index("ix_episodes_soul_id_user_id_message_id", table_name="episodes")
    take_from_people(op.get_bind())
    op.drop_table("relations")
    _unkey("lives", ["soul_id"], "user_id")
    _unkey("inner_versions", ["soul_id", "n"], "user_id")
    _unkey("preferences", ["soul_id", "key"], "user_id", "shared_with")
    _unkey("slots", ["soul_id", "n"], "user_id", "shared_with")
    _unkey("episode_vectors", ["message_id"])
    _unkey("episodes", ["message_id"], "user_id", "shared_with")
    op.drop_column("event_uses", "audience")
    for table, columns in {
        "messages": ("souls", "people", "soul_id", "user_id"),
        "sessions": ("souls", "people"),
        "terminals": ("user_id",),
        "api_keys": ("soul_ids", "user_id"),
    }.items():
        for column in columns:
            op.drop_column(table, column)


def _unkey(table: str, keys: list[str], *columns: str) -> None:
    with op.batch_alter_table(table) as batch:
        batch.drop_constraint(f"pk_{table}", type_="primary")
        batch.create_primary_key(f"pk_{table}", keys)
        for column in columns:
            batch.drop_column(column)

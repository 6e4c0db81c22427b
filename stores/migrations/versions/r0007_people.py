"""People: whose memories, preferences, monologues, schedules and keys are, with whom they are shared, and relations.

What is there already goes to the person it came from. What cannot be told apart is nobody's: it stays where its owner
can see it, and no turn is built from it.
"""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic import op

from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.people import DEFAULT_USER, NOBODY
from soulgraph.soul.timestamps import iso
from soulgraph.stores.columns import Ids, Json

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_MOST_TERMS = 0.6  # share of a note's words that a person must have said, for the note to be about them
_BATCH = 500

_SHARED = sa.text("shared_with <> ''")
_souls = sa.table(
    "souls",
    *(sa.column(name) for name in ("soul_id", "user_id", "inner_state", "created_at")),
    sa.column("dynamic_profile", Json),
)
_sessions = sa.table(
    "sessions",
    *(sa.column(name) for name in ("session_id", "soul_id", "user_id", "created_at")),
    sa.column("guard", Json),
)
_slots = sa.table("slots", *(sa.column(name) for name in ("soul_id", "n", "user_id", "content")))
_preferences = sa.table(
    "preferences", *(sa.column(name) for name in ("soul_id", "key", "user_id", "source")), sa.column("evidence", Json)
)
_relations = sa.table(
    "relations",
    *(sa.column(n) for n in ("soul_id", "user_id", "bond", "inner_state", "scratch_area", "since", "updated_at")),
)
_versions = sa.table(
    "inner_versions", *(sa.column(name) for name in ("soul_id", "user_id", "n", "inner_state", "source"))
)
_turns = sa.table("turns", sa.column("turn_id"), sa.column("session_id"))
_lives = sa.table("lives", sa.column("soul_id"), sa.column("user_id"))
_messages = sa.table("messages", *(sa.column(name) for name in ("message_id", "session_id", "role", "content")))
_backgrounds = sa.table("backgrounds", sa.column("id"), sa.column("data", Json))


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
    _index_owners()
    _create_relations()
    _own_messages()
    for soul in op.get_bind().execute(sa.select(_souls)).all():
        _own_memory(soul)
    _own_sessions()


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


def _index_owners() -> None:
    op.drop_index("ix_episodes_soul_id_message_id", table_name="episodes")
    op.create_index("ix_episodes_soul_id_user_id_message_id", "episodes", ["soul_id", "user_id", "message_id"])
    for table in ("episodes", "slots", "preferences"):
        op.create_index(f"ix_{table}_soul_id", table, ["soul_id"], sqlite_where=_SHARED, postgresql_where=_SHARED)


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


def _own_messages() -> None:
    """Messages are the person's whose session they are in."""
    op.execute(
        "UPDATE messages SET"
        " user_id = (SELECT user_id FROM sessions WHERE sessions.session_id = messages.session_id),"
        " soul_id = (SELECT soul_id FROM sessions WHERE sessions.session_id = messages.session_id)"
    )
    op.execute(
        "UPDATE episodes SET user_id = (SELECT user_id FROM messages WHERE messages.message_id = episodes.message_id)"
    )


def _own_memory(soul: Any) -> None:
    """Give each person whom the soul has talked with what it knows from them."""
    met = _people_of(soul.soul_id)
    alone = next(iter(met)) if len(met) == 1 else None
    connection = op.get_bind()
    mine = sa.column("soul_id") == soul.soul_id
    said = {} if alone or not met else {user_id: _said_by(soul.soul_id, user_id) for user_id in met}
    for slot in connection.execute(sa.select(_slots).where(mine)).all():
        _own(_slots, soul.soul_id, "n", slot.n, alone or _speaker_of(slot.content, said, soul.user_id))
    for kept in connection.execute(sa.select(_preferences).where(mine)).all():
        given = kept.source in ("given", "edited")
        owner = alone or (soul.user_id if given else _speaker_of(" ".join(map(str, kept.evidence)), said, soul.user_id))
        _own(_preferences, soul.soul_id, "key", kept.key, owner)
    latest = max(met, key=lambda user_id: met[user_id][1]) if met else soul.user_id
    connection.execute(_lives.update().where(mine).values(user_id=latest))
    thought = _move_monologue(soul, met)
    for user_id, (since, _) in met.items():
        values = {"soul_id": soul.soul_id, "user_id": user_id, "bond": "", "scratch_area": "", "since": since}
        about = {"inner_state": thought if user_id == alone else "", "updated_at": since}
        connection.execute(_relations.insert().values(values | about))
    _own_profile(soul, alone)


def _people_of(soul_id: str) -> dict[str, tuple[float, float]]:
    """Since when and until when the soul has had conversations with each person."""
    column = _sessions.c.created_at
    query = sa.select(_sessions.c.user_id, sa.func.min(column), sa.func.max(column)).group_by(_sessions.c.user_id)
    rows = op.get_bind().execute(query.where(_sessions.c.soul_id == soul_id))
    return {user_id: (since, latest) for user_id, since, latest in rows}


def _said_by(soul_id: str, user_id: str) -> set[str]:
    """The terms of all that the person has said to the soul."""
    joined = _messages.join(_sessions, _messages.c.session_id == _sessions.c.session_id)
    mine = _sessions.c.soul_id == soul_id, _sessions.c.user_id == user_id, _messages.c.role == "user"
    rows = op.get_bind().execute(sa.select(_messages.c.content).select_from(joined).where(*mine))
    return {term for (content,) in rows for term in terms_of(content)}


def _speaker_of(note: str, said: dict[str, set[str]], otherwise: str) -> str:
    """The only person who has said most of a note's words; nobody if there are several, or none."""
    if not said:
        return otherwise
    terms = set(terms_of(note))
    speakers = [user_id for user_id, known in said.items() if terms and len(terms & known) >= _MOST_TERMS * len(terms)]
    return speakers[0] if len(speakers) == 1 else NOBODY


def _own(table: sa.TableClause, soul_id: str, key: str, value: Any, user_id: str) -> None:
    row = table.c.soul_id == soul_id, table.c[key] == value
    op.get_bind().execute(table.update().where(*row).values(user_id=user_id))


def _move_monologue(soul: Any, met: Iterable[str]) -> str:
    """Give the soul back the monologue it was born with, if people have made it think since; returns the last one.

    All versions are kept. One that an owner has written stays: it is meant for everybody.
    """
    connection = op.get_bind()
    mine = _versions.c.soul_id == soul.soul_id
    versions = connection.execute(sa.select(_versions).where(mine).order_by(_versions.c.n)).all()
    own = [version for version in versions if not version.source.startswith("reflection")]
    if not versions or own[-1] is versions[-1]:
        return ""
    connection.execute(_souls.update().where(_souls.c.soul_id == soul.soul_id).values(inner_state=own[-1].inner_state))
    return str(soul.inner_state)


def _own_profile(soul: Any, alone: str | None) -> None:
    """What the soul was born with is its own; what came later is from a person."""
    born = iso(soul.created_at)
    fields = soul.dynamic_profile.get("dynamic_state", {})
    state = {
        name: {**field, "items": [_owned_item(item, born, alone) for item in field["items"]]}
        for name, field in fields.items()
    }
    retired = [
        {**entry, "item": _owned_item(entry["item"], born, alone)} if "item" in entry else entry
        for entry in soul.dynamic_profile.get("retired", [])
    ]
    profile = {**soul.dynamic_profile, "dynamic_state": state}
    if retired:
        profile["retired"] = retired
    if profile != soul.dynamic_profile:
        mine = _souls.c.soul_id == soul.soul_id
        op.get_bind().execute(_souls.update().where(mine).values(dynamic_profile=profile))


def _owned_item(item: dict[str, Any], born: str, alone: str | None) -> dict[str, Any]:
    return item if item.get("timestamp", "") <= born else {**item, "user_id": alone or NOBODY}


def _own_sessions() -> None:
    """The guard of a session is its person's, and so is the background that sums it up."""
    connection = op.get_bind()
    owners: dict[str, str] = {}
    for session in connection.execute(sa.select(_sessions)).all():
        owners[session.session_id] = session.user_id
        if session.guard:
            mine = _sessions.c.session_id == session.session_id
            connection.execute(_sessions.update().where(mine).values(guard={session.user_id: session.guard}))
    for background in connection.execute(sa.select(_backgrounds)).all():
        origin = background.data.get("extensions", {}).get("summary_of")
        if isinstance(origin, dict):
            told = {**origin, "user_id": owners.get(origin.get("session_id", ""), NOBODY)}
            extensions = {**background.data["extensions"], "summary_of": told}
            data = {**background.data, "extensions": extensions}
            connection.execute(_backgrounds.update().where(_backgrounds.c.id == background.id).values(data=data))


def downgrade() -> None:
    for session in op.get_bind().execute(sa.select(_sessions)).all():
        mine = _sessions.c.session_id == session.session_id
        guard = session.guard.get(session.user_id, {}) if session.guard else {}
        op.get_bind().execute(_sessions.update().where(mine).values(guard=guard))
    op.drop_table("relations")
    for table in ("preferences", "slots", "episodes"):
        op.drop_index(f"ix_{table}_soul_id", table_name=table)
    op.drop_index("ix_episodes_soul_id_user_id_message_id", table_name="episodes")
    _unkey("lives", ["soul_id"], "user_id")
    _unkey("inner_versions", ["soul_id", "n"], "user_id")
    _unkey("preferences", ["soul_id", "key"], "user_id", "shared_with")
    _unkey("slots", ["soul_id", "n"], "user_id", "shared_with")
    _unkey("episode_vectors", ["message_id"], of="soul_id")
    _unkey("episodes", ["message_id"], "user_id", "shared_with", of="soul_id")
    op.create_index("ix_episodes_soul_id_message_id", "episodes", ["soul_id", "message_id"])
    op.drop_column("event_uses", "audience")
    for table, columns in {
        "messages": ("souls", "people", "soul_id", "user_id"),
        "sessions": ("souls", "people"),
        "terminals": ("user_id",),
        "api_keys": ("soul_ids", "user_id"),
    }.items():
        for column in columns:
            op.drop_column(table, column)


def _unkey(table: str, keys: list[str], *columns: str, of: str = "user_id") -> None:
    """The opposite of `_rekey`: of several rows with one key, that of the first owner is kept."""
    same = " AND ".join(f"other.{key} = {table}.{key}" for key in keys)
    op.execute(
        f"DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM {table} other WHERE {same} AND other.{of} < {table}.{of})"
    )
    with op.batch_alter_table(table) as batch:
        batch.drop_constraint(f"pk_{table}", type_="primary")
        batch.create_primary_key(f"pk_{table}", keys)
        for column in columns:
            batch.drop_column(column)

"""LangGraph's checkpoints as rows, to remove old ones: its savers only add to them.

A turn reads the newest checkpoint of its session, so all before that can go. Their ids are ordered by time, over all
namespaces of a thread: those of a subgraph are newer than the checkpoint that it was called from. So everything up to
an id can go at once, and an interrupted turn keeps what it is resumed from.
"""

from functools import cache

from sqlalchemy import Select, String, bindparam, column, delete, func, select, table, text

from soulgraph.stores.database import Connection

_INTERRUPT = "__interrupt__"
_checkpoints = table("checkpoints", *(column(name, String) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")))
_WRITES = {
    dialect: table(name, *(column(key, String) for key in ("thread_id", "checkpoint_id", "channel")))
    for dialect, name in {"sqlite": "writes", "postgresql": "checkpoint_writes"}.items()
}
# PostgreSQL keeps the values of channels apart, because checkpoints share those that did not change.
_DELETE_UNUSED_VALUES = text("""
    DELETE FROM checkpoint_blobs AS one WHERE one.thread_id = :thread_id AND NOT EXISTS (
        SELECT 1 FROM checkpoints AS kept
        WHERE kept.thread_id = one.thread_id AND kept.checkpoint_ns = one.checkpoint_ns
        AND kept.checkpoint -> 'channel_versions' ->> one.channel = one.version
    )
""")


class CheckpointRows:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._writes = _WRITES[connection.dialect.name]

    async def newest_surplus(self, thread_id: str, kept: int) -> str | None:
        """The newest checkpoint that is older than the `kept` newest ones of turns; None if there is none."""
        values = {"thread_id": thread_id, "skipped": kept - 1} if kept else {"thread_id": thread_id}
        found: str | None = (await self._connection.execute(_newest_surplus(kept > 0), values)).scalar()
        return found

    async def waits(self, thread_id: str) -> bool:
        """Whether the thread's last turn was interrupted, and waits to be resumed."""
        row, last = self._writes.c, _nth_newest().scalar_subquery()
        asked = row.thread_id == thread_id, row.channel == _INTERRUPT, row.checkpoint_id >= last
        query, values = select(row.channel).where(*asked).limit(1), {"thread_id": thread_id, "skipped": 0}
        return (await self._connection.execute(query, values)).first() is not None

    async def remove(self, thread_id: str, newest: str, limit: int) -> int:
        """Remove up to `limit` checkpoints, none newer than `newest`; fewer than `limit` mean that no more are left."""
        row = _checkpoints.c
        old = select(row.checkpoint_id).where(row.thread_id == thread_id, row.checkpoint_id <= newest).limit(limit)
        # Rows that another server is removing are skipped, and no others are touched: so there is no deadlock.
        ids = (await self._connection.execute(old.with_for_update(skip_locked=True))).scalars()
        for rows in (_checkpoints, self._writes):
            mine = rows.c.thread_id == thread_id, rows.c.checkpoint_id.in_(ids)
            await self._connection.execute(delete(rows).where(*mine))
        # Last of all: to look at every checkpoint for each value would take long while there are many.
        if len(ids) < limit and self._connection.dialect.name == "postgresql":
            await self._connection.execute(_DELETE_UNUSED_VALUES, {"thread_id": thread_id})
        return len(ids)


@cache
def _newest_surplus(some_are_kept: bool) -> Select[tuple[str]]:
    row = _checkpoints.c
    newest = select(func.max(row.checkpoint_id)).where(row.thread_id == bindparam("thread_id"))
    return newest.where(row.checkpoint_id < _nth_newest().scalar_subquery()) if some_are_kept else newest


@cache
def _nth_newest() -> Select[tuple[str]]:
    """The newest checkpoint of the thread after so many that are skipped; those of subgraphs do not count."""
    row = _checkpoints.alias("of_turns").c
    own = select(row.checkpoint_id).where(row.thread_id == bindparam("thread_id"), row.checkpoint_ns == "")
    return own.order_by(row.checkpoint_id.desc()).limit(1).offset(bindparam("skipped"))

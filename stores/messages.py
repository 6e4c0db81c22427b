"""Messages: the transcripts of sessions. An archived message is left out of prompts but stays in the transcript."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select, update

from soulgraph.stores import schema
from soulgraph.stores.episodes import Episodes
from soulgraph.stores.records import Message, NewMessage
from soulgraph.stores.repository import Repository, fields_of

_ALWAYS_RECENT = 4
"""The number of last messages that stay in the prompt even when they are archived: two rounds."""


class Messages(Repository[Message]):
    table = schema.messages
    record = Message

    async def append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        """Add messages in order and index them for recall; returns their ids.

        Only one writer at a time may append to a session (a turn holds its lock), because the new ids are read back
        as the last ones of the session.
        """
        if not messages:
            return []
        await self._add(*({"session_id": session_id, **fields_of(message)} for message in messages))
        soul_id, ids = await self._last_ids(session_id, len(messages) + 1)
        previous_id = ids.pop(0) if len(ids) > len(messages) else None
        await Episodes(self._connection).add(soul_id, previous_id, list(zip(ids, messages, strict=True)))
        return ids

    async def _last_ids(self, session_id: str, limit: int) -> tuple[str, list[int]]:
        """The soul of the session, and the ids of its last messages, oldest first."""
        values = {"session_id": session_id, "limit": limit}
        newest_first = (await self._connection.execute(self._newest_ids(), values)).all()
        return newest_first[0][0], [row[1] for row in reversed(newest_first)]

    @classmethod
    @cache
    def _newest_ids(cls) -> Select[Any]:
        session, message = schema.sessions.c, cls.table.c
        joined = schema.sessions.join(cls.table, session.session_id == message.session_id)
        ids = select(session.soul_id, message.message_id).select_from(joined)
        newest_first = ids.where(message.session_id == bindparam("session_id")).order_by(message.message_id.desc())
        return newest_first.limit(bindparam("limit"))

    async def recent(self, session_id: str, limit: int) -> list[Message]:
        """The last unarchived messages, oldest first. The last two rounds are included even if they are archived.

        Without them the prompt would lose what was just said whenever an event was made from it.
        """
        unarchived = await self._all(self._newest("archived"), session_id=session_id, archived=False, limit=limit)
        last = await self.last(session_id, min(limit, _ALWAYS_RECENT))
        return sorted({*unarchived, *last}, key=lambda message: message.message_id)[-limit:]

    @classmethod
    @cache
    def _newest(cls, *columns: str) -> Select[Any]:
        in_session = cls._rows("session_id", *columns)
        return in_session.order_by(cls.table.c.message_id.desc()).limit(bindparam("limit"))

    async def last(self, session_id: str, limit: int) -> list[Message]:
        """The last messages, archived or not, oldest first."""
        return (await self._all(self._newest(), session_id=session_id, limit=limit))[::-1]

    async def unarchived(self, session_id: str, up_to: int) -> list[Message]:
        """All unarchived messages with an id up to `up_to`, oldest first."""
        query = self._rows("session_id", "archived").where(self.table.c.message_id <= up_to)
        return await self._all(query.order_by(self.table.c.message_id), session_id=session_id, archived=False)

    async def archive(self, message_ids: Sequence[int]) -> None:
        """Mark these messages as archived: an event was made from them."""
        statement = update(self.table).where(self.table.c.message_id.in_(message_ids))
        await self._connection.execute(statement.values(archived=True))

    async def page(self, session_id: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Messages with an id above `after`, oldest first; all of them if `limit` is None."""
        following = self._rows("session_id").where(self.table.c.message_id > after)
        return await self._all(following.order_by(self.table.c.message_id).limit(limit), session_id=session_id)

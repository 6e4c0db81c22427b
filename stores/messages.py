"""Messages: the transcript. Archived ones leave the prompt, never the transcript."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select, update

from soulgraph.stores import schema
from soulgraph.stores.episodes import Episodes
from soulgraph.stores.records import Message, NewMessage
from soulgraph.stores.repository import Repository, fields_of

_THREAD = 4


class Messages(Repository[Message]):
    table = schema.messages
    record = Message

    async def append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        """Add messages in order and index them for recall; returns their ids.

        Only one writer at a time may append to a session: whoever shares it between servers holds its lock.
        """
        if not messages:
            return []
        await self._add(*({"session_id": session_id, **fields_of(message)} for message in messages))
        soul_id, ids = await self._last(session_id, len(messages) + 1)
        before = ids.pop(0) if len(ids) > len(messages) else None
        await Episodes(self._connection).add(soul_id, before, list(zip(ids, messages, strict=True)))
        return ids

    async def _last(self, session_id: str, limit: int) -> tuple[str, list[int]]:
        """Whose session it is, and its last messages, oldest first."""
        newest_first = (await self._connection.execute(self._ids(), {"session_id": session_id, "limit": limit})).all()
        return newest_first[0][0], [row[1] for row in reversed(newest_first)]

    @classmethod
    @cache
    def _ids(cls) -> Select[Any]:
        session, message = schema.sessions.c, cls.table.c
        joined = schema.sessions.join(cls.table, session.session_id == message.session_id)
        ids = select(session.soul_id, message.message_id).select_from(joined)
        newest_first = ids.where(message.session_id == bindparam("session_id")).order_by(message.message_id.desc())
        return newest_first.limit(bindparam("limit"))

    async def recent(self, session_id: str, limit: int) -> list[Message]:
        """The last unarchived messages, oldest first; the last two rounds are among them also if they are archived.

        Else a conversation would lose its thread whenever an event was drawn from it.
        """
        unarchived = await self._all(self._newest("archived"), session_id=session_id, archived=False, limit=limit)
        last = await self.last(session_id, min(limit, _THREAD))
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
        """All that no event was drawn from yet, up to this message, oldest first."""
        query = self._rows("session_id", "archived").where(self.table.c.message_id <= up_to)
        return await self._all(query.order_by(self.table.c.message_id), session_id=session_id, archived=False)

    async def archive(self, message_ids: Sequence[int]) -> None:
        """An event was drawn from these."""
        drawn = update(self.table).where(self.table.c.message_id.in_(message_ids))
        await self._connection.execute(drawn.values(archived=True))

    async def page(self, session_id: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Messages with an id above `after`, oldest first."""
        following = self._rows("session_id").where(self.table.c.message_id > after)
        return await self._all(following.order_by(self.table.c.message_id).limit(limit), session_id=session_id)

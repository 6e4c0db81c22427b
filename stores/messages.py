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
        await self._add(*({"session_id": session_id, **_columns(message)} for message in messages))
        ids = await self._last_ids(session_id, len(messages) + 1)
        previous_id = ids.pop(0) if len(ids) > len(messages) else None
        await Episodes(self._connection).add(previous_id, list(zip(ids, messages, strict=True)))
        return ids

    async def _last_ids(self, session_id: str, limit: int) -> list[int]:
        """The ids of the session's last messages, oldest first."""
        values = {"session_id": session_id, "limit": limit}
        newest_first = (await self._connection.execute(self._newest_ids(), values)).scalars().all()
        return list(reversed(newest_first))

    @classmethod
    @cache
    def _newest_ids(cls) -> Select[Any]:
        message = cls.table.c
        in_session = select(message.message_id).where(message.session_id == bindparam("session_id"))
        return in_session.order_by(message.message_id.desc()).limit(bindparam("limit"))

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

    async def by_input(self, session_id: str, input_id: str) -> Message | None:
        """What was said with this input, if its turn was stored."""
        return await self._first(self._rows("session_id", "input_id"), session_id=session_id, input_id=input_id)

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


def _columns(message: NewMessage) -> dict[str, Any]:
    """With whom it is shared is the episode's: that may change later, and who was present may not."""
    return {name: value for name, value in fields_of(message).items() if name != "shared_with"}

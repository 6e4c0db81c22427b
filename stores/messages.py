"""Messages: the transcript. Archived ones leave the prompt, never the transcript."""

from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, or_, select

from soulgraph.stores import schema
from soulgraph.stores.records import Json, Message
from soulgraph.stores.repository import Repository


class Messages(Repository[Message]):
    table = schema.messages
    record = Message

    async def append(self, session_id: str, messages: list[Json]) -> None:
        """Add rows of {turn_id, role, content, archived, input_id, created_at} in order."""
        if messages:
            await self._add(*({"session_id": session_id, **message} for message in messages))

    async def recent(self, session_id: str, limit: int) -> list[Message]:
        """The last unarchived messages, oldest first."""
        newest_first = await self._all(self._newest(), session_id=session_id, archived=False, limit=limit)
        return newest_first[::-1]

    @classmethod
    @cache
    def _newest(cls) -> Select[Any]:
        in_session = cls._rows("session_id", "archived")
        return in_session.order_by(cls.table.c.message_id.desc()).limit(bindparam("limit"))

    async def mentioning(self, soul_id: str, terms: Collection[str], limit: int) -> list[Message]:
        """The newest of the user's messages, in all the soul's sessions, that contain any of the terms."""
        if not terms:
            return []
        sessions = select(schema.sessions.c.session_id).where(schema.sessions.c.soul_id == soul_id)
        contains = [self.table.c.content.icontains(term, autoescape=True) for term in sorted(terms)]
        said = self._rows().where(self.table.c.role == "user", self.table.c.session_id.in_(sessions), or_(*contains))
        return await self._all(said.order_by(self.table.c.message_id.desc()).limit(limit))

    async def page(self, session_id: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Messages with an id above `after`, oldest first."""
        following = self._rows("session_id").where(self.table.c.message_id > after)
        return await self._all(following.order_by(self.table.c.message_id).limit(limit), session_id=session_id)

"""Messages: the transcript. Archived ones leave the prompt, never the transcript."""

from collections.abc import Collection

from sqlalchemy import or_, select

from soulgraph.stores import schema
from soulgraph.stores.records import Json, Message
from soulgraph.stores.repository import Repository


class Messages(Repository[Message]):
    table = schema.messages
    record = Message

    async def append(self, session_id: str, messages: list[Json]) -> None:
        """Add rows of {turn_id, role, content, archived, input_id, created_at} in order."""
        if messages:
            rows = [{"session_id": session_id, **message} for message in messages]
            await self._connection.execute(self._insert, rows)

    async def recent(self, session_id: str, limit: int) -> list[Message]:
        """The last unarchived messages, oldest first."""
        query = self._rows.where(self.table.c.session_id == session_id, self.table.c.archived.is_(False))
        newest_first = await self._all(query.order_by(self.table.c.message_id.desc()).limit(limit))
        return newest_first[::-1]

    async def mentioning(self, soul_id: str, terms: Collection[str], limit: int) -> list[Message]:
        """The newest of the user's messages, in all the soul's sessions, that contain any of the terms."""
        if not terms:
            return []
        sessions = select(schema.sessions.c.session_id).where(schema.sessions.c.soul_id == soul_id)
        contains = [self.table.c.content.icontains(term, autoescape=True) for term in sorted(terms)]
        query = self._rows.where(self.table.c.role == "user", self.table.c.session_id.in_(sessions), or_(*contains))
        return await self._all(query.order_by(self.table.c.message_id.desc()).limit(limit))

    async def page(self, session_id: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Messages with an id above `after`, oldest first."""
        query = self._rows.where(self.table.c.session_id == session_id, self.table.c.message_id > after)
        return await self._all(query.order_by(self.table.c.message_id).limit(limit))

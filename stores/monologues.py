"""All versions of a soul's inner monologues: the one about itself, and one about each person it knows.

The present ones are also in the rows of the soul and of its relations.
"""

from sqlalchemy import func, select

from soulgraph.errors import NotFound
from soulgraph.soul.people import NOBODY
from soulgraph.stores import schema_memory
from soulgraph.stores.records import MonologueVersion, Soul
from soulgraph.stores.relations import Relations
from soulgraph.stores.repository import Repository, fields_of
from soulgraph.stores.souls import Souls


class MonologueVersions(Repository[MonologueVersion]):
    """Without a `user_id` the monologue is the one about the soul itself."""

    table = schema_memory.inner_versions
    record = MonologueVersion

    async def all(self, soul_id: str, user_id: str = NOBODY) -> list[MonologueVersion]:
        """All versions, the newest first; empty before the first `think`."""
        newest_first = self._rows("soul_id", "user_id").order_by(self.table.c.n.desc())
        return await self._all(newest_first, soul_id=soul_id, user_id=user_id)

    async def get(self, soul_id: str, n: int, user_id: str = NOBODY) -> MonologueVersion:
        version = await self._first(self._rows("soul_id", "user_id", "n"), soul_id=soul_id, user_id=user_id, n=n)
        if version is None:
            raise NotFound("inner state version", str(n))
        return version

    async def think(
        self, soul_id: str, inner_state: str, source: str, now: float, user_id: str = NOBODY
    ) -> MonologueVersion:
        """Replace the monologue and store it as a new version.

        The first call also stores version 0: how it was when the soul was created, or the two met.
        """
        # The lock lets concurrent writers number their versions one after the other.
        soul = await Souls(self._connection).lock(soul_id)
        relation = await Relations(self._connection).lock(soul_id, user_id, now) if user_id != NOBODY else None
        last = await self._last_number(soul_id, user_id)
        if last is None:
            first = (relation.inner_state, "meeting", relation.since) if relation else _birth(soul)
            await self._add(fields_of(MonologueVersion(soul_id, user_id, 0, *first)))
        version = MonologueVersion(soul_id, user_id, (last or 0) + 1, inner_state, source, now)
        await self._add(fields_of(version))
        if relation:
            await Relations(self._connection).think(soul_id, user_id, inner_state, now)
        else:
            await Souls(self._connection).think(soul_id, inner_state, now)
        return version

    async def forget(self, soul_id: str, user_id: str) -> None:
        """Delete all versions of the monologue about this person."""
        await self._remove(soul_id=soul_id, user_id=user_id)

    async def _last_number(self, soul_id: str, user_id: str) -> int | None:
        mine = self.table.c.soul_id == soul_id, self.table.c.user_id == user_id
        number: int | None = (await self._connection.execute(select(func.max(self.table.c.n)).where(*mine))).scalar()
        return number


def _birth(soul: Soul) -> tuple[str, str, float]:
    return soul.inner_state, "birth", soul.created_at

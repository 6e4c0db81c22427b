"""All versions of a soul's inner monologue. The present one is also in the soul's row."""

from sqlalchemy import func, select

from soulgraph.errors import NotFound
from soulgraph.stores import schema_memory
from soulgraph.stores.records import MonologueVersion
from soulgraph.stores.repository import Repository, fields_of
from soulgraph.stores.souls import Souls


class MonologueVersions(Repository[MonologueVersion]):
    table = schema_memory.inner_versions
    record = MonologueVersion

    async def all(self, soul_id: str) -> list[MonologueVersion]:
        """All versions of the soul, the newest first; empty before the first `think`."""
        return await self._all(self._rows("soul_id").order_by(self.table.c.n.desc()), soul_id=soul_id)

    async def get(self, soul_id: str, n: int) -> MonologueVersion:
        version = await self._first(self._rows("soul_id", "n"), soul_id=soul_id, n=n)
        if version is None:
            raise NotFound("inner state version", str(n))
        return version

    async def think(self, soul_id: str, inner_state: str, source: str, now: float) -> MonologueVersion:
        """Replace the soul's inner monologue and store it as a new version.

        The first call also stores version 0, the monologue that the soul was created with.
        """
        # The lock lets concurrent writers number their versions one after the other.
        soul = await Souls(self._connection).lock(soul_id)
        last = await self._last_number(soul_id)
        if last is None:
            await self._add(fields_of(MonologueVersion(soul_id, 0, soul.inner_state, "birth", soul.created_at)))
        version = MonologueVersion(soul_id, (last or 0) + 1, inner_state, source, now)
        await self._add(fields_of(version))
        await Souls(self._connection).think(soul_id, inner_state, now)
        return version

    async def _last_number(self, soul_id: str) -> int | None:
        query = select(func.max(self.table.c.n)).where(self.table.c.soul_id == soul_id)
        number: int | None = (await self._connection.execute(query)).scalar()
        return number

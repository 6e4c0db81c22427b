"""The inner monologue of a soul: the one it has is in its own row, and every one it ever had is kept here."""

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
        """The newest first."""
        return await self._all(self._rows("soul_id").order_by(self.table.c.n.desc()), soul_id=soul_id)

    async def get(self, soul_id: str, n: int) -> MonologueVersion:
        version = await self._first(self._rows("soul_id", "n"), soul_id=soul_id, n=n)
        if version is None:
            raise NotFound("inner state version", str(n))
        return version

    async def think(self, soul_id: str, inner_state: str, source: str, now: float) -> MonologueVersion:
        """Think this from now on; version 0 is what the soul was born with. Two who think at once take turns."""
        soul, last = await Souls(self._connection).lock(soul_id), await self._last(soul_id)
        if last is None:
            await self._add(fields_of(MonologueVersion(soul_id, 0, soul.inner_state, "birth", soul.created_at)))
        version = MonologueVersion(soul_id, (last or 0) + 1, inner_state, source, now)
        await self._add(fields_of(version))
        await Souls(self._connection).think(soul_id, inner_state, now)
        return version

    async def _last(self, soul_id: str) -> int | None:
        last = select(func.max(self.table.c.n)).where(self.table.c.soul_id == soul_id)
        number: int | None = (await self._connection.execute(last)).scalar()
        return number

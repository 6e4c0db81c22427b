"""What one soul keeps about its user: long-term preferences and numbered memory slots."""

from typing import Any

from sqlalchemy import delete

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Preference, Slot
from soulgraph.stores.repository import Repository, fields_of


class Preferences(Repository[Preference]):
    table = schema.preferences
    record = Preference

    async def all(self, soul_id: str) -> list[Preference]:
        return await self._all(self._rows.where(self.table.c.soul_id == soul_id).order_by(self.table.c.key))

    async def put(self, preference: Preference) -> None:
        await self._put(**fields_of(preference))

    async def delete(self, soul_id: str, key: str) -> None:
        await _delete(self, "preference", key, self.table.c.soul_id == soul_id, self.table.c.key == key)


class Slots(Repository[Slot]):
    table = schema.slots
    record = Slot

    async def all(self, soul_id: str) -> list[Slot]:
        return await self._all(self._rows.where(self.table.c.soul_id == soul_id).order_by(self.table.c.n))

    async def put(self, soul_id: str, n: int, content: str, now: float) -> None:
        await self._put(soul_id=soul_id, n=n, content=content, updated_at=now)

    async def delete(self, soul_id: str, n: int) -> None:
        await _delete(self, "slot", str(n), self.table.c.soul_id == soul_id, self.table.c.n == n)


async def _delete(repository: Repository[Any], kind: str, key: str, *where: Any) -> None:
    gone = await repository._connection.execute(delete(repository.table).where(*where))
    if not gone.rowcount:
        raise NotFound(kind, key)

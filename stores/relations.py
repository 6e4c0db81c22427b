"""Relations: what a soul and each person it knows are to each other."""

from soulgraph.errors import NotFound
from soulgraph.stores import schema_memory
from soulgraph.stores.records import Relation
from soulgraph.stores.repository import Repository, fields_of


class Relations(Repository[Relation]):
    table = schema_memory.relations
    record = Relation

    async def find(self, soul_id: str, user_id: str) -> Relation | None:
        return await self._first(self._rows("soul_id", "user_id"), soul_id=soul_id, user_id=user_id)

    async def get(self, soul_id: str, user_id: str) -> Relation:
        relation = await self.find(soul_id, user_id)
        if relation is None:
            raise NotFound("relation", user_id)
        return relation

    async def lock(self, soul_id: str, user_id: str, now: float) -> Relation:
        """The relation, made if there is none, and locked against other writers until the transaction ends."""
        new = Relation.new(soul_id, user_id, now)
        await self._put_new(**fields_of(new))
        return await self._first(self._locked("soul_id", "user_id"), soul_id=soul_id, user_id=user_id) or new

    async def all(self, soul_id: str) -> list[Relation]:
        """Those with everybody the soul knows, the oldest first."""
        order = self.table.c.since, self.table.c.user_id
        return await self._all(self._rows("soul_id").order_by(*order), soul_id=soul_id)

    async def ensure(self, relation: Relation) -> None:
        """Add the relation unless the two know each other."""
        await self._put_new(**fields_of(relation))

    async def think(self, soul_id: str, user_id: str, inner_state: str, now: float) -> None:
        await self._change(soul_id, user_id, now, inner_state=inner_state)

    async def note(self, soul_id: str, user_id: str, scratch_area: str, now: float) -> None:
        """Replace the soul's working notes about this person."""
        await self._change(soul_id, user_id, now, scratch_area=scratch_area)

    async def bind(self, soul_id: str, user_id: str, bond: str, now: float) -> None:
        """Store what they are to each other, in words."""
        await self._change(soul_id, user_id, now, bond=bond)

    async def delete(self, soul_id: str, user_id: str) -> None:
        if not await self._remove(soul_id=soul_id, user_id=user_id):
            raise NotFound("relation", user_id)

    async def _change(self, soul_id: str, user_id: str, now: float, **values: str) -> None:
        if not await self._set({"soul_id": soul_id, "user_id": user_id}, **values, updated_at=now):
            raise NotFound("relation", user_id)

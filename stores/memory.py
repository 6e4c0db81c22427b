"""What a soul knows about people: long-term preferences, and for each person memory slots with the numbers 0 to 99."""

from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from sqlalchemy import Select, bindparam, select, union_all

from soulgraph.errors import NotFound
from soulgraph.soul.people import NOBODY, may_know
from soulgraph.stores import schema_memory
from soulgraph.stores.columns import is_shared
from soulgraph.stores.records import Preference, Slot
from soulgraph.stores.repository import Repository, fields_of

FACT_SLOTS = (*range(10), *range(40, 100))

ADDRESS = "address"
"""The key of the preference that says what a person is called."""

SlotKind = Literal["fact", "moment", "feeling", "growth", "free"]
_TENS: tuple[SlotKind, ...] = ("fact", "moment", "feeling", "growth")


def kind_of_slot(n: int) -> SlotKind:
    """What the slot is meant for: ten slots for each kind, the other sixty for anything."""
    return _TENS[n // 10] if n < 10 * len(_TENS) else "free"


def user_name(preferences: Iterable[Preference], user_id: str) -> str | None:
    """What a person is called, if it is known."""
    return next((one.value for one in preferences if one.key == ADDRESS and one.user_id == user_id), None)


class Owned(Protocol):
    """A record that belongs to a person."""

    @property
    def user_id(self) -> str: ...

    @property
    def shared_with(self) -> tuple[str, ...]: ...


OwnedRecord = TypeVar("OwnedRecord", bound=Owned)


class OwnedRows(Repository[OwnedRecord]):
    """Rows of a soul that belong to people, sorted by the column `name`, which tells a person's rows apart."""

    name: ClassVar[str]
    kind: ClassVar[str]

    async def of(self, soul_id: str, user_id: str) -> list[OwnedRecord]:
        """The person's own."""
        return self._sorted(await self._all(self._rows("soul_id", "user_id"), soul_id=soul_id, user_id=user_id))

    async def known_to(self, soul_id: str, audience: Collection[str], speaker: str) -> list[OwnedRecord]:
        """All of which the whole audience may know; `speaker` is one of it."""
        rows = await self._all(self._own_or_shared(), soul_id=soul_id, user_id=speaker)
        return self._sorted(row for row in rows if may_know(audience, row.user_id, row.shared_with))

    async def all(self, soul_id: str) -> list[OwnedRecord]:
        """Everybody's."""
        return self._sorted(await self._all(self._rows("soul_id"), soul_id=soul_id))

    async def get(self, soul_id: str, user_id: str, name: Any) -> OwnedRecord:
        keys = {"soul_id": soul_id, "user_id": user_id, self.name: name}
        row = await self._first(self._rows(*keys), **keys)
        if row is None:
            raise NotFound(self.kind, str(name))
        return row

    async def put(self, row: OwnedRecord) -> None:
        await self._put(**fields_of(row))

    async def delete(self, soul_id: str, user_id: str, name: Any) -> None:
        if not await self._remove(soul_id=soul_id, user_id=user_id, **{self.name: name}):
            raise NotFound(self.kind, str(name))

    def _sorted(self, rows: Iterable[OwnedRecord]) -> list[OwnedRecord]:
        return sorted(rows, key=lambda row: (getattr(row, self.name), row.user_id))

    @classmethod
    @cache
    def _own_or_shared(cls) -> Select[Any]:
        """Two selects, because for an `or` the databases may read everybody's rows instead of two indexes."""
        own, others = cls._rows("soul_id", "user_id"), cls.table.c.user_id != bindparam("user_id")
        return select(union_all(own, cls._rows("soul_id").where(others, is_shared(cls.table))).subquery())


class Preferences(OwnedRows[Preference]):
    table = schema_memory.preferences
    record = Preference
    name = "key"
    kind = "preference"

    async def addresses(self, soul_id: str, audience: Collection[str] | None = None) -> dict[str, str]:
        """What people whom the soul knows want to be called, by person, as far as the audience may know it.

        Without an audience everybody's.
        """
        rows = await self._all(self._rows("soul_id", "key"), soul_id=soul_id, key=ADDRESS)
        if audience is None:
            return {row.user_id: row.value for row in rows if row.user_id != NOBODY}
        known = [row for row in rows if may_know(audience, row.user_id, row.shared_with)]
        return {row.user_id: row.value for row in known}


class Slots(OwnedRows[Slot]):
    table = schema_memory.slots
    record = Slot
    name = "n"
    kind = "slot"

    async def free(self, soul_id: str, user_id: str) -> list[int]:
        """The numbers of the person's empty slots that may hold a fact, in ascending order."""
        taken = {slot.n for slot in await self.of(soul_id, user_id)}
        return [n for n in FACT_SLOTS if n not in taken]

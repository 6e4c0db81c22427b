"""What a soul knows about its user: long-term preferences, and memory slots with the numbers 0 to 99."""

from collections.abc import Iterable
from typing import Literal

from soulgraph.errors import NotFound
from soulgraph.stores import schema_memory
from soulgraph.stores.records import Preference, Slot
from soulgraph.stores.repository import Repository, fields_of

FACT_SLOTS = (*range(10), *range(40, 100))

ADDRESS = "address"
"""The key of the preference that says what the user is called."""

SlotKind = Literal["fact", "moment", "feeling", "growth", "free"]
_TENS: tuple[SlotKind, ...] = ("fact", "moment", "feeling", "growth")


def kind_of_slot(n: int) -> SlotKind:
    """What the slot is meant for: ten slots for each kind, the other sixty for anything."""
    return _TENS[n // 10] if n < 10 * len(_TENS) else "free"


def user_name(preferences: Iterable[Preference]) -> str | None:
    """What the user is called, if it is known."""
    return next((preference.value for preference in preferences if preference.key == ADDRESS), None)


class Preferences(Repository[Preference]):
    table = schema_memory.preferences
    record = Preference

    async def all(self, soul_id: str) -> list[Preference]:
        preferences = await self._all(self._rows("soul_id"), soul_id=soul_id)
        return sorted(preferences, key=lambda preference: preference.key)

    async def get(self, soul_id: str, key: str) -> Preference:
        preference = await self._first(self._rows("soul_id", "key"), soul_id=soul_id, key=key)
        if preference is None:
            raise NotFound("preference", key)
        return preference

    async def put(self, preference: Preference) -> None:
        await self._put(**fields_of(preference))

    async def delete(self, soul_id: str, key: str) -> None:
        if not await self._remove(soul_id=soul_id, key=key):
            raise NotFound("preference", key)


class Slots(Repository[Slot]):
    table = schema_memory.slots
    record = Slot

    async def all(self, soul_id: str) -> list[Slot]:
        slots = await self._all(self._rows("soul_id"), soul_id=soul_id)
        return sorted(slots, key=lambda slot: slot.n)

    async def get(self, soul_id: str, n: int) -> Slot:
        slot = await self._first(self._rows("soul_id", "n"), soul_id=soul_id, n=n)
        if slot is None:
            raise NotFound("slot", str(n))
        return slot

    async def free(self, soul_id: str) -> list[int]:
        """The numbers of the empty slots that may hold a fact, in ascending order."""
        taken = {slot.n for slot in await self.all(soul_id)}
        return [n for n in FACT_SLOTS if n not in taken]

    async def put(self, soul_id: str, n: int, content: str, now: float) -> None:
        await self._put(soul_id=soul_id, n=n, content=content, updated_at=now)

    async def delete(self, soul_id: str, n: int) -> None:
        if not await self._remove(soul_id=soul_id, n=n):
            raise NotFound("slot", str(n))

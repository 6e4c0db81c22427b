"""What a soul knows about its user: memory slots and long-term preferences."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field, StringConstraints

from soulgraph.api.auth import chatter, owner
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.soul.timestamps import iso
from soulgraph.stores.memory import SlotKind, kind_of_slot
from soulgraph.stores.records import Preference, Slot

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["memory"])

Number = Annotated[int, Path(ge=0, le=99)]
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class SlotEdit(Body):
    read_only = frozenset({"n", "kind", "updated_at"})

    content: ShortText


class SlotOut(BaseModel):
    n: int
    kind: SlotKind
    content: str
    updated_at: str

    @classmethod
    def of(cls, slot: Slot) -> "SlotOut":
        return cls(n=slot.n, kind=kind_of_slot(slot.n), content=slot.content, updated_at=iso(slot.updated_at))


class PreferenceEdit(Body):
    read_only = frozenset({"key", "source", "updated_at"})

    value: ShortText
    confidence: float = Field(1.0, ge=0, le=1)
    evidence: list[ShortText] = Field([], max_length=20, description="the words it was taken from")


class PreferenceOut(BaseModel):
    key: str
    value: str
    confidence: float
    source: str
    evidence: list[Any]
    updated_at: str

    @classmethod
    def of(cls, preference: Preference) -> "PreferenceOut":
        return cls(
            key=preference.key,
            value=preference.value,
            confidence=preference.confidence,
            source=preference.source,
            evidence=preference.evidence,
            updated_at=iso(preference.updated_at),
        )


@router.get("/slots", dependencies=[chatter])
async def list_slots(soul_id: Id, services: Served) -> list[SlotOut]:
    """List the memory slots that are not empty, by number."""
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        return [SlotOut.of(slot) for slot in await tx.slots.all(soul_id)]


@router.get("/slots/{n}", dependencies=[chatter])
async def read_slot(soul_id: Id, n: Number, services: Served) -> SlotOut:
    """Read a memory slot; 404 if it is empty."""
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        return SlotOut.of(await tx.slots.get(soul_id, n))


@router.put("/slots/{n}", dependencies=[owner])
async def put_slot(soul_id: Id, n: Number, wanted: SlotEdit, services: Served) -> SlotOut:
    """Write a memory slot.

    Slots 0 to 9 are for facts, 10 to 19 for moments, 20 to 29 for feelings, 30 to 39 for growth; the rest is free.
    """
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.slots.put(soul_id, n, wanted.content, services.now())
        return SlotOut.of(await tx.slots.get(soul_id, n))


@router.delete("/slots/{n}", status_code=204, dependencies=[owner])
async def delete_slot(soul_id: Id, n: Number, services: Served) -> None:
    """Empty a memory slot; 404 if it is empty."""
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.slots.delete(soul_id, n)


@router.get("/preferences", dependencies=[chatter])
async def list_preferences(soul_id: Id, services: Served) -> list[PreferenceOut]:
    """List the user's long-term preferences by key."""
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        return [PreferenceOut.of(preference) for preference in await tx.preferences.all(soul_id)]


@router.get("/preferences/{key}", dependencies=[chatter])
async def read_preference(soul_id: Id, key: Id, services: Served) -> PreferenceOut:
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        return PreferenceOut.of(await tx.preferences.get(soul_id, key))


@router.put("/preferences/{key}", dependencies=[owner])
async def put_preference(soul_id: Id, key: Id, wanted: PreferenceEdit, services: Served) -> PreferenceOut:
    """Write a preference; its source is `edited`, and it is used from the next turn on."""
    preference = Preference(soul_id, key, **wanted.model_dump(), source="edited", updated_at=services.now())
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.preferences.put(preference)
    return PreferenceOut.of(preference)


@router.delete("/preferences/{key}", status_code=204, dependencies=[owner])
async def delete_preference(soul_id: Id, key: Id, services: Served) -> None:
    """Delete a preference."""
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.preferences.delete(soul_id, key)

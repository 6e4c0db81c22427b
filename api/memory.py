"""What a soul knows about people: the memory slots and long-term preferences of each. They are theirs to edit."""

from collections.abc import Iterable
from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints

from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id, SharedWith, SlotNumber
from soulgraph.api.services import Served
from soulgraph.soul.people import EVERYONE, Visibility, others, visibility_of
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NOT_BLANK, NUMBER
from soulgraph.stores.memory import SlotKind, kind_of_slot
from soulgraph.stores.records import Preference, Slot

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["memory"])

ShortText = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True), NOT_BLANK]


class SlotEdit(Body):
    model_config = example({"content": "plays the cello", "shared_with": ["bob"]})

    read_only = frozenset({"n", "kind", "user_id", "visibility", "updated_at"})

    content: ShortText
    shared_with: SharedWith = Field([])


class SlotOut(BaseModel):
    n: int
    kind: SlotKind
    content: str
    user_id: str
    visibility: Visibility
    shared_with: list[str]
    updated_at: str

    @classmethod
    def of(cls, slot: Slot) -> Self:
        return cls(
            n=slot.n,
            kind=kind_of_slot(slot.n),
            content=slot.content,
            user_id=slot.user_id,
            visibility=visibility_of(slot.shared_with),
            shared_with=list(slot.shared_with),
            updated_at=iso(slot.updated_at),
        )


class PreferenceEdit(Body):
    model_config = example({"value": "short", "confidence": 1.0, "evidence": ["以后都说短一点"]})

    read_only = frozenset({"key", "user_id", "visibility", "source", "updated_at"})

    value: ShortText
    confidence: Annotated[float, NUMBER] = Field(1.0, ge=0, le=1)
    evidence: list[ShortText] = Field([], max_length=20, description="the words it was taken from")
    shared_with: SharedWith = Field([])


class PreferenceOut(BaseModel):
    key: str
    value: str
    confidence: float
    source: str
    evidence: list[Any]
    user_id: str
    visibility: Visibility
    shared_with: list[str]
    updated_at: str

    @classmethod
    def of(cls, preference: Preference) -> Self:
        fields = {name: getattr(preference, name) for name in ("key", "value", "confidence", "source", "evidence")}
        return cls(
            **fields,
            user_id=preference.user_id,
            visibility=visibility_of(preference.shared_with),
            shared_with=list(preference.shared_with),
            updated_at=iso(preference.updated_at),
        )


@router.get("/slots")
async def list_slots(soul_id: Id, caller: Reader, services: Served) -> list[SlotOut]:
    """List the memory slots of a person that are not empty, by number; an owner who names nobody gets everybody's."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        found = await (tx.slots.all(soul_id) if caller.person is None else tx.slots.of(soul_id, caller.person))
        return [SlotOut.of(slot) for slot in found]


@router.get("/slots/{n}")
async def read_slot(soul_id: Id, n: SlotNumber, caller: Reader, services: Served) -> SlotOut:
    """Read a memory slot; 404 if it is empty."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        return SlotOut.of(await tx.slots.get(soul_id, caller.one_person, n))


@router.put("/slots/{n}")
async def put_slot(soul_id: Id, n: SlotNumber, wanted: SlotEdit, caller: Reader, services: Served) -> SlotOut:
    """Write a memory slot.

    Slots 0 to 9 are for facts, 10 to 19 for moments, 20 to 29 for feelings, 30 to 39 for growth; the rest is free.
    """
    caller.check_soul(soul_id)
    person = caller.one_person
    slot = Slot(soul_id, person, n, wanted.content, services.now(), sharing(person, wanted.shared_with))
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.slots.put(slot)
    return SlotOut.of(slot)


@router.delete("/slots/{n}", status_code=204)
async def delete_slot(soul_id: Id, n: SlotNumber, caller: Reader, services: Served) -> None:
    """Empty a memory slot; 404 if it is empty."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.slots.delete(soul_id, caller.one_person, n)


@router.get("/preferences")
async def list_preferences(soul_id: Id, caller: Reader, services: Served) -> list[PreferenceOut]:
    """List the long-term preferences of a person by key; an owner who names nobody gets everybody's."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        person = caller.person
        found = await (tx.preferences.all(soul_id) if person is None else tx.preferences.of(soul_id, person))
        return [PreferenceOut.of(preference) for preference in found]


@router.get("/preferences/{key}")
async def read_preference(soul_id: Id, key: Id, caller: Reader, services: Served) -> PreferenceOut:
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        return PreferenceOut.of(await tx.preferences.get(soul_id, caller.one_person, key))


@router.put("/preferences/{key}")
async def put_preference(
    soul_id: Id, key: Id, wanted: PreferenceEdit, caller: Reader, services: Served
) -> PreferenceOut:
    """Write a preference; its source is `edited`, and it is used from the next turn on."""
    caller.check_soul(soul_id)
    preference = Preference(
        soul_id=soul_id,
        user_id=caller.one_person,
        key=key,
        **wanted.model_dump(exclude={"shared_with"}),
        source="edited",
        updated_at=services.now(),
        shared_with=sharing(caller.one_person, wanted.shared_with),
    )
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.preferences.put(preference)
    return PreferenceOut.of(preference)


@router.delete("/preferences/{key}", status_code=204)
async def delete_preference(soul_id: Id, key: Id, caller: Reader, services: Served) -> None:
    """Delete a preference."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        await tx.preferences.delete(soul_id, caller.one_person, key)


def sharing(user_id: str, shared_with: Iterable[str]) -> tuple[str, ...]:
    """With whom something of this person's is shared, as it is stored; with everyone says it all."""
    people = others(user_id, shared_with)
    return (EVERYONE,) if EVERYONE in people else people

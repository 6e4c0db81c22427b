"""Relations: what a soul and each person it knows are to each other; and forgetting a person."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StringConstraints

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader, Somebody
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id, Name, UserId
from soulgraph.api.raising import NO_EVENT_LIBRARY, SESSION_BUSY, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sessions import delete_conversation
from soulgraph.errors import NotFound
from soulgraph.memory.events import audience_of
from soulgraph.soul.maintenance import without_owner
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import first_relation
from soulgraph.stores.memory import ADDRESS
from soulgraph.stores.records import Preference, Relation
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/souls/{soul_id}/relations", tags=["memory"])

Bond = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)]
_PAGE = 200


class RelationOut(BaseModel):
    user_id: str
    address: str | None = Field(description="what the soul calls the person")
    bond: str = Field(description="what they are to each other, in words")
    since: str
    updated_at: str
    inner_state: str | None = Field(description="what the soul understands and feels about them; for owners, else null")
    scratch_area: str | None = Field(description="its working notes about them; for owners, else null")

    @classmethod
    def of(cls, relation: Relation, address: str | None, caller: Caller) -> Self:
        return cls(
            user_id=relation.user_id,
            address=address,
            bond=relation.bond,
            since=iso(relation.since),
            updated_at=iso(relation.updated_at),
            inner_state=relation.inner_state if caller.is_owner else None,
            scratch_area=relation.scratch_area if caller.is_owner else None,
        )


class RelationEdit(Body):
    model_config = example({"address": "Annie", "bond": "she is my oldest friend"})

    read_only = frozenset({"user_id", "since", "updated_at", "inner_state", "scratch_area"})

    address: Name | None = Field(None, description="kept as the preference `address`; null leaves it as it is")
    bond: Bond | None = None


@router.get("")
async def list_relations(soul_id: Id, caller: Reader, services: Served) -> list[RelationOut]:
    """List the soul's relations, the oldest first: an owner gets all of them, a person their own."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        found = [one for one in await tx.relations.all(soul_id) if caller.person in (None, one.user_id)]
        addresses = await tx.preferences.addresses(soul_id)
    return [RelationOut.of(one, addresses.get(one.user_id), caller) for one in found]


@router.get("/{user_id}")
async def read_relation(soul_id: Id, user_id: UserId, caller: Somebody, services: Served) -> RelationOut:
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        _check_own(user_id, caller)
        return await _relation(tx, soul_id, user_id, caller)


@router.put("/{user_id}")
@raises(*not_found("relation"))
async def put_relation(
    soul_id: Id, user_id: UserId, wanted: RelationEdit, caller: Somebody, services: Served
) -> RelationOut:
    """Say what the soul calls the person, and what they are to each other. What is left out stays as it is."""
    now = services.now()
    caller.check_soul(soul_id)
    _check_own(user_id, caller)
    async with services.stores.write() as tx:
        soul = await tx.souls.lock(soul_id)
        await tx.relations.ensure(first_relation(soul, user_id, wanted.address, now))
        if wanted.bond is not None:
            await tx.relations.bind(soul_id, user_id, wanted.bond, now)
        if wanted.address is not None:
            await tx.preferences.put(Preference(soul_id, user_id, ADDRESS, wanted.address, 1.0, "edited", [], now))
        return await _relation(tx, soul_id, user_id, caller)


@router.delete("/{user_id}", status_code=204)
@raises(SESSION_BUSY, NO_EVENT_LIBRARY)
async def forget_person(
    soul_id: Id,
    user_id: UserId,
    caller: Somebody,
    services: Served,
    sessions: Annotated[bool, Query(description="delete their private sessions too")] = False,
) -> None:
    """Let the soul forget a person: relation, thoughts and notes about them, slots, facts, plans, preferences, …

    Transcripts stay, and can be recalled, unless `sessions` is true; groups go on without being changed. It is safe to
    repeat, also for somebody whom the soul does not know.
    """
    caller.check_soul(soul_id)
    _check_own(user_id, caller)
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        private = [one for one in await tx.sessions.all(soul_id, user_id=user_id) if not one.people]
    for session in private if sessions else ():
        await delete_conversation(session.session_id, services)
    await _forget_events(soul_id, user_id, services)
    await _forget_summaries(soul_id, user_id, services)
    async with services.stores.write() as tx:
        await _forget_memory(tx, soul_id, user_id, services.now())


def _check_own(user_id: str, caller: Caller) -> None:
    if not caller.acts_for_anybody and user_id != caller.person:
        raise NotFound("relation", user_id)


async def _relation(tx: Transaction, soul_id: str, user_id: str, caller: Caller) -> RelationOut:
    relation = await tx.relations.get(soul_id, user_id)
    return RelationOut.of(relation, (await tx.preferences.addresses(soul_id)).get(user_id), caller)


async def _forget_events(soul_id: str, user_id: str, services: Services) -> None:
    """Delete the events that are private to the soul and this person."""
    library = services.context.memory.events
    audiences = [audience_of(soul_id, [user_id])]
    while library and (page := await library.page(_PAGE, 0, audiences)):
        for event, _ in page:
            await library.delete(event.event_id)


async def _forget_summaries(soul_id: str, user_id: str, services: Services) -> None:
    """Delete the summaries of this person's private conversations with the soul."""
    async with services.stores.read() as tx:
        presets = [one for one in await tx.backgrounds.all() if one.summary_of.get("soul_id") == soul_id]
    for preset in presets:
        if preset.summary_people != [user_id]:
            continue
        if summaries := services.context.memory.summaries:
            await summaries.forget(session_id=preset.summary_of["session_id"])
        async with services.stores.write() as tx:
            await tx.backgrounds.delete(preset.id)


async def _forget_memory(tx: Transaction, soul_id: str, user_id: str, now: float) -> None:
    soul = await tx.souls.lock(soul_id)
    for slot in await tx.slots.of(soul_id, user_id):
        await tx.slots.delete(soul_id, user_id, slot.n)
    for fact in await tx.facts.of(soul_id, user_id):
        await tx.facts.forget(fact)
    for plan in await tx.plans.of(soul_id, user_id):
        await tx.plans.delete(soul_id, user_id, plan.plan_id)
    for preference in await tx.preferences.of(soul_id, user_id):
        await tx.preferences.delete(soul_id, user_id, preference.key)
    await tx.monologues.forget(soul_id, user_id)
    if await tx.relations.find(soul_id, user_id):
        await tx.relations.delete(soul_id, user_id)
    await tx.souls.grow(soul_id, without_owner(soul.dynamic_profile, user_id), now)

"""What a soul keeps for itself: its inner monologues and working notes, about itself and about each person."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, StringConstraints

from soulgraph.api.auth import Owner
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id, UserId, VersionNumber
from soulgraph.api.raising import not_found, raises
from soulgraph.api.services import Served
from soulgraph.soul.people import NOBODY
from soulgraph.soul.scratch import MAX_SCRATCH
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NOT_BLANK
from soulgraph.stores.records import MonologueVersion
from soulgraph.voices.task_outputs import INNER_STATE_LIMIT

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["memory"])

Monologue = Annotated[
    str, StringConstraints(min_length=1, max_length=INNER_STATE_LIMIT, strip_whitespace=True), NOT_BLANK
]

Notes = Annotated[str, StringConstraints(max_length=MAX_SCRATCH, strip_whitespace=True)]


About = Annotated[UserId | None, Query(description="the person it is about; without it the soul itself")]


class InnerState(BaseModel):
    soul_id: str
    user_id: str | None
    inner_state: str


class InnerStateEdit(Body):
    model_config = example({"inner_state": "She hides how tired she is."})

    read_only = frozenset({"soul_id", "user_id"})

    inner_state: Monologue


@router.get("/inner-state")
@raises(*not_found("relation"))
async def read_inner_state(soul_id: Id, caller: Owner, services: Served, user_id: About = None) -> InnerState:
    """Read the soul's inner monologue about itself, or about a person. It is for owners; people never see it."""
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
        about = await tx.relations.get(soul_id, user_id) if user_id else soul
    return InnerState(soul_id=soul_id, user_id=user_id, inner_state=about.inner_state)


@router.put("/inner-state")
async def put_inner_state(
    soul_id: Id, wanted: InnerStateEdit, caller: Owner, services: Served, user_id: About = None
) -> InnerState:
    """Write the inner monologue as a new version; it is in the prompt from the next turn on."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        version = await tx.monologues.think(soul_id, wanted.inner_state, "edited", services.now(), user_id or NOBODY)
    return InnerState(soul_id=soul_id, user_id=user_id, inner_state=version.inner_state)


class InnerVersionOut(BaseModel):
    n: int
    inner_state: str
    source: str
    created_at: str

    @classmethod
    def of(cls, version: MonologueVersion) -> Self:
        fields = {name: getattr(version, name) for name in ("n", "inner_state", "source")}
        return cls(**fields, created_at=iso(version.created_at))


@router.get("/inner-state/versions")
async def list_inner_versions(
    soul_id: Id, caller: Owner, services: Served, user_id: About = None
) -> list[InnerVersionOut]:
    """List all versions of the inner monologue, the newest first; 0 is the one it began with.

    The list is empty until the soul reflects, or the monologue is edited, for the first time.
    """
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        return [InnerVersionOut.of(version) for version in await tx.monologues.all(soul_id, user_id or NOBODY)]


@router.post("/inner-state/versions/{n}/restore")
async def restore_inner_version(
    soul_id: Id, n: VersionNumber, caller: Owner, services: Served, user_id: About = None
) -> InnerVersionOut:
    """Restore version n of the inner monologue as a new version."""
    caller.check_soul(soul_id)
    about = user_id or NOBODY
    async with services.stores.write() as tx:
        earlier = await tx.monologues.get(soul_id, n, about)
        restored = await tx.monologues.think(soul_id, earlier.inner_state, f"restored:{n}", services.now(), about)
    return InnerVersionOut.of(restored)


class ScratchArea(BaseModel):
    soul_id: str
    user_id: str | None
    scratch_area: str


class ScratchAreaEdit(Body):
    model_config = example({"scratch_area": "ask about the exam"})

    read_only = frozenset({"soul_id", "user_id"})

    scratch_area: Notes


@router.get("/scratch-area")
@raises(*not_found("relation"))
async def read_scratch_area(soul_id: Id, caller: Owner, services: Served, user_id: About = None) -> ScratchArea:
    """Read the soul's working notes, or those about a person, one to a line."""
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
        about = await tx.relations.get(soul_id, user_id) if user_id else soul
    return ScratchArea(soul_id=soul_id, user_id=user_id, scratch_area=about.scratch_area)


@router.put("/scratch-area")
@raises(*not_found("relation"))
async def put_scratch_area(
    soul_id: Id, wanted: ScratchAreaEdit, caller: Owner, services: Served, user_id: About = None
) -> ScratchArea:
    """Replace the soul's working notes; an empty text clears them."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        if user_id:
            await tx.souls.get(soul_id)
            await tx.relations.note(soul_id, user_id, wanted.scratch_area, services.now())
        else:
            await tx.souls.note(soul_id, wanted.scratch_area, services.now())
    return ScratchArea(soul_id=soul_id, user_id=user_id, scratch_area=wanted.scratch_area)

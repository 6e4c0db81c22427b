"""What a soul keeps for itself: its inner monologue, and its working notes."""

from typing import Annotated, Self

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints

from soulgraph.api.auth import owner
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.soul.scratch import MAX_SCRATCH
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import MonologueVersion
from soulgraph.voices.task_outputs import INNER_STATE_LIMIT

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["memory"])

Monologue = Annotated[str, StringConstraints(min_length=1, max_length=INNER_STATE_LIMIT, strip_whitespace=True)]

Notes = Annotated[str, StringConstraints(max_length=MAX_SCRATCH, strip_whitespace=True)]


class InnerState(BaseModel):
    soul_id: str
    inner_state: str


class InnerStateEdit(Body):
    read_only = frozenset({"soul_id"})

    inner_state: Monologue


@router.get("/inner-state", dependencies=[owner])
async def read_inner_state(soul_id: Id, services: Served) -> InnerState:
    """Read the soul's inner monologue. It is for the owner only; the user never sees it."""
    async with services.stores.read() as tx:
        soul = await tx.souls.get(soul_id)
    return InnerState(soul_id=soul_id, inner_state=soul.inner_state)


@router.put("/inner-state", dependencies=[owner])
async def put_inner_state(soul_id: Id, wanted: InnerStateEdit, services: Served) -> InnerState:
    """Write the inner monologue as a new version; it is in the prompt from the next turn on."""
    async with services.stores.write() as tx:
        version = await tx.monologues.think(soul_id, wanted.inner_state, "edited", services.now())
    return InnerState(soul_id=soul_id, inner_state=version.inner_state)


class InnerVersionOut(BaseModel):
    n: int
    inner_state: str
    source: str
    created_at: str

    @classmethod
    def of(cls, version: MonologueVersion) -> Self:
        fields = {name: getattr(version, name) for name in ("n", "inner_state", "source")}
        return cls(**fields, created_at=iso(version.created_at))


@router.get("/inner-state/versions", dependencies=[owner])
async def list_inner_versions(soul_id: Id, services: Served) -> list[InnerVersionOut]:
    """List all versions of the inner monologue, the newest first; 0 is the one the soul was created with.

    The list is empty until the soul reflects, or the monologue is edited, for the first time.
    """
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
        return [InnerVersionOut.of(version) for version in await tx.monologues.all(soul_id)]


@router.post("/inner-state/versions/{n}/restore", dependencies=[owner])
async def restore_inner_version(soul_id: Id, n: int, services: Served) -> InnerVersionOut:
    """Restore version n of the inner monologue as a new version."""
    async with services.stores.write() as tx:
        earlier = await tx.monologues.get(soul_id, n)
        return InnerVersionOut.of(
            await tx.monologues.think(soul_id, earlier.inner_state, f"restored:{n}", services.now())
        )


class ScratchArea(BaseModel):
    soul_id: str
    scratch_area: str


class ScratchAreaEdit(Body):
    read_only = frozenset({"soul_id"})

    scratch_area: Notes


@router.get("/scratch-area", dependencies=[owner])
async def read_scratch_area(soul_id: Id, services: Served) -> ScratchArea:
    """Read the soul's working notes, one to a line."""
    async with services.stores.read() as tx:
        return ScratchArea(soul_id=soul_id, scratch_area=(await tx.souls.get(soul_id)).scratch_area)


@router.put("/scratch-area", dependencies=[owner])
async def put_scratch_area(soul_id: Id, wanted: ScratchAreaEdit, services: Served) -> ScratchArea:
    """Replace the soul's working notes; an empty text clears them."""
    async with services.stores.write() as tx:
        await tx.souls.note(soul_id, wanted.scratch_area, services.now())
    return ScratchArea(soul_id=soul_id, scratch_area=wanted.scratch_area)

"""How a session's evolved persona has changed from version to version, as data for a plot."""

from collections.abc import Sequence
from itertools import pairwise

from fastapi import APIRouter
from pydantic import BaseModel, Field

from soulgraph.api.auth import Reader
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.memory.distance import Measure, Pair, distances
from soulgraph.soul.growth import DIMENSIONS
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import PersonaVersion

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["growth"])


class Step(BaseModel):
    n: int
    source: str
    created_at: str
    overall: float = Field(description="how much the whole text has changed since the version before, 0 to 1")
    changes: dict[str, float | None] = Field(description="the same by dimension; null if one of the two has none")


class Evolution(BaseModel):
    session_id: str
    measure: Measure = Field(description="`meaning`: 1 minus the cosine; `words`: by the words they share")
    dimensions: list[str]
    versions: list[Step]


@router.get("/evolution")
async def read_evolution(session_id: Id, caller: Reader, services: Served) -> Evolution:
    """Read how much each version of the evolved persona has changed, the oldest first."""
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)
        versions = (await tx.personas.all(session_id))[::-1]
    born = PersonaVersion(session_id, 0, "", "birth", 0.0, dict.fromkeys(DIMENSIONS, ""))
    steps = list(pairwise([born, *versions]))
    pairs = [pair for before, after in steps for pair in _pairs(before, after)]
    values, measure = await distances(pairs, services.context.memory.embedder)
    width = 1 + len(DIMENSIONS)
    rows = [values[at : at + width] for at in range(0, len(values), width)]
    shown = [_step(before, after, row) for (before, after), row in zip(steps, rows, strict=True)]
    return Evolution(session_id=session_id, measure=measure, dimensions=[*DIMENSIONS], versions=shown)


def _pairs(before: PersonaVersion, after: PersonaVersion) -> list[Pair]:
    """The whole texts, then those of each dimension."""
    old, new = before.dimensions or {}, after.dimensions or {}
    whole = before.evolved_persona, after.evolved_persona
    return [whole, *((old.get(name, ""), new.get(name, "")) for name in DIMENSIONS)]


def _step(before: PersonaVersion, after: PersonaVersion, values: Sequence[float]) -> Step:
    overall, *changes = values
    comparable = before.dimensions is not None and after.dimensions is not None
    return Step(
        n=after.n,
        source=after.source,
        created_at=iso(after.created_at),
        overall=overall,
        changes={name: change if comparable else None for name, change in zip(DIMENSIONS, changes, strict=True)},
    )

"""A soul's dynamic profile over HTTP: read, edited by its user, kept up and restored. A running turn loses nothing."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from soulgraph.api.auth import chatter, owner
from soulgraph.api.edits import Body, Revised, refuse_if_changed, revision_of
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.soul.maintenance import maintain, restore
from soulgraph.soul.profile import Edit, Profile, empty_profile, replace
from soulgraph.soul.timestamps import iso

router = APIRouter(prefix="/v1/souls/{soul_id}/profile", tags=["memory"])


class ProfileEdit(Edit, Revised):
    pass


class Restoring(Body):
    id: Id


class ProfileOut(BaseModel):
    soul_id: str
    revision: str
    core_identity: dict[str, Any]
    dynamic_state: dict[str, Any]
    retired: list[dict[str, Any]]

    @classmethod
    def of(cls, soul_id: str, profile: Profile) -> "ProfileOut":
        whole = _whole(profile)
        return cls(soul_id=soul_id, revision=revision_of(whole), **whole)


@router.get("", dependencies=[chatter])
async def read_profile(soul_id: Id, services: Served) -> ProfileOut:
    async with services.stores.read() as tx:
        return ProfileOut.of(soul_id, (await tx.souls.get(soul_id)).dynamic_profile)


@router.put("", dependencies=[owner])
async def put_profile(soul_id: Id, wanted: ProfileEdit, services: Served) -> ProfileOut:
    """State left out is gone; `core_identity` and `retired` stay when they are not given."""
    edited = wanted.model_dump(exclude={"revision"}, exclude_none=True)

    def edit(profile: Profile, now: str) -> Profile:
        refuse_if_changed(wanted.revision, _whole(profile))
        return replace(profile, edited, now)

    return await _changed(soul_id, edit, services)


@router.post("/maintain", dependencies=[owner])
async def maintain_profile(soul_id: Id, services: Served) -> ProfileOut:
    """What happens by itself every few turns: equal items become one, old ones fade, the faintest are retired."""
    return await _changed(soul_id, maintain, services)


@router.post("/restore", dependencies=[owner])
async def restore_retired(soul_id: Id, wanted: Restoring, services: Served) -> ProfileOut:
    """A retired item back in its field, young again."""
    return await _changed(soul_id, lambda profile, now: restore(profile, wanted.id, now), services)


async def _changed(soul_id: str, change: Callable[[Profile, str], Profile], services: Services) -> ProfileOut:
    """The soul's row is held from reading to writing, as by a turn that grows it."""
    now = services.now()
    async with services.stores.write() as tx:
        soul = await tx.souls.lock(soul_id)
        profile = change(soul.dynamic_profile, iso(now))
        if profile != soul.dynamic_profile:
            await tx.souls.grow(soul_id, profile, now)
        return ProfileOut.of(soul_id, (await tx.souls.get(soul_id)).dynamic_profile)


def _whole(profile: Profile) -> Profile:
    """What of a profile is shown, with the parts it may lack."""
    shown = {**empty_profile(), "retired": []}
    return {name: profile.get(name, nothing) for name, nothing in shown.items()}

"""A soul's dynamic profile: read, edit, maintain, and restore retired items."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from soulgraph.api.access import Caller
from soulgraph.api.auth import Owner, Reader
from soulgraph.api.edits import Body, Revised, example, refuse_if_changed, revision_of
from soulgraph.api.fields import Id
from soulgraph.api.raising import CHANGED_MEANWHILE, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.soul.maintenance import maintain, restore
from soulgraph.soul.profile import Edit, Profile, empty_profile, known_to, replace
from soulgraph.soul.timestamps import iso

router = APIRouter(prefix="/v1/souls/{soul_id}/profile", tags=["memory"])


class ProfileEdit(Edit, Revised):
    model_config = example({"dynamic_state": {"emotions": {"items": [{"content": "平静，带一点期待", "priority": 5}]}}})

    read_only = frozenset({"soul_id"})


class Restoring(Body):
    model_config = example({"id": "item_3f9c"})

    id: Id


class ProfileOut(BaseModel):
    soul_id: str
    revision: str
    core_identity: dict[str, Any]
    dynamic_state: dict[str, Any]
    retired: list[dict[str, Any]]

    @classmethod
    def of(cls, soul_id: str, profile: Profile) -> "ProfileOut":
        complete = _complete(profile)
        return cls(soul_id=soul_id, revision=revision_of(complete), **complete)


@router.get("")
async def read_profile(soul_id: Id, caller: Reader, services: Served) -> ProfileOut:
    """Read the soul's profile. Send its `revision` with an edit to refuse the edit if the profile has changed since.

    A person gets what is the soul's own, theirs, or shared with them.
    """
    async with services.stores.read() as tx:
        profile = (await caller.soul(tx, soul_id)).dynamic_profile
    return ProfileOut.of(soul_id, profile if caller.audience is None else known_to(profile, caller.audience))


@router.put("")
@raises(CHANGED_MEANWHILE)
async def put_profile(soul_id: Id, wanted: ProfileEdit, caller: Owner, services: Served) -> ProfileOut:
    """Replace the profile. Fields of `dynamic_state` that are left out are removed.

    `core_identity` and `retired` stay as they are if they are left out.
    """
    edited = wanted.model_dump(exclude={"revision"}, exclude_none=True)

    def edit(profile: Profile, now: str) -> Profile:
        refuse_if_changed(wanted.revision, _complete(profile))
        return replace(profile, edited, now)

    return await _change_profile(soul_id, edit, caller, services)


@router.post("/maintain")
async def maintain_profile(soul_id: Id, caller: Owner, services: Served) -> ProfileOut:
    """Run the maintenance that also runs every few turns: merge equal items, fade old ones, retire the faintest."""
    return await _change_profile(soul_id, maintain, caller, services)


@router.post("/restore")
@raises(*not_found("retired item"))
async def restore_retired(soul_id: Id, wanted: Restoring, caller: Owner, services: Served) -> ProfileOut:
    """Put a retired item back into its field, with the present time so that it does not fade at once."""
    return await _change_profile(soul_id, lambda profile, now: restore(profile, wanted.id, now), caller, services)


async def _change_profile(
    soul_id: str, change: Callable[[Profile, str], Profile], caller: Caller, services: Services
) -> ProfileOut:
    """Apply a change to the profile. The soul is locked meanwhile, so that a running turn loses nothing."""
    caller.check_soul(soul_id)
    now = services.now()
    async with services.stores.write() as tx:
        soul = await tx.souls.lock(soul_id)
        profile = change(soul.dynamic_profile, iso(now))
        if profile != soul.dynamic_profile:
            await tx.souls.grow(soul_id, profile, now)
        return ProfileOut.of(soul_id, (await tx.souls.get(soul_id)).dynamic_profile)


def _complete(profile: Profile) -> Profile:
    """The parts of the profile that the API shows; those that it lacks are empty."""
    defaults = {**empty_profile(), "retired": []}
    return {name: profile.get(name, default) for name, default in defaults.items()}

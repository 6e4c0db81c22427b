"""The backgrounds of the library. One that sums up a conversation is for those who had it, and theirs to edit."""

from fastapi import APIRouter, Depends
from pydantic import AliasChoices, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import AnyReader, server_owner
from soulgraph.api.edits import Revised, example
from soulgraph.api.fields import Id, NewId
from soulgraph.api.library import CommonFields, Long, StoredPreset, add_preset, replace_preset
from soulgraph.api.raising import ALREADY_EXISTS, CHANGED_MEANWHILE, not_found, raises
from soulgraph.api.services import Served
from soulgraph.errors import NotFound
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json

router = APIRouter(prefix="/v1/backgrounds", tags=["library"])


_EXAMPLE: Json = {
    "name": "The sea at night",
    "description": "A rock, a lamp, and water on all sides.",
    "world_rules": "Nobody comes by day.",
    "initial_context": "It is the night of the storm.",
}


class Background(CommonFields):
    world_rules: Long = ""
    initial_context: Long = ""


class NewBackground(Background):
    model_config = example({"id": "sea", **_EXAMPLE})

    id: NewId = Field(default_factory=lambda: new_id("bg"), validation_alias=AliasChoices("id", "background_id"))


class EditedBackground(Background, Revised):
    model_config = example({**_EXAMPLE, "revision": "0230e77beb58768c"})

    read_only = frozenset({"id", "background_id", "created_at", "updated_at"})


class BackgroundOut(Background, StoredPreset):
    pass


async def _editor(background_id: Id, caller: AnyReader, services: Served) -> Caller:
    """An owner; or somebody who had the conversation that this background sums up."""
    async with services.stores.read() as tx:
        existing = await tx.backgrounds.find(background_id)
    if existing and not caller.sees_background(existing):
        raise NotFound("background", background_id)
    if existing is None or not existing.summary_of:
        caller.require_scope()
        caller.require_all_souls()
    return caller


editor = Depends(_editor)


@router.get("")
async def list_backgrounds(caller: AnyReader, services: Served) -> list[BackgroundOut]:
    """List the backgrounds by name. Those that sum up a conversation are only for those who had it, and for owners."""
    async with services.stores.read() as tx:
        found = await tx.backgrounds.all()
    return [BackgroundOut.of(preset) for preset in found if caller.sees_background(preset)]


@router.post("", status_code=201, dependencies=[server_owner])
@raises(ALREADY_EXISTS)
async def create_background(wanted: NewBackground, services: Served) -> BackgroundOut:
    """Create a background; 409 if the id is taken."""
    async with services.stores.write() as tx:
        return BackgroundOut.of(await add_preset(tx.backgrounds, wanted.id, wanted, services.now()))


@router.get("/{background_id}")
async def read_background(background_id: Id, caller: AnyReader, services: Served) -> BackgroundOut:
    async with services.stores.read() as tx:
        await caller.check_background(tx, background_id)
        return BackgroundOut.of(await tx.backgrounds.get(background_id))


@router.put("/{background_id}", dependencies=[editor])
@raises(*not_found("background"), CHANGED_MEANWHILE)
async def put_background(background_id: Id, wanted: EditedBackground, services: Served) -> BackgroundOut:
    """Replace a background, or create it under this id. Sessions that use it see the change in their next turn.

    That is for owners; what sums up a conversation of yours is yours too.
    """
    async with services.stores.write() as tx:
        existing = await tx.backgrounds.find_locked(background_id)
        if existing and existing.summary_of:  # it stays the summary of the same people's conversation
            wanted.extensions["summary_of"] = existing.summary_of
        edit = wanted, wanted.revision
        return BackgroundOut.of(await replace_preset(tx.backgrounds, background_id, *edit, services.now()))


@router.delete("/{background_id}", status_code=204, dependencies=[editor])
async def delete_background(background_id: Id, services: Served) -> None:
    """Delete a background. Sessions that use it go on without one."""
    async with services.stores.write() as tx:
        await tx.backgrounds.delete(background_id)

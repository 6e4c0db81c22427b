"""The lore entries of characters and backgrounds: texts that enter the prompt when one of their keys is mentioned."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi import Body as JsonBody
from pydantic import Field

from soulgraph.api.auth import AnyReader, server_owner
from soulgraph.api.edits import Body, example, refuse_if_changed
from soulgraph.api.fields import Content, Id, NewId
from soulgraph.api.library import duplicate_id
from soulgraph.api.raising import CHANGED_MEANWHILE, ENTRY_EXISTS, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import Conflict, InvalidInput, NotFound
from soulgraph.library.cards.limits import MAX_LORE
from soulgraph.prompts.lore import Lore, lore_of
from soulgraph.stores.factories import new_id
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Json
from soulgraph.stores.stores import Transaction

PresetKind = Literal["characters", "backgrounds"]
Rewrite = Callable[[list[Lore]], list[Lore]]

_EXAMPLE: Json = {"keys": ["reef", "暗礁"], "content": "The reef took three ships.", "priority": 60}


class Entry(Lore, Body):
    model_config = example(_EXAMPLE)

    id: NewId = Field(default_factory=lambda: new_id("lore"))


Entries = Annotated[
    list[Entry],
    JsonBody(max_length=MAX_LORE, examples=[[{"id": "reef", **_EXAMPLE}]]),
]
Revision = Annotated[
    Content | None, Query(max_length=64, description="of the preset as it was read; 409 if it has changed")
]


def lore_router(kind: PresetKind) -> APIRouter:
    """The same endpoints for characters and for backgrounds."""
    router = APIRouter(prefix=f"/v1/{kind}/{{preset_id}}/lore", tags=["library"])

    @router.get("")
    async def list_lore(preset_id: Id, caller: AnyReader, services: Served) -> list[Lore]:
        """List the lore entries in their order."""
        async with services.stores.read() as tx:
            if kind == "backgrounds":
                await caller.check_background(tx, preset_id)
            return lore_of((await presets_of(tx, kind).get(preset_id)).data)

    @router.post("", status_code=201, dependencies=[server_owner])
    @raises(ENTRY_EXISTS)
    async def add_entry(preset_id: Id, entry: Entry, services: Served) -> Lore:
        """Add an entry at the end; 409 if its id is taken."""
        await rewrite_lore(kind, preset_id, lambda lore: _add(lore, entry), services)
        return entry

    @router.put("", dependencies=[server_owner])
    @raises(CHANGED_MEANWHILE)
    async def put_lore(preset_id: Id, entries: Entries, services: Served, revision: Revision = None) -> list[Lore]:
        """Replace all entries, in this order. An entry without an id gets one."""
        if duplicate := duplicate_id(entries):
            raise InvalidInput(f"body: two entries have the id {duplicate}: an id is given once")
        await rewrite_lore(kind, preset_id, lambda _: [*entries], services, revision)
        return [*entries]

    @router.put("/{entry_id}", dependencies=[server_owner])
    async def put_entry(preset_id: Id, entry_id: Id, entry: Entry, services: Served) -> Lore:
        """Replace the entry with this id in its place, or add it at the end."""
        if "id" in entry.model_fields_set and entry.id != entry_id:
            raise InvalidInput(f"body.id: is {entry.id!r}, but the path says {entry_id!r}")
        entry = entry.model_copy(update={"id": entry_id})
        await rewrite_lore(kind, preset_id, lambda lore: _put(lore, entry), services)
        return entry

    @router.delete("/{entry_id}", status_code=204, dependencies=[server_owner])
    async def delete_entry(preset_id: Id, entry_id: Id, services: Served) -> None:
        """Delete an entry."""
        await rewrite_lore(kind, preset_id, lambda lore: _remove(lore, entry_id), services)

    return router


router = APIRouter()
router.routes.extend([*lore_router("characters").routes, *lore_router("backgrounds").routes])


async def rewrite_lore(
    kind: PresetKind, preset_id: str, rewrite: Rewrite, services: Services, revision: str | None = None
) -> None:
    """Replace the lore of a preset, which is locked meanwhile so that concurrent edits are not lost."""
    async with services.stores.write() as tx:
        presets = presets_of(tx, kind)
        preset = await presets.lock(preset_id)
        refuse_if_changed(revision, preset.data)
        lore = rewrite(lore_of(preset.data))
        data = preset.data | {"lore": [entry.model_dump(mode="json") for entry in lore]}
        await presets.put(preset_id, preset.name, data, services.now())


def presets_of(tx: Transaction, kind: PresetKind) -> Presets:
    return tx.characters if kind == "characters" else tx.backgrounds


def _add(lore: Sequence[Lore], entry: Lore) -> list[Lore]:
    if any(existing.id == entry.id for existing in lore):
        raise Conflict("already_exists", f"there is an entry {entry.id!r}: choose another id, or edit it")
    return _put(lore, entry)


def _put(lore: Sequence[Lore], entry: Lore) -> list[Lore]:
    if any(existing.id == entry.id for existing in lore):
        return [entry if existing.id == entry.id else existing for existing in lore]
    if len(lore) >= MAX_LORE:
        raise InvalidInput(f"there are {MAX_LORE} entries already: delete some first")
    return [*lore, entry]


def _remove(lore: Sequence[Lore], entry_id: str) -> list[Lore]:
    if not any(entry.id == entry_id for entry in lore):
        raise NotFound("lore entry", entry_id)
    return [entry for entry in lore if entry.id != entry_id]

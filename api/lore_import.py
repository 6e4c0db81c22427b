"""Import of lorebook files into the lore of characters and backgrounds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, ValidationError

from soulgraph.api.auth import server_owner
from soulgraph.api.cards import FILES
from soulgraph.api.edits import unstorable
from soulgraph.api.fields import Id
from soulgraph.api.library import MAX_LORE
from soulgraph.api.lore import PresetKind, presets_of, rewrite_lore
from soulgraph.api.media import either, json_file, sent
from soulgraph.api.raising import NO_LOREBOOK, raises
from soulgraph.api.services import Served
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.files import read_file
from soulgraph.library.lorebooks import FoundEntry, read_lorebook
from soulgraph.prompts.lore import Lore
from soulgraph.senses.intents.patterns import UnsafePattern, refuse_slow_pattern
from soulgraph.soul.validation import explain

_EXAMPLE = {"entries": {"0": {"key": ["lamp"], "content": "The lamp has burned since the flood."}}}
_BOOK = sent(either(json_file(_EXAMPLE), FILES))


class ImportedLore(BaseModel):
    added: int = Field(description="how many entries were added, at the end")
    notes: list[str] = Field(description="what of the file was not kept, or means something else here")


@dataclass(frozen=True, slots=True)
class ReadBook:
    """The entries of a file that can be stored, and the notes about it."""

    entries: list[Lore]
    notes: list[str]

    def added_to(self, lore: Sequence[Lore]) -> list[Lore]:
        """The entries that are not there yet, each with an id that is free.

        Raises InvalidInput if they are too many.
        """
        there = {_content(entry) for entry in lore}
        taken = {entry.id for entry in lore}
        new = []
        for entry in self.entries:
            if _content(entry) not in there:
                new.append(entry.model_copy(update={"id": _free_id(entry.id, taken)}))
                there.add(_content(entry))
                taken.add(new[-1].id)
        if (total := len(lore) + len(new)) > MAX_LORE:
            raise InvalidInput(
                f"there would be {total} entries, and at most {MAX_LORE} can be kept: delete some, or import fewer"
            )
        return new


def import_router(kind: PresetKind) -> APIRouter:
    router = APIRouter(prefix=f"/v1/{kind}/{{preset_id}}/lore", tags=["library"])

    @router.post("/import", status_code=201, dependencies=[server_owner], openapi_extra=_BOOK)
    @raises(NO_LOREBOOK)
    async def import_lore(preset_id: Id, request: Request, services: Served) -> ImportedLore:
        """Add the entries of a lorebook; the request body is the file.

        It is SillyTavern's world info, a `character_book`, or a card that has one: JSON, PNG or charx. `notes` lists
        what was not kept. Entries that are there already are not added again.
        """
        content = await request.body()
        async with services.stores.read() as tx:
            preset = await presets_of(tx, kind).get(preset_id)
        # In a thread, because a large or hostile file takes long to read.
        book = await asyncio.to_thread(read_book, content, preset.name if kind == "characters" else None)
        new: list[Lore] = []

        def extend(lore: list[Lore]) -> list[Lore]:
            new.extend(book.added_to(lore))
            return [*lore, *new]

        await rewrite_lore(kind, preset_id, extend, services)
        known = len(book.entries) - len(new)
        note = [f"there already, and not added again (entries: {known})"] if known else []
        return ImportedLore(added=len(new), notes=[*book.notes, *note])

    return router


router = APIRouter()
router.routes.extend([*import_router("characters").routes, *import_router("backgrounds").routes])


def read_book(content: bytes, char: str | None) -> ReadBook:
    """Raises InvalidInput if the file is no lorebook. An entry that cannot be stored is left out, as a note says."""
    data = read_file(content)
    if flaw := unstorable(data):
        raise InvalidInput(flaw)
    book = read_lorebook(data, char)
    entries: list[Lore] = []
    notes: list[str] = []
    for found in book.entries:
        try:
            entries.append(_lore(found))
        except InvalidInput as error:
            notes.append(f"{found.place}: left out, because {error}")
    return ReadBook(entries, [*notes, *book.notes])


def _lore(found: FoundEntry) -> Lore:
    """Raises InvalidInput for an entry that cannot be stored, or whose patterns could take exponential time."""
    try:
        entry = Lore.model_validate(found.lore)
        for key in entry.keys if entry.use_regex else ():
            refuse_slow_pattern(key)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from error
    except UnsafePattern as error:
        raise InvalidInput(f"keys: {error}") from error
    return entry


def _content(entry: Lore) -> Lore:
    """What is compared: an entry that was only switched off or moved since is the same."""
    return entry.model_copy(update={"id": "", "enabled": True, "priority": 0})


def _free_id(wanted: str, taken: set[str]) -> str:
    numbered = (f"{wanted}.{n}" for n in range(2, MAX_LORE + 2))
    return wanted if wanted not in taken else next(name for name in numbered if name not in taken)

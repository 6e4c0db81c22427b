"""Import of lorebook files into the lore of characters and backgrounds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from soulgraph.api.auth import server_owner
from soulgraph.api.cards import FILES, flaw_of_pattern
from soulgraph.api.fields import Id
from soulgraph.api.lore import PresetKind, presets_of, rewrite_lore
from soulgraph.api.media import either, json_file, sent
from soulgraph.api.raising import NO_LOREBOOK, raises
from soulgraph.api.services import Served
from soulgraph.library.cards.cleaning import cleaned
from soulgraph.library.cards.files import open_file
from soulgraph.library.cards.limits import MAX_LORE
from soulgraph.library.lorebooks import read_lorebook
from soulgraph.prompts.lore import Lore

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

    def added_to(self, lore: Sequence[Lore]) -> "Addition":
        """The entries that are not there yet, each with an id that is free, as many as there is room for."""
        there = {_content(entry) for entry in lore}
        taken = {entry.id for entry in lore}
        new = []
        for entry in self.entries:
            if _content(entry) not in there:
                new.append(entry.model_copy(update={"id": _free_id(entry.id, taken)}))
                there.add(_content(entry))
                taken.add(new[-1].id)
        room = max(MAX_LORE - len(lore), 0)
        return Addition(new[:room], known=len(self.entries) - len(new), left_out=len(new[room:]))


class Addition(NamedTuple):
    """The entries that an import adds; how many were there already, and for how many there is no room."""

    entries: list[Lore]
    known: int
    left_out: int

    def notes(self) -> list[str]:
        known = f"there already, and not added again (entries: {self.known})"
        full = f"left out, because at most {MAX_LORE} entries can be kept: delete some first (entries: {self.left_out})"
        return [*([known] if self.known else []), *([full] if self.left_out else [])]


def import_router(kind: PresetKind) -> APIRouter:
    router = APIRouter(prefix=f"/v1/{kind}/{{preset_id}}/lore", tags=["library"])

    @router.post("/import", status_code=201, dependencies=[server_owner], openapi_extra=_BOOK)
    @raises(NO_LOREBOOK)
    async def import_lore(preset_id: Id, request: Request, services: Served) -> ImportedLore:
        """Add the entries of a lorebook; the request body is the file.

        It is SillyTavern's world info, a memory book of Agnai, RisuAI's lorebook, a lorebook or scenario of NovelAI, a
        story of KoboldAI, a `character_book`, or a card that has one: JSON, PNG or charx. `notes` lists what was cut
        or not kept. Entries that are there already are not added again.
        """
        content = await request.body()
        async with services.stores.read() as tx:
            preset = await presets_of(tx, kind).get(preset_id)
        # In a thread, because a large or hostile file takes long to read.
        book = await asyncio.to_thread(read_book, content, preset.name if kind == "characters" else None)
        additions: list[Addition] = []

        def extend(lore: list[Lore]) -> list[Lore]:
            additions.append(book.added_to(lore))
            return [*lore, *additions[-1].entries]

        await rewrite_lore(kind, preset_id, extend, services)
        addition = additions[-1]
        return ImportedLore(added=len(addition.entries), notes=[*book.notes, *addition.notes()])

    return router


router = APIRouter()
router.routes.extend([*import_router("characters").routes, *import_router("backgrounds").routes])


def read_book(content: bytes, char: str | None) -> ReadBook:
    """Raises InvalidInput if the file is no lorebook. What of an entry cannot be kept is left out, as a note says."""
    file = open_file(content)
    data, cleaning_notes = cleaned(file.data)
    book = read_lorebook(data, char, flaw_of_pattern)
    entries = [Lore.model_validate(found.lore) for found in book.entries]
    return ReadBook(entries, [*file.notes, *cleaning_notes, *book.notes])


def _content(entry: Lore) -> Lore:
    """What is compared: an entry that was only switched off or moved since is the same."""
    return entry.model_copy(update={"id": "", "enabled": True, "priority": 0})


def _free_id(wanted: str, taken: set[str]) -> str:
    numbered = (f"{wanted}.{n}" for n in range(2, MAX_LORE + 2))
    return wanted if wanted not in taken else next(name for name in numbered if name not in taken)

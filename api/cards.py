"""Character cards over HTTP: a file becomes a character of the library, and a character a file."""

import asyncio
import json
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field, ValidationError

from soulgraph.api.auth import chatter, owner
from soulgraph.api.edits import unstorable
from soulgraph.api.fields import Id
from soulgraph.api.library import CharacterOut, NewCharacter, stored
from soulgraph.api.limits import MEBIBYTE
from soulgraph.api.services import Served
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.files import read_file
from soulgraph.library.cards.png import SIGNATURE, plain, with_texts, without_texts
from soulgraph.library.cards.reading import Reading, taken_in
from soulgraph.library.cards.spec import V2, V3, as_card
from soulgraph.library.cards.writing import card_of
from soulgraph.prompts.lore import Lore
from soulgraph.senses.intents.patterns import UnsafePattern, refuse_slow_pattern
from soulgraph.soul.validation import Flaw, flaws_in
from soulgraph.stores.records import Preset

router = APIRouter(prefix="/v1/characters", tags=["library"])

Format = Literal["json", "png"]
Spec = Literal["v2", "v3"]
_MEDIA: dict[Format, str] = {"json": "application/json", "png": "image/png"}
_SPECS: dict[Spec, str] = {"v2": V2, "v3": V3}
_MAX_PICTURE = 4 * MEBIBYTE


class ReadCard(NamedTuple):
    """What a file holds; `notes` say what of it will not be kept."""

    character: NewCharacter
    picture: bytes | None
    notes: list[str]


class ImportedCharacter(CharacterOut):
    notes: list[str] = Field([], description="what of the card was not kept")


@router.post("/import", status_code=201, dependencies=[owner])
async def import_card(request: Request, services: Served) -> ImportedCharacter:
    """All of it or nothing: the body is the file, JSON, PNG or charx."""
    body = await request.body()
    # In a thread: a large card takes a while to read, and a hostile one as long as it can.
    card = await asyncio.to_thread(read_card, body)
    character = card.character
    async with services.stores.write() as tx:
        await tx.characters.add(character.id, character.name, stored(character), services.now())
        if card.picture:
            await tx.pictures.add(character.id, card.picture)
        imported = ImportedCharacter.of(await tx.characters.get(character.id))
    return imported.model_copy(update={"notes": card.notes})


@router.get("/{character_id}/card", dependencies=[chatter], response_class=Response)
async def export_card(
    character_id: Id,
    services: Served,
    format: Format = "json",  # noqa: A002 (its name in the query)
    spec: Spec = "v3",
) -> Response:
    """A PNG of V3 has the same as V2 beside it, for programs that read only that."""
    async with services.stores.read() as tx:
        character = await tx.characters.get(character_id)
        kept = await tx.pictures.find(character_id) if format == "png" else None
    # In a thread too: what was edited is found by reading the card again.
    content = await asyncio.to_thread(_file, character, kept, format, spec)
    name = quote(f"{character_id}.{format}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=_MEDIA[format], headers=headers)


def _file(character: Preset, kept: bytes | None, kind: Format, spec: Spec) -> bytes:
    if kind == "json":
        return _card(character, spec)
    texts = {"chara": _card(character, "v2")} | ({"ccv3": _card(character, spec)} if spec == "v3" else {})
    return with_texts(kept or plain(character.name), texts)


def _card(character: Preset, spec: Spec) -> bytes:
    card = card_of(character.name, character.data, _SPECS[spec])
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


def read_card(body: bytes) -> ReadCard:
    given = read_file(body)
    if flaw := unstorable(given):
        raise InvalidInput(flaw)
    reading = taken_in(as_card(given))
    try:
        character = NewCharacter.model_validate(reading.character)
    except ValidationError as error:
        raise _refusal(error, reading) from error
    _refuse_slow_patterns(character.lore, reading)
    picture = without_texts(body) if body.startswith(SIGNATURE) else None
    if picture and len(picture) > _MAX_PICTURE:
        note = f"the picture has {len(picture)} bytes, and is not kept: at most {_MAX_PICTURE} are"
        return ReadCard(character, None, [note, *reading.notes])
    return ReadCard(character, picture, [*reading.notes])


def _refuse_slow_patterns(lore: Sequence[Lore], reading: Reading) -> None:
    for n, key in [(n, key) for n, entry in enumerate(lore) if entry.use_regex for key in entry.keys]:
        try:
            refuse_slow_pattern(key)
        except UnsafePattern as error:
            raise InvalidInput(f"{reading.places[f'lore.{n}']}.keys: {key!r} {error}") from error


def _refusal(error: ValidationError, reading: Reading) -> InvalidInput:
    """What the library cannot take, by its place in the card."""
    flaw = flaws_in(error.errors())[0]
    parts = flaw.path.split(".")
    for known in range(len(parts), 0, -1):
        if place := reading.places.get(".".join(parts[:known])):
            parts = [place, *parts[known:]]
            break
    return InvalidInput(str(Flaw(".".join(parts), flaw.message)))

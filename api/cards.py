"""Import of character card files into the library, and export of characters as card files."""

import asyncio
import json
from collections.abc import Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field, ValidationError

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.edits import unstorable
from soulgraph.api.fields import Id
from soulgraph.api.library import CharacterOut, NewCharacter, stored
from soulgraph.api.limits import MEBIBYTE
from soulgraph.api.media import OCTETS, binary, either, json_file, sent
from soulgraph.api.raising import ALREADY_EXISTS, NO_CARD, raises
from soulgraph.api.services import Served
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.files import read_file
from soulgraph.library.cards.png import SIGNATURE, plain, with_texts, without_texts
from soulgraph.library.cards.reading import Reading, taken_in
from soulgraph.library.cards.spec import V2, V3, as_card
from soulgraph.library.cards.writing import card_of
from soulgraph.library.images import PNG, as_png, check_image
from soulgraph.nodes.context import Context
from soulgraph.nodes.persona_context import budget_of
from soulgraph.prompts.fit_notes import fit_notes
from soulgraph.prompts.lore import Lore
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.templates import shipped
from soulgraph.senses.intents.patterns import UnsafePattern, refuse_slow_pattern
from soulgraph.soul.validation import Flaw, flaws_in
from soulgraph.stores.presets import AVATAR
from soulgraph.stores.records import Picture, Preset

router = APIRouter(prefix="/v1/characters", tags=["library"])

Format = Literal["json", "png"]
Spec = Literal["v2", "v3"]
_MEDIA: dict[Format, str] = {"json": "application/json", "png": "image/png"}
_SPECS: dict[Spec, str] = {"v2": V2, "v3": V3}
_MAX_PICTURE = 4 * MEBIBYTE
_EXAMPLE = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {"name": "Lumen", "description": "Keeps the lighthouse.", "first_mes": "The lamp is lit. Sit."},
}
_CARD = either(json_file(_EXAMPLE), binary("image/png"))
FILES = binary("image/png", "application/zip", OCTETS)


class ReadCard(NamedTuple):
    """The contents of a card file; `notes` say which parts of it are not kept."""

    character: NewCharacter
    picture: bytes | None
    notes: list[str]


class ImportedCharacter(CharacterOut):
    notes: list[str] = Field([], description="what of the card was not kept, or is too long for every prompt")


@router.post(
    "/import", status_code=201, dependencies=[server_owner], openapi_extra=sent(either(json_file(_EXAMPLE), FILES))
)
@raises(ALREADY_EXISTS, NO_CARD)
async def import_card(request: Request, services: Served) -> ImportedCharacter:
    """Import a character card; the request body is the file: JSON, PNG or charx.

    A card that cannot be read or stored is refused as a whole. `notes` lists the parts that were not kept, and those
    that are too long to stand in every prompt as a whole.
    """
    body = await request.body()
    # In a thread, because a large or hostile card takes long to read.
    card = await asyncio.to_thread(read_card, body)
    character = card.character
    async with services.stores.write() as tx:
        await tx.characters.add(character.id, character.name, stored(character), services.now())
        if card.picture:
            await tx.pictures.put(Picture(character.id, AVATAR, PNG, card.picture, services.now()))
        imported = ImportedCharacter.of(await tx.characters.get(character.id), [AVATAR] if card.picture else [])
    return imported.model_copy(update={"notes": [*card.notes, *_fit_notes(character, services.context)]})


def _fit_notes(character: NewCharacter, context: Context) -> list[str]:
    persona = Persona(
        soul_name=character.name,
        mode=context.persona.default_mode,
        base_persona=character.base_persona,
        style_examples=character.style_examples,
    )
    return fit_notes(shipped(context.persona.default_template), persona, budget_of(context))


@router.get("/{character_id}/card", dependencies=[speaker], response_class=Response, responses={200: _CARD})
async def export_card(
    character_id: Id,
    services: Served,
    format: Format = "json",  # noqa: A002 (its name in the query)
    spec: Spec = "v3",
) -> Response:
    """Export a character as a card file. A V3 card in a PNG also contains the V2 card, for programs that need that."""
    async with services.stores.read() as tx:
        character = await tx.characters.get(character_id)
        picture = await tx.pictures.find(character_id) if format == "png" else None
    # In a thread too: the original card is read again, to find what was edited since the import.
    content = await asyncio.to_thread(_card_file, character, picture, format, spec)
    name = quote(f"{character_id}.{format}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=_MEDIA[format], headers=headers)


def _card_file(character: Preset, picture: Picture | None, kind: Format, spec: Spec) -> bytes:
    """The bytes of the file; a character without an avatar gets a plain picture."""
    if kind == "json":
        return _card_json(character, spec)
    texts = {"chara": _card_json(character, "v2")}
    if spec == "v3":
        texts["ccv3"] = _card_json(character, spec)
    return with_texts(as_png(picture.content) if picture else plain(character.name), texts)


def _card_json(character: Preset, spec: Spec) -> bytes:
    card = card_of(character.name, character.data, _SPECS[spec])
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


def read_card(body: bytes) -> ReadCard:
    """Raises InvalidInput if the file is no card, or has something that the library cannot store."""
    data = read_file(body)
    if flaw := unstorable(data):
        raise InvalidInput(flaw)
    reading = taken_in(as_card(data))
    try:
        character = NewCharacter.model_validate(reading.character)
    except ValidationError as error:
        raise _locate_in_card(error, reading) from error
    _refuse_slow_patterns(character.lore, reading)
    picture, notes = _picture(body)
    return ReadCard(character, picture, [*notes, *reading.notes])


def _picture(body: bytes) -> tuple[bytes | None, list[str]]:
    """The picture that a PNG card is, if pages can show it; else a note says why it is not kept."""
    if not body.startswith(SIGNATURE):
        return None, []
    if (size := len(without_texts(body))) > _MAX_PICTURE:
        return None, [f"the picture has {size} bytes, and is not kept: at most {_MAX_PICTURE} are"]
    try:
        return check_image(body).content, []
    except InvalidInput as error:
        return None, [f"the picture is not kept: {error.detail}"]


def _refuse_slow_patterns(lore: Sequence[Lore], reading: Reading) -> None:
    """Raise InvalidInput for a regular expression that could take exponential time."""
    for n, key in [(n, key) for n, entry in enumerate(lore) if entry.use_regex for key in entry.keys]:
        try:
            refuse_slow_pattern(key)
        except UnsafePattern as error:
            raise InvalidInput(f"{reading.places[f'lore.{n}']}.keys: {key!r} {error}") from error


def _locate_in_card(error: ValidationError, reading: Reading) -> InvalidInput:
    """The first validation error, with the path of the field in the card instead of in our character."""
    flaw = flaws_in(error.errors())[0]
    parts = flaw.path.split(".")
    for length in range(len(parts), 0, -1):  # the longest path of which the place in the card is known
        if place := reading.places.get(".".join(parts[:length])):
            parts = [place, *parts[length:]]
            break
    return InvalidInput(str(Flaw(".".join(parts), flaw.message)))

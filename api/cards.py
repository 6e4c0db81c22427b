"""Import of character card files into the library, and export of characters as card files."""

import asyncio
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field, ValidationError

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.fields import Id
from soulgraph.api.library import CharacterOut, NewCharacter, stored
from soulgraph.api.mbti import MbtiSuggestion, suggested_type
from soulgraph.api.media import OCTETS, binary, either, json_file, sent
from soulgraph.api.raising import ALREADY_EXISTS, NO_CARD, raises
from soulgraph.api.services import Served
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.cleaning import cleaned
from soulgraph.library.cards.files import open_file
from soulgraph.library.cards.kinds import recognise
from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.pictures import pictures_of
from soulgraph.library.cards.png import plain, with_texts
from soulgraph.library.cards.reading import OWN_FIELDS, has_words, taken_in
from soulgraph.library.cards.spec import OURS, V2, V3, validate_card
from soulgraph.library.cards.writing import card_of
from soulgraph.library.images import CheckedImage, as_png
from soulgraph.nodes.context import Context
from soulgraph.nodes.persona_context import budget_of
from soulgraph.prompts.fit_notes import fit_notes
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.templates import shipped
from soulgraph.senses.intents.patterns import UnsafePattern, refuse_slow_pattern
from soulgraph.soul.validation import flaws_in
from soulgraph.stores.records import Picture, Preset

router = APIRouter(prefix="/v1/characters", tags=["library"])

Format = Literal["json", "png"]
Spec = Literal["v2", "v3"]
_MEDIA: dict[Format, str] = {"json": "application/json", "png": "image/png"}
_SPECS: dict[Spec, str] = {"v2": V2, "v3": V3}
_EXAMPLE = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {"name": "Lumen", "description": "Keeps the lighthouse.", "first_mes": "The lamp is lit. Sit."},
}
_JSON = json_file(_EXAMPLE)
_CARD = either(_JSON, binary("image/png"))
FILES = binary("image/png", "image/webp", "image/jpeg", "application/zip", "application/yaml", OCTETS)


class ReadCard(NamedTuple):
    """The contents of a card file; `notes` say which parts of it are not kept, or not as they came."""

    character: NewCharacter
    images: Mapping[str, CheckedImage]
    notes: list[str]


class ImportedCharacter(CharacterOut):
    notes: list[str] = Field(
        [], description="what of the card was cut, is not kept, has no effect here, or is too long for every prompt"
    )
    mbti_suggestion: MbtiSuggestion = Field(description="the type that its text suggests, see `/mbti`")


@router.post("/import", status_code=201, dependencies=[server_owner], openapi_extra=sent(either(_JSON, FILES)))
@raises(ALREADY_EXISTS, NO_CARD)
async def import_card(request: Request, services: Served) -> ImportedCharacter:
    """Import a character card; the request body is the file: JSON, PNG, charx, WebP, JPEG or YAML.

    Cards of V1, V2 and V3, of RisuAI, Agnai, Backyard (once Faraday), text-generation-webui and Pygmalion are read.
    What is too long or of another kind than it should be is cut or left out; `notes` lists that, and what has no
    effect here. Only a file without a card is refused.
    """
    body = await request.body()
    # In a thread, because a large or hostile card takes long to read.
    card = await asyncio.to_thread(read_card, body)
    character = card.character
    now = services.now()
    suggestion = MbtiSuggestion.of(await asyncio.to_thread(suggested_type, stored(character)))
    async with services.stores.write() as tx:
        await tx.characters.add(character.id, character.name, stored(character), now)
        for name, image in card.images.items():
            await tx.pictures.put(Picture(character.id, name, *image, now))
        made = CharacterOut.of(await tx.characters.get(character.id), sorted(card.images))
    notes = [*card.notes, *_fit_notes(character, services.context)]
    return ImportedCharacter(**made.model_dump(), notes=notes, mbti_suggestion=suggestion)


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
    card = card_of(character.name, character.data, _SPECS[spec], flaw_of_pattern)
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


def read_card(body: bytes) -> ReadCard:
    """Raises InvalidInput if the file is no card, or one without a name and without any text."""
    file = open_file(body)
    data, cleaning_notes = cleaned(file.data)
    card, kind_notes = recognise(data)
    if not has_words(validate_card(card)):
        raise InvalidInput("the card is empty: it has no name and no text: send another file, or give it a name")
    pictures = pictures_of(file, validate_card(card), card["data"])
    reading = taken_in(card, flaw_of_pattern)
    character, own_notes = _storable(reading.character)
    file_notes = [*file.notes, *cleaning_notes, *kind_notes]
    return ReadCard(character, pictures.images, [*file_notes, *reading.notes, *own_notes, *pictures.notes])


def _storable(fields: Json) -> tuple[NewCharacter, list[str]]:
    """The character, without the fields of our own extension that somebody has spoiled; notes name those."""
    try:
        return NewCharacter.model_validate(fields), []
    except ValidationError as error:
        wrong = {flaw.path.partition(".")[0]: flaw for flaw in flaws_in(error.errors())}
    if not wrong.keys() <= {*OWN_FIELDS}:
        raise InvalidInput("; ".join(map(str, wrong.values())))
    notes = [f"data.extensions.{OURS}.{flaw.path}: left out: {flaw.message}" for flaw in wrong.values()]
    return NewCharacter.model_validate({name: value for name, value in fields.items() if name not in wrong}), notes


@lru_cache(maxsize=4096)
def flaw_of_pattern(source: str) -> str:
    """Why a regular expression cannot be searched for; empty if it can."""
    try:
        refuse_slow_pattern(source)
    except UnsafePattern as error:
        return str(error)
    return ""

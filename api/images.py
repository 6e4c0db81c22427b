"""The images of a character: its avatar, which is also that of its card, and its face in every emotion."""

import asyncio
from hashlib import blake2b
from typing import Annotated, Self, get_args

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.fields import Id
from soulgraph.api.media import OCTETS, Responses, binary, sent
from soulgraph.api.raising import EMPTY_BODY, NO_PACK, NO_PICTURE, raises
from soulgraph.api.services import Served
from soulgraph.errors import NotFound
from soulgraph.library.cards.packs import read_pack
from soulgraph.library.images import ContentType, check_image
from soulgraph.soul.emotions import EMOTIONS
from soulgraph.soul.timestamps import iso
from soulgraph.stores.presets import AVATAR
from soulgraph.stores.records import Picture, PictureInfo

router = APIRouter(prefix="/v1/characters/{character_id}/images", tags=["library"])

NAMES = (AVATAR, *EMOTIONS)

_FILE = binary(*get_args(ContentType))
_ANSWERS: Responses = {200: _FILE, 304: {"description": "It is the one that the client has"}}


def _known_name(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"must be one of {', '.join(NAMES)}")
    return name


ImageName = Annotated[str, AfterValidator(_known_name), WithJsonSchema({"type": "string", "enum": [*NAMES]})]


class ImageOut(BaseModel):
    name: str = Field(description="`avatar`, or the emotion that the face shows")
    content_type: ContentType
    bytes: int
    updated_at: str

    @classmethod
    def of(cls, info: PictureInfo) -> Self:
        fields = {"name": info.name, "content_type": info.content_type, "bytes": info.size}
        return cls.model_validate(fields | {"updated_at": iso(info.updated_at)})


@router.get("", dependencies=[speaker])
async def list_images(character_id: Id, services: Served) -> list[ImageOut]:
    """List the images that a character has, by name."""
    async with services.stores.read() as tx:
        await tx.characters.get(character_id)
        return [ImageOut.of(info) for info in await tx.pictures.infos(character_id)]


class ImportedImages(BaseModel):
    images: list[ImageOut] = Field(description="those that were stored")
    notes: list[str] = Field(description="which files were not kept, and which are kept under another name")


@router.post(
    "/import", status_code=201, dependencies=[server_owner], openapi_extra=sent(binary("application/zip", OCTETS))
)
@raises(NO_PACK)
async def import_images(character_id: Id, request: Request, services: Served) -> ImportedImages:
    """Store the pictures of an expression pack; the request body is the file: a zip archive like SillyTavern's.

    The name of each file says which emotion it shows: `joy.png`, `Lumen/annoyance-2.webp`. Labels that are not our
    emotions are kept as the one that is closest. A picture that is there already is replaced.
    """
    pack = await asyncio.to_thread(read_pack, await request.body())  # decoding takes long
    now = services.now()
    async with services.stores.write() as tx:
        await tx.characters.lock(character_id)
        for name, image in pack.images.items():
            await tx.pictures.put(Picture(character_id, name, *image, now))
    infos = [
        PictureInfo(character_id, name, image[0], len(image[1]), now) for name, image in sorted(pack.images.items())
    ]
    return ImportedImages(images=[ImageOut.of(info) for info in infos], notes=pack.notes)


@router.get(
    "/{name}",
    dependencies=[speaker],
    response_class=Response,
    responses=_ANSWERS,
)
async def read_image(
    character_id: Id, name: ImageName, services: Served, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The image itself. 304 if `If-None-Match` has the `ETag` of the one there is."""
    async with services.stores.read() as tx:
        await tx.characters.get(character_id)
        picture = await tx.pictures.find(character_id, name)
    if picture is None:
        raise NotFound("image", name)
    tag = f'"{blake2b(picture.content, digest_size=8).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.content_type, headers=headers)


@router.put("/{name}", dependencies=[server_owner], openapi_extra=sent(_FILE))
@raises(NO_PICTURE, EMPTY_BODY)
async def put_image(character_id: Id, name: ImageName, request: Request, services: Served) -> ImageOut:
    """Store an image; the request body is the file: PNG, JPEG or WebP, at most 4 MiB.

    The file itself says what it is, whatever `Content-Type` says: 415 for another kind, 422 for a damaged one.
    """
    body = await request.body()
    image = await asyncio.to_thread(check_image, body)  # decoding takes long
    async with services.stores.write() as tx:
        await tx.characters.lock(character_id)
        await tx.pictures.put(Picture(character_id, name, *image, services.now()))
    return ImageOut.of(PictureInfo(character_id, name, image.content_type, len(image.content), services.now()))


@router.delete("/{name}", status_code=204, dependencies=[server_owner])
async def delete_image(character_id: Id, name: ImageName, services: Served) -> None:
    """Delete an image."""
    async with services.stores.write() as tx:
        await tx.characters.get(character_id)
        await tx.pictures.delete(character_id, name)

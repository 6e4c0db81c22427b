"""The library over HTTP: the characters and backgrounds one can choose from."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from soulgraph.api.auth import chatter
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.stores.records import Preset

router = APIRouter(prefix="/v1", tags=["library"], dependencies=[chatter])


class PresetOut(BaseModel):
    id: str
    name: str
    data: dict[str, Any]

    @classmethod
    def of(cls, preset: Preset) -> "PresetOut":
        return cls(id=preset.id, name=preset.name, data=preset.data)


@router.get("/characters")
async def list_characters(services: Served) -> list[PresetOut]:
    async with services.stores.read() as tx:
        return [PresetOut.of(preset) for preset in await tx.characters.all()]


@router.get("/characters/{character_id}")
async def read_character(character_id: Id, services: Served) -> PresetOut:
    async with services.stores.read() as tx:
        return PresetOut.of(await tx.characters.get(character_id))


@router.get("/backgrounds")
async def list_backgrounds(services: Served) -> list[PresetOut]:
    async with services.stores.read() as tx:
        return [PresetOut.of(preset) for preset in await tx.backgrounds.all()]


@router.get("/backgrounds/{background_id}")
async def read_background(background_id: Id, services: Served) -> PresetOut:
    async with services.stores.read() as tx:
        return PresetOut.of(await tx.backgrounds.get(background_id))

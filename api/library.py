"""The library over HTTP: the characters and backgrounds one can choose from, make and change."""

from collections import Counter
from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import AfterValidator, Field, StringConstraints, field_validator

from soulgraph.api.auth import chatter, owner
from soulgraph.api.edits import Body, Revised, refuse_if_changed, revision_of
from soulgraph.api.fields import Id, Name
from soulgraph.api.services import Served
from soulgraph.prompts.lore import Lore
from soulgraph.soul.personality import MBTI_TYPES
from soulgraph.soul.profile import Edit, EditedField
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_id
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Preset

MAX_LORE = 500

router = APIRouter(prefix="/v1", tags=["library"])

Short = Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True)]
Long = Annotated[str, StringConstraints(max_length=20_000, strip_whitespace=True)]
Said = Annotated[str, StringConstraints(min_length=1, max_length=8000, strip_whitespace=True)]
Monologue = Annotated[str, StringConstraints(max_length=1200, strip_whitespace=True)]


def _mbti(text: str) -> str:
    if text.upper() not in MBTI_TYPES:
        raise ValueError("is no MBTI type: expected four letters like INFJ")
    return text.upper()


class InitialProfile(Edit):
    """The profile of a soul that is born from a character; it may bring fields of its own."""

    dynamic_state: dict[Annotated[str, StringConstraints(pattern=r"^\w{1,60}$")], EditedField] = Field({})
    retired: None = None


class _Card(Body):
    """What every preset has."""

    name: Name
    description: Short = ""
    lore: list[Lore] = Field([], max_length=MAX_LORE)
    extensions: dict[str, Any] = Field({}, description="what others keep here; never in a prompt")

    @field_validator("lore")
    @classmethod
    def _each_once(cls, lore: list[Lore]) -> list[Lore]:
        if twice := [entry for entry, times in Counter(entry.id for entry in lore).items() if times > 1]:
            raise ValueError(f"two entries have the id {twice[0]}: an id is given once")
        return lore


class Character(_Card):
    base_persona: Long = Field("", description="who the character is; it never changes")
    initial_profile: InitialProfile = InitialProfile()
    greetings: list[Said] = Field([], max_length=20)
    style_examples: list[Said] = Field([], max_length=50)
    inner_state: Monologue = Field("", description="the seed of a soul's inner monologue")
    mbti_type: Annotated[str, AfterValidator(_mbti)] | None = None


class Background(_Card):
    world_rules: Long = ""
    initial_context: Long = ""


class NewCharacter(Character):
    id: Id = Field(default_factory=lambda: new_id("char"))


class NewBackground(Background):
    id: Id = Field(default_factory=lambda: new_id("bg"))


class EditedCharacter(Character, Revised):
    pass


class EditedBackground(Background, Revised):
    pass


class _Kept(_Card):
    id: str
    revision: str
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, preset: Preset) -> Self:
        data = {name: value for name, value in preset.data.items() if name in cls.model_fields}
        return cls.model_validate(
            {
                **data,
                "id": preset.id,
                "name": preset.name,
                "revision": revision_of(preset.data),
                "created_at": iso(preset.created_at),
                "updated_at": iso(preset.updated_at),
            }
        )


class CharacterOut(Character, _Kept):
    pass


class BackgroundOut(Background, _Kept):
    pass


@router.get("/characters", dependencies=[chatter])
async def list_characters(services: Served) -> list[CharacterOut]:
    async with services.stores.read() as tx:
        return [CharacterOut.of(preset) for preset in await tx.characters.all()]


@router.post("/characters", status_code=201, dependencies=[owner])
async def create_character(wanted: NewCharacter, services: Served) -> CharacterOut:
    async with services.stores.write() as tx:
        return CharacterOut.of(await _added(tx.characters, wanted.id, wanted, services.now()))


@router.get("/characters/{character_id}", dependencies=[chatter])
async def read_character(character_id: Id, services: Served) -> CharacterOut:
    async with services.stores.read() as tx:
        return CharacterOut.of(await tx.characters.get(character_id))


@router.put("/characters/{character_id}", dependencies=[owner])
async def put_character(character_id: Id, wanted: EditedCharacter, services: Served) -> CharacterOut:
    """Souls and sessions that were made from it keep their persona; its lore and style examples are read anew."""
    async with services.stores.write() as tx:
        return CharacterOut.of(await _replaced(tx.characters, character_id, wanted, wanted.revision, services.now()))


@router.delete("/characters/{character_id}", status_code=204, dependencies=[owner])
async def delete_character(character_id: Id, services: Served) -> None:
    """Souls and sessions that were made from it live on."""
    async with services.stores.write() as tx:
        await tx.characters.delete(character_id)


@router.get("/backgrounds", dependencies=[chatter])
async def list_backgrounds(services: Served) -> list[BackgroundOut]:
    async with services.stores.read() as tx:
        return [BackgroundOut.of(preset) for preset in await tx.backgrounds.all()]


@router.post("/backgrounds", status_code=201, dependencies=[owner])
async def create_background(wanted: NewBackground, services: Served) -> BackgroundOut:
    async with services.stores.write() as tx:
        return BackgroundOut.of(await _added(tx.backgrounds, wanted.id, wanted, services.now()))


@router.get("/backgrounds/{background_id}", dependencies=[chatter])
async def read_background(background_id: Id, services: Served) -> BackgroundOut:
    async with services.stores.read() as tx:
        return BackgroundOut.of(await tx.backgrounds.get(background_id))


@router.put("/backgrounds/{background_id}", dependencies=[owner])
async def put_background(background_id: Id, wanted: EditedBackground, services: Served) -> BackgroundOut:
    """Sessions set in it are told the new one from their next turn on."""
    async with services.stores.write() as tx:
        return BackgroundOut.of(await _replaced(tx.backgrounds, background_id, wanted, wanted.revision, services.now()))


@router.delete("/backgrounds/{background_id}", status_code=204, dependencies=[owner])
async def delete_background(background_id: Id, services: Served) -> None:
    """Sessions set in it go on without it."""
    async with services.stores.write() as tx:
        await tx.backgrounds.delete(background_id)


async def _added(shelf: Presets, preset_id: str, card: _Card, now: float) -> Preset:
    await shelf.add(preset_id, card.name, stored(card), now)
    return await shelf.get(preset_id)


async def _replaced(shelf: Presets, preset_id: str, card: _Card, revision: str | None, now: float) -> Preset:
    known = await shelf.find_locked(preset_id)
    refuse_if_changed(revision, known.data if known else None)
    await shelf.put(preset_id, card.name, stored(card), now)
    return await shelf.get(preset_id)


def stored(card: _Card) -> dict[str, Any]:
    """The preset's data: what the card says, without what it does not."""
    return card.model_dump(mode="json", exclude={"id", "revision"}, exclude_none=True)

"""The characters of the library: list, create, read, replace and delete. Backgrounds share the base of their models."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, Self

from fastapi import APIRouter
from pydantic import AfterValidator, AliasChoices, Field, StringConstraints, field_validator, model_validator

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.edits import Body, Revised, example, refuse_if_changed, revision_of
from soulgraph.api.fields import Id, Mbti, Name, NewId
from soulgraph.api.raising import ALREADY_EXISTS, CHANGED_MEANWHILE, raises
from soulgraph.api.services import Served
from soulgraph.library.cards.limits import MAX_EXAMPLES, MAX_GREETINGS, MAX_LORE, MAX_PERSONA, MAX_UTTERANCE
from soulgraph.prompts.lore import Lore
from soulgraph.soul.personality import MBTI_TYPES
from soulgraph.soul.profile import Edit, EditedField
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NOT_BLANK
from soulgraph.stores.factories import new_id
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Preset
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1", tags=["library"])

Short = Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True)]
Long = Annotated[str, StringConstraints(max_length=MAX_PERSONA, strip_whitespace=True)]
Utterance = Annotated[str, StringConstraints(min_length=1, max_length=MAX_UTTERANCE, strip_whitespace=True), NOT_BLANK]
Monologue = Annotated[str, StringConstraints(max_length=1200, strip_whitespace=True)]


_EXAMPLE: dict[str, Any] = {
    "name": "Lumen",
    "description": "Keeps the lighthouse.",
    "base_persona": "Lumen counts ships, not days.",
    "greetings": ["The lamp is lit. Sit."],
    "style_examples": ["Short. Like waves."],
    "inner_state": "The sea was loud tonight.",
    "mbti_type": "ISTJ",
    "lore": [{"id": "reef", "keys": ["reef", "暗礁"], "content": "The reef took three ships."}],
}


def _mbti(text: str) -> str:
    if text.upper() not in MBTI_TYPES:
        raise ValueError("is no MBTI type: expected four letters like INFJ")
    return text.upper()


def duplicate_id(lore: Sequence[Lore]) -> str | None:
    """An id that several entries have."""
    return next((entry_id for entry_id, n in Counter(entry.id for entry in lore).items() if n > 1), None)


class InitialProfile(Edit):
    """The first profile of a soul made from the character; it may have fields of its own."""

    dynamic_state: dict[Annotated[str, StringConstraints(pattern=r"^\w{1,60}$")], EditedField] = Field({})
    retired: None = None  # a new soul has no retired items

    @model_validator(mode="after")
    def _drop_owners(self) -> Self:
        """A character is nobody's in particular: what a soul is born with is its own."""
        for item in (item for edited in self.dynamic_state.values() for item in edited.items):
            item.user_id = None
            item.shared_with = None
        return self


class CommonFields(Body):
    """The fields that characters and backgrounds share."""

    name: Name
    description: Short = ""
    lore: list[Lore] = Field([], max_length=MAX_LORE, json_schema_extra={"uniqueItems": True})
    extensions: dict[str, Any] = Field({}, description="what others keep here; never in a prompt")

    @field_validator("lore")
    @classmethod
    def _refuse_duplicate_ids(cls, lore: list[Lore]) -> list[Lore]:
        if duplicate := duplicate_id(lore):
            raise ValueError(f"two entries have the id {duplicate}: an id is given once")
        return lore


class Character(CommonFields):
    avatar: Short = Field("", description="the name or address of a picture")
    base_persona: Long = Field("", description="who the character is; it never changes")
    initial_profile: InitialProfile = InitialProfile()
    greetings: list[Utterance] = Field([], max_length=MAX_GREETINGS)
    style_examples: list[Utterance] = Field([], max_length=MAX_EXAMPLES)
    inner_state: Monologue = Field("", description="the seed of a soul's inner monologue")
    mbti_type: Annotated[Mbti, AfterValidator(_mbti)] | None = None


class NewCharacter(Character):
    model_config = example({"id": "lumen", **_EXAMPLE})

    id: NewId = Field(default_factory=lambda: new_id("char"), validation_alias=AliasChoices("id", "character_id"))


class EditedCharacter(Character, Revised):
    model_config = example({**_EXAMPLE, "revision": "0230e77beb58768c"})

    read_only = frozenset({"id", "character_id", "images", "created_at", "updated_at"})


class StoredPreset(CommonFields):
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


class CharacterOut(Character, StoredPreset):
    images: list[str] = Field([], description="the names of its images, see `/images`")

    @classmethod
    def of(cls, preset: Preset, images: Sequence[str] = ()) -> Self:
        return super().of(preset).model_copy(update={"images": [*images]})


@router.get("/characters", dependencies=[speaker])
async def list_characters(services: Served) -> list[CharacterOut]:
    """List all characters by name."""
    images: dict[str, list[str]] = defaultdict(list)
    async with services.stores.read() as tx:
        for info in await tx.pictures.infos():
            images[info.character_id].append(info.name)
        return [CharacterOut.of(preset, images[preset.id]) for preset in await tx.characters.all()]


@router.post("/characters", status_code=201, dependencies=[server_owner])
@raises(ALREADY_EXISTS)
async def create_character(wanted: NewCharacter, services: Served) -> CharacterOut:
    """Create a character; 409 if the id is taken."""
    async with services.stores.write() as tx:
        return CharacterOut.of(await add_preset(tx.characters, wanted.id, wanted, services.now()))


@router.get("/characters/{character_id}", dependencies=[speaker])
async def read_character(character_id: Id, services: Served) -> CharacterOut:
    async with services.stores.read() as tx:
        return await read_with_images(tx, character_id)


@router.put("/characters/{character_id}", dependencies=[server_owner])
@raises(CHANGED_MEANWHILE)
async def put_character(character_id: Id, wanted: EditedCharacter, services: Served) -> CharacterOut:
    """Replace a character, or create it under this id.

    Souls and sessions made from it keep their persona; its lore and style examples are used from their next turn on.
    """
    async with services.stores.write() as tx:
        await replace_preset(tx.characters, character_id, wanted, wanted.revision, services.now())
        return await read_with_images(tx, character_id)


@router.delete("/characters/{character_id}", status_code=204, dependencies=[server_owner])
async def delete_character(character_id: Id, services: Served) -> None:
    """Delete a character. Souls and sessions made from it stay."""
    async with services.stores.write() as tx:
        await tx.characters.delete(character_id)


async def read_with_images(tx: Transaction, character_id: str) -> CharacterOut:
    preset = await tx.characters.get(character_id)
    return CharacterOut.of(preset, [info.name for info in await tx.pictures.infos(character_id)])


async def add_preset(presets: Presets, preset_id: str, wanted: CommonFields, now: float) -> Preset:
    await presets.add(preset_id, wanted.name, stored(wanted), now)
    return await presets.get(preset_id)


async def replace_preset(
    presets: Presets, preset_id: str, wanted: CommonFields, revision: str | None, now: float
) -> Preset:
    existing = await presets.find_locked(preset_id)
    refuse_if_changed(revision, existing.data if existing else None)
    await presets.put(preset_id, wanted.name, stored(wanted), now)
    return await presets.get(preset_id)


def stored(preset: CommonFields) -> dict[str, Any]:
    """The preset as JSON for the database, without its id and revision and without fields that are None."""
    return preset.model_dump(mode="json", exclude={"id", "revision"}, exclude_none=True)

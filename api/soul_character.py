"""Saves a grown soul as a character of the library: who it has become, without anything that belongs to people."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import Field, ValidationError

from soulgraph.api.access import Caller
from soulgraph.api.auth import Owner
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id, Name, NewId
from soulgraph.api.library import CharacterOut, NewCharacter, read_with_images, stored
from soulgraph.api.raising import ALREADY_EXISTS, not_found, raises
from soulgraph.api.services import Served
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.library.first_monologue import first_monologue
from soulgraph.soul.language import lang_of
from soulgraph.soul.people import NOBODY
from soulgraph.soul.profile import BOOKKEEPING_KEYS, Profile, known_to
from soulgraph.soul.validation import explain
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json, Session, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.voices.names import names_in, replace_names_in

router = APIRouter(prefix="/v1/souls/{soul_id}", tags=["souls"])

_INHERITED = ("description", "avatar", "greetings", "style_examples", "lore", "extensions")


class SaveAs(Body):
    model_config = example({"id": "lumen-grown", "name": "Lumen", "session_id": "first"})

    id: NewId = Field(default_factory=lambda: new_id("char"))
    name: Name | None = Field(None, description="of the character; without it the soul's")
    session_id: Id | None = Field(None, description="whose evolved persona is saved too; without it none")


@router.post("/character", status_code=201)
@raises(*not_found("session"), ALREADY_EXISTS)
async def save_as_character(soul_id: Id, wanted: SaveAs, caller: Owner, services: Served) -> CharacterOut:
    """Save the soul as a new character: its persona, its own profile, examples of how it speaks.

    Nothing that belongs to people is saved: no slots, preferences, messages or thoughts, no item of the profile that is
    not shared with everyone, and known names become "someone". What a conversation has made of the persona is saved
    only if you name its session.
    """
    async with services.stores.write() as tx:
        soul = await caller.soul(tx, soul_id)
        session = await _named_session(tx, soul, wanted.session_id, caller)
        preset = session.character_snapshot["source_preset"] if session else soul.character_id
        character = await _character(tx, soul, session, preset, wanted)
        await tx.characters.add(character.id, character.name, stored(character), services.now())
        if preset:
            await tx.pictures.copy(preset, character.id)
        return await read_with_images(tx, character.id)


async def _named_session(tx: Transaction, soul: Soul, session_id: str | None, caller: Caller) -> Session | None:
    """None if none is named: what a conversation has made of the persona is its person's."""
    if session_id is None:
        return None
    session = await caller.session(tx, session_id)
    if session.soul_id != soul.soul_id:
        raise NotFound("session", session_id)
    return session


async def _character(
    tx: Transaction, soul: Soul, session: Session | None, preset_id: str | None, wanted: SaveAs
) -> NewCharacter:
    preset = await tx.characters.find(preset_id) if preset_id else None
    source: Json = preset.data if preset else {}
    name = wanted.name or soul.name
    own_names = {name, soul.name, preset.name if preset else soul.name}
    grown: Json = {"persona": _persona(session, source), "profile": _profile(soul.dynamic_profile)}
    names = [found for found in await _user_names(tx, soul, session) if found not in own_names]
    grown = replace_names_in(grown, names, lang_of(grown["persona"] or soul.name))
    data = {field: source[field] for field in _INHERITED if field in source} | {
        "id": wanted.id,
        "name": name,
        "mbti_type": soul.mbti_type,
        "base_persona": grown["persona"],
        "initial_profile": grown["profile"],
    }
    data["inner_state"] = first_monologue(name, data | {"inner_state": source.get("inner_state")})
    try:
        return NewCharacter.model_validate(data)
    except ValidationError as error:
        raise InvalidInput(f"this soul cannot be saved as a character: {explain(error)}") from error


def _persona(session: Session | None, source: Json) -> str:
    if session is None:
        return str(source.get("base_persona", ""))
    snapshot = session.character_snapshot
    return "\n\n".join(filter(None, (snapshot["base_persona"], snapshot["evolved_persona"])))


def _profile(profile: Profile) -> Json:
    """The profile as a new soul begins with it: what anybody may know, without times and what has retired."""
    fields = known_to(profile, (NOBODY,)).get("dynamic_state", {})
    state = {name: {"items": [_item(item) for item in field["items"]]} for name, field in fields.items()}
    return {"core_identity": profile.get("core_identity", {}), "dynamic_state": state}


def _item(item: Json) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key == "priority" or key not in BOOKKEEPING_KEYS}


async def _user_names(tx: Transaction, soul: Soul, session: Session | None) -> Sequence[str]:
    """What people are called, and the names that were said in the session."""
    called = await tx.preferences.addresses(soul.soul_id)
    messages = await tx.messages.page(session.session_id) if session else []
    return [*called.values(), *names_in(message.content for message in messages)]

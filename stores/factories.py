"""Builds new souls and sessions from the presets of the library. The records are returned, not stored."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

from soulgraph.errors import NotFound
from soulgraph.library.first_monologue import first_monologue, first_thought_about
from soulgraph.library.shipped import TEMPLATES
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.dynamics import born
from soulgraph.soul.modes import Mode, default_state
from soulgraph.soul.people import DEFAULT_USER, others
from soulgraph.soul.personality import traits_of
from soulgraph.soul.profile import empty_profile, unowned
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import CharacterSnapshot, Json, Preset, Relation, Session, Soul
from soulgraph.stores.stores import Transaction

MODEL_VERSION = "persona-pad-v3"


def new_id(kind: str) -> str:
    return f"{kind}_{uuid4().hex}"


def title_of(first_words: str) -> str:
    return first_words[:40]


def default_session_id(
    soul_id: str,
    user_id: str = DEFAULT_USER,
    terminal_id: str | None = None,
    character_id: str | None = None,
    background_id: str | None = None,
    template_id: str | None = None,
) -> str:
    """The id of the session that a request without a session id continues.

    It is derived from its arguments, so that the same soul, user, terminal and presets always meet in one session.
    """
    setting = [terminal_id, character_id, background_id, template_id]
    return f"sess_{uuid5(NAMESPACE_URL, repr([soul_id, user_id, *setting])).hex}"


async def new_soul(
    tx: Transaction,
    *,
    name: str,
    mbti_type: str,
    user_id: str,
    character_id: str | None,
    now: float,
    constants: Constants = DEFAULT,
) -> Soul:
    """A soul with a neutral emotion and a first inner monologue; a character gives it its initial profile.

    Raises NotFound if the character does not exist.
    """
    character = await _character_data(tx, character_id)
    traits = traits_of(mbti_type, constants)
    return Soul(
        soul_id=new_id("soul"),
        user_id=user_id,
        name=name,
        mbti_type=mbti_type.upper(),
        character_id=character_id,
        personality_vector=traits,
        emotion_state=born(traits, now, constants),
        model_version=MODEL_VERSION,
        dynamic_profile=_initial_profile(character.get("initial_profile", {}), iso(now)),
        inner_state=first_monologue(name, character),
        turns=0,
        version=1,
        created_at=now,
        updated_at=now,
    )


async def new_session(
    tx: Transaction,
    soul: Soul,
    *,
    session_id: str,
    user_id: str,
    title: str,
    character_id: str | None,
    background_id: str | None,
    template_id: str,
    mode: Mode,
    now: float,
    continued_from: str | None = None,
    people: Collection[str] = (),
    souls: Collection[Soul] = (),
) -> Session:
    """A session with its own snapshot of the character, which later edits of the character do not change.

    `people` and `souls` take part beside the session's own. Raises NotFound if the template, background or
    `character_id` does not exist, or if the background sums up a conversation that not all of the people had.
    """
    if template_id not in TEMPLATES:
        await tx.templates.get(template_id)
    if background_id is not None and not is_known_to(await tx.backgrounds.get(background_id), (user_id, *people)):
        raise NotFound("background", background_id)
    return Session(
        session_id=session_id,
        soul_id=soul.soul_id,
        user_id=user_id,
        title=title,
        background_id=background_id,
        template_id=template_id,
        character_snapshot=await character_snapshot(tx, soul, now, character_id),
        persona_state=default_state(mode, iso(now)),
        turn=0,
        continued_from=continued_from,
        created_at=now,
        updated_at=now,
        people=others(user_id, people),
        souls=await snapshots_of(tx, souls, now),
    )


def is_known_to(background: Preset, audience: Iterable[str]) -> bool:
    """Whether a background may be told to all of them: one that sums up a conversation only to those who had it."""
    return not background.summary_of or all(person in background.summary_people for person in audience)


async def snapshots_of(tx: Transaction, souls: Iterable[Soul], now: float) -> dict[str, CharacterSnapshot]:
    """The characters of the souls that take part in a session beside its own."""
    return {soul.soul_id: await character_snapshot(tx, soul, now) for soul in souls}


async def character_snapshot(
    tx: Transaction, soul: Soul, now: float, character_id: str | None = None
) -> CharacterSnapshot:
    """The named character, or the one that the soul was made from.

    Raises NotFound for a named one that does not exist. The soul's own may have been deleted since; then the persona
    is empty.
    """
    preset = character_id or soul.character_id
    character = await _character_data(tx, preset, required=character_id is not None)
    return {
        "source_preset": preset,
        "snapshot_created_at": iso(now),
        "base_persona": character.get("base_persona") or character.get("description", ""),
        "evolved_persona": "",
    }


def first_relation(soul: Soul, user_id: str, name: str | None, now: float) -> Relation:
    """Of a soul and a person who have just met; about one whose name it knows it has a first thought."""
    called = name or _name_in(user_id)
    inner_state = first_thought_about(called, soul.name + soul.inner_state) if called else ""
    return replace(Relation.new(soul.soul_id, user_id, now), inner_state=inner_state)


def _name_in(user_id: str) -> str | None:
    """The user's name if the id is one, like `lin` or `小林`; ids like `user_8` and the default one are not."""
    return user_id if user_id.isalpha() and user_id != DEFAULT_USER else None


async def _character_data(tx: Transaction, character_id: str | None, required: bool = True) -> Json:
    if character_id is None:
        return {}
    preset = await tx.characters.get(character_id) if required else await tx.characters.find(character_id)
    return preset.data if preset else {}


def _initial_profile(initial: Mapping[str, Any], timestamp: str) -> Json:
    """The character's profile, completed with empty fields and with `timestamp` on items that have none.

    Whatever a character says about owners is left out: a new soul knows nobody.
    """
    fields = {**empty_profile()["dynamic_state"], **initial.get("dynamic_state", {})}
    state = {
        field: {"items": [{"timestamp": timestamp, **unowned(item)} for item in value["items"]]}
        for field, value in fields.items()
    }
    return {**empty_profile(), **initial, "dynamic_state": state}

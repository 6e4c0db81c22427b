"""Souls: list, create, read, rename and delete; and selecting the soul of a terminal."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from soulgraph.api.auth import Owner, Speaker, TerminalCaller, server_owner
from soulgraph.api.edits import Body, example
from soulgraph.api.emotion import TraitsOut
from soulgraph.api.examples import SOUL
from soulgraph.api.fields import Id, Mbti, Name, UserId
from soulgraph.api.mbti import suggestion_for
from soulgraph.api.raising import (
    ANOTHER_PERSON,
    NO_EVENT_LIBRARY,
    SOUL_EXISTS,
    TOO_MANY_TERMINALS,
    not_found,
    raises,
)
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.senses.mbti.suggestion import UNSURE
from soulgraph.soul.emotions import EmotionStateDict
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import first_relation, new_soul
from soulgraph.stores.memory import ADDRESS
from soulgraph.stores.records import Preference, Soul
from soulgraph.terminals.handlers import status_of

router = APIRouter(prefix="/v1/souls", tags=["souls"])


class NewSoul(Body):
    model_config = example({"name": "小满", "mbti_type": "INFJ", "user_id": "ann", "character_id": "xiaoman"})

    name: Name
    mbti_type: Mbti | None = Field(
        None, description="may be left out with a `character_id`: then its own, or the one that its text suggests"
    )
    user_id: UserId = DEFAULT_USER
    character_id: Id | None = None
    user_name: Name | None = Field(None, description="what the soul calls its person; kept as their preference")


class Renaming(Body):
    model_config = example({"name": "Lumen"})

    name: Name


class SoulEdit(Body):
    model_config = example({"name": "Lumen"})

    read_only = frozenset(
        {"soul_id", "user_id", "mbti_type", "character_id", "personality_vector", "emotion_state", "model_version"}
        | {"turns", "version", "created_at", "updated_at"}
    )

    name: Name


class Selection(Body):
    model_config = example({"terminal_id": "desk-lamp", "soul_id": SOUL, "user_id": "ann"})

    terminal_id: Id
    soul_id: Id
    user_id: UserId | None = Field(None, description="who usually speaks there; without it as before")


class SoulOut(BaseModel):
    soul_id: str
    user_id: str
    name: str
    mbti_type: str
    character_id: str | None
    personality_vector: TraitsOut
    emotion_state: EmotionStateDict
    model_version: str
    turns: int
    version: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, soul: Soul) -> "SoulOut":
        stored = {name: getattr(soul, name) for name in cls.model_fields}
        decoded = {
            "personality_vector": soul.personality_vector.to_dict(),
            "emotion_state": soul.emotion_state.to_dict(),
        }
        times = {"created_at": iso(soul.created_at), "updated_at": iso(soul.updated_at)}
        return cls(**stored | decoded | times)


@router.get("")
async def list_souls(caller: Speaker, services: Served, user_id: UserId | None = None) -> list[SoulOut]:
    """List souls, the oldest first; with `user_id` only those that were made for one person."""
    async with services.stores.read() as tx:
        return [SoulOut.of(soul) for soul in await tx.souls.all(user_id) if caller.sees_soul(soul.soul_id)]


@router.post("", status_code=201, dependencies=[server_owner])
@raises(*not_found("character"), SOUL_EXISTS)
async def create_soul(wanted: NewSoul, services: Served) -> SoulOut:
    """Create a soul with a personality of this MBTI type. It must exist before a chat can begin.

    Without a type it gets that of its character, or the one that the character's text suggests, if it says enough.
    """
    now = services.now()
    given = wanted.model_dump(exclude={"user_name"}) | {"mbti_type": await _type_of(wanted, services)}
    async with services.stores.write() as tx:
        soul = await new_soul(tx, **given, now=now, constants=services.context.constants)
        await tx.souls.add(soul)
        relation = first_relation(soul, soul.user_id, wanted.user_name, now)
        if relation.inner_state:  # it knows what its person is called
            await tx.relations.ensure(relation)
        if name := wanted.user_name:
            await tx.preferences.put(Preference(soul.soul_id, soul.user_id, ADDRESS, name, 1.0, "given", [], now))
    return SoulOut.of(soul)


async def _type_of(wanted: NewSoul, services: Services) -> str:
    """The type that was given, or that of the character; raises InvalidInput if nothing says one."""
    if wanted.mbti_type is not None:
        return wanted.mbti_type
    if wanted.character_id is None:
        raise InvalidInput(
            "mbti_type: is missing: give one, like INFJ, or the character_id of a character that has one"
        )
    suggestion = await suggestion_for(wanted.character_id, services)
    if suggestion.confidence < UNSURE:
        raise InvalidInput("mbti_type: is missing, and the character's text says too little to suggest one: give one")
    return suggestion.mbti_type


@router.post("/select")
@raises(*not_found("soul", "terminal"), ANOTHER_PERSON, TOO_MANY_TERMINALS)
async def select_soul(selection: Selection, caller: TerminalCaller, services: Served) -> Selection:
    """Select the soul of a terminal, and perhaps who usually speaks there. A terminal that is unknown is added."""
    caller = caller.acting_for(selection.user_id)
    terminal_id, soul_id = selection.terminal_id, selection.soul_id
    async with services.stores.write() as tx:
        await caller.soul(tx, soul_id)
        await caller.check_terminal(tx, terminal_id)
        await tx.terminals.bind(terminal_id, soul_id, services.now(), caller.person)
        terminal = await tx.terminals.find(terminal_id)
        status = await status_of(tx, terminal_id, services.now())
    if hub := services.context.outlets.hub:
        hub.status(status)
    return Selection(terminal_id=terminal_id, soul_id=soul_id, user_id=terminal.user_id if terminal else None)


@router.get("/{soul_id}")
async def read_soul(soul_id: Id, caller: Speaker, services: Served) -> SoulOut:
    async with services.stores.read() as tx:
        return SoulOut.of(await caller.soul(tx, soul_id))


@router.patch("/{soul_id}")
@raises(SOUL_EXISTS)
async def rename_soul(soul_id: Id, wanted: Renaming, caller: Owner, services: Served) -> SoulOut:
    """Rename a soul; 409 if its user has another soul with this name."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        await tx.souls.rename(soul_id, wanted.name, services.now())
        return SoulOut.of(await tx.souls.get(soul_id))


@router.put("/{soul_id}")
@raises(*not_found("soul"), SOUL_EXISTS)
async def put_soul(soul_id: Id, wanted: SoulEdit, caller: Owner, services: Served) -> SoulOut:
    """Send a soul back as it was read, perhaps with another name; what cannot be changed is ignored."""
    return await rename_soul(soul_id, Renaming(name=wanted.name), caller, services)


@router.delete("/{soul_id}", status_code=204)
@raises(NO_EVENT_LIBRARY)
async def delete_soul(soul_id: Id, caller: Owner, services: Served) -> None:
    """Delete a soul with its sessions, its memory and the events made from its sessions alone."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        sessions = await tx.sessions.all(soul_id, limit=None)
    # Events first: which sessions they were made from is not known once the sessions are deleted.
    for session in sessions:
        await services.forget(session.session_id)
    if summaries := services.context.memory.summaries:
        await summaries.forget(soul_id=soul_id)
    async with services.stores.write() as tx:
        bodies = [terminal.terminal_id for terminal in await tx.terminals.all() if terminal.soul_id == soul_id]
        await tx.backgrounds.forget(soul_id)
        await tx.souls.delete(soul_id)
    if hub := services.context.outlets.hub:
        for terminal_id in bodies:
            hub.clear_emotion(terminal_id)

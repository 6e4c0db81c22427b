"""Sessions: list, create, open with a greeting, read, edit and delete."""

from dataclasses import asdict, replace
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader, Somebody
from soulgraph.api.chat import for_caller
from soulgraph.api.edits import Body, example, form
from soulgraph.api.examples import SOUL
from soulgraph.api.fields import MAX_INTEGER, Id, Title, UserId
from soulgraph.api.groups import People, Souls, allowed_souls, change_members, changes_members, refuse_to_gather
from soulgraph.api.raising import (
    ADMITTED,
    ANOTHER_PERSON,
    EDITING,
    MAY_NOT_GATHER,
    NO_EVENT_LIBRARY,
    NOT_OWN_TO_DELETE,
    SESSION_BUSY,
    not_found,
    raises,
)
from soulgraph.api.services import Served, Services
from soulgraph.errors import Forbidden
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.greeting import open_session as open_with_greeting
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NUMBER
from soulgraph.stores.factories import new_id, new_session
from soulgraph.stores.records import CharacterSnapshot, Session

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class NewSession(Body):
    model_config = example({"soul_id": SOUL, "background_id": "wasteland_world", "title": "By the lamp"})

    soul_id: Id
    user_id: UserId | None = None
    people: People = Field([])
    souls: Souls = Field([])
    title: Title = ""
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None


class Opening(Body):
    model_config = example({"soul_id": SOUL, "greeting": 1})

    soul_id: Id | None = Field(None, description="without it the terminal's soul is used")
    session_id: Id | None = Field(None, description="without it the usual conversation of this person is opened")
    terminal_id: Id | None = None
    user_id: UserId | None = None
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None
    greeting: Annotated[int, NUMBER] = Field(
        0, ge=0, le=MAX_INTEGER, description="which of the character's greetings, counted from 0"
    )


class SessionPatch(Body):
    model_config = example({"title": "By the lamp"}, one_of=[form("title"), form("people"), form("souls")])

    title: Title | None = None
    people: People | None = None
    souls: Souls | None = None

    @model_validator(mode="after")
    def _check_something(self) -> Self:
        if self.title is None and self.people is None and self.souls is None:
            raise ValueError("send a `title`, `people` or `souls`")
        return self


class SessionEdit(SessionPatch):
    read_only = frozenset(
        {"session_id", "soul_id", "user_id", "background_id", "template_id", "character_snapshot", "persona_state"}
        | {"turn", "continued_from", "memory_update_suggested", "memory_update_reason", "created_at", "updated_at"}
    )


class SessionOut(BaseModel):
    session_id: str
    soul_id: str
    user_id: str
    people: list[str]
    souls: list[str]
    title: str
    background_id: str | None
    template_id: str
    character_snapshot: CharacterSnapshot
    persona_state: PersonaState
    turn: int
    continued_from: str | None
    memory_update_suggested: bool = Field(description="whether so much has happened that memory should be updated")
    memory_update_reason: str
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, session: Session) -> "SessionOut":
        times = {"created_at": iso(session.created_at), "updated_at": iso(session.updated_at)}
        hint = {"memory_update_suggested": bool(session.memory_hint), "memory_update_reason": session.memory_hint}
        return cls(**asdict(session) | {"people": list(session.people), "souls": sorted(session.souls)} | hint | times)


class OpenedSession(SessionOut):
    greeting: str | None = Field(description="the words with which the soul opened it, if it did")


@router.get("")
async def list_sessions(
    caller: Reader, services: Served, soul_id: Id | None = None, limit: Limit = 100
) -> list[SessionOut]:
    """List sessions, the most recently used first, groups included; with `soul_id` only those with one soul."""
    async with services.stores.read() as tx:
        if caller.person is None:
            found = await tx.sessions.all(soul_id)
        else:
            found = await tx.sessions.with_person(caller.person, soul_id)
    return [SessionOut.of(session) for session in found if caller.sees_session(session)][:limit]


@router.post("", status_code=201)
@raises(*not_found("soul", "character", "background", "template"), MAY_NOT_GATHER, ANOTHER_PERSON)
async def create_session(wanted: NewSession, caller: Somebody, services: Served) -> SessionOut:
    """Create a session without a greeting. It keeps a snapshot of its character as it is now."""
    caller = caller.acting_for(wanted.user_id)
    if wanted.people:
        refuse_to_gather(caller)
    persona = services.context.persona
    async with services.stores.write() as tx:
        await caller.check_background(tx, wanted.background_id)
        session = await new_session(
            tx,
            await caller.soul(tx, wanted.soul_id),
            session_id=new_id("sess"),
            user_id=caller.one_person,
            mode=persona.default_mode,
            now=services.now(),
            template_id=wanted.template_id or persona.default_template,
            people=wanted.people,
            souls=await allowed_souls(tx, {*wanted.souls} - {wanted.soul_id}, caller),
            **wanted.model_dump(include={"title", "character_id", "background_id"}),
        )
        await tx.sessions.add(session)
    services.announce_session(session, "created")
    return SessionOut.of(session)


@router.post("/open")
@raises(*ADMITTED)
async def open_session(wanted: Opening, caller: Somebody, services: Served) -> OpenedSession:
    """Create the session if needed, and begin it with a greeting of its character.

    A session that already has messages is left as it is.
    """
    request = TurnRequest(text="", **wanted.model_dump(exclude={"greeting"}))
    request = await for_caller(request, caller, services.stores)
    session, greeting = await open_with_greeting(services.context, request, wanted.greeting)
    return OpenedSession(**SessionOut.of(session).model_dump(), greeting=greeting)


@router.get("/{session_id}")
async def read_session(session_id: Id, caller: Reader, services: Served) -> SessionOut:
    async with services.stores.read() as tx:
        return SessionOut.of(await caller.session(tx, session_id))


@router.patch("/{session_id}")
@raises(*EDITING)
async def edit_session(session_id: Id, patch: SessionPatch, caller: Reader, services: Served) -> SessionOut:
    """Change the title of a session, or who takes part: after a running turn, and from the next message on.

    Owners, and keys that act for anybody, bring people together. The session's own person may remove others and choose
    the souls, and everybody may leave.
    """
    async with services.stores.read() as tx:
        session = await caller.session(tx, session_id)
    if changes_members(session, patch):
        async with services.locks.hold(session_id), services.stores.write() as tx:
            await change_members(tx, await caller.session(tx, session_id), patch, caller, services.now())
    async with services.stores.write() as tx:
        if patch.title is not None:
            await tx.sessions.retitle(session_id, patch.title, services.now())
        edited = await tx.sessions.get(session_id)
    # Those who have left hear of it too.
    all_of_them = replace(edited, people=(*session.audience, *edited.people), souls=session.souls | edited.souls)
    services.announce_session(all_of_them, "edited" if patch.title is None else "title")
    return SessionOut.of(edited)


@router.put("/{session_id}")
@raises(*not_found("session"), *EDITING)
async def put_session(session_id: Id, wanted: SessionEdit, caller: Reader, services: Served) -> SessionOut:
    """Send a session back as it was read, perhaps edited as by `PATCH`; what cannot be changed is ignored."""
    return await edit_session(session_id, wanted, caller, services)


@router.delete("/{session_id}", status_code=204)
@raises(NOT_OWN_TO_DELETE, SESSION_BUSY, NO_EVENT_LIBRARY)
async def delete_session(session_id: Id, caller: Reader, services: Served) -> None:
    """Wait for a running turn, then delete the session with its messages and the events made from it alone."""
    async with services.stores.read() as tx:
        _check_own(await caller.session(tx, session_id), caller)
    await delete_conversation(session_id, services)


def _check_own(session: Session, caller: Caller) -> None:
    if not caller.is_owner and caller.person != session.user_id:
        raise Forbidden("only its own person or an owner may delete a session: leave it with PATCH and `people`")


async def delete_conversation(session_id: str, services: Services) -> None:
    """Delete the session after a running turn, with all that was made from it alone."""
    async with services.locks.hold(session_id):
        async with services.stores.read() as tx:
            session = await tx.sessions.get(session_id)
        await services.forget(session_id)
        async with services.stores.write() as tx:
            await tx.sessions.delete(session_id)
    services.announce_session(session, "deleted")

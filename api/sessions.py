"""Sessions: list, create, open with a greeting, read, rename and delete; their messages and their persona mode."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from soulgraph.api.auth import chatter, owner
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id, Title, UserId
from soulgraph.api.services import Served
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.greeting import open_session as open_with_greeting
from soulgraph.soul.modes import Mode, PersonaState, Source, changed, chosen_between_turns, default_state
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import DEFAULT_USER, new_id, new_session
from soulgraph.stores.records import CharacterSnapshot, Message, Session

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Limit = Annotated[int, Query(ge=1, le=1000)]


class NewSession(BaseModel):
    model_config = ConfigDict(extra="forbid")

    soul_id: Id
    user_id: UserId = DEFAULT_USER
    title: Title = ""
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None


class Opening(BaseModel):
    model_config = ConfigDict(extra="forbid")

    soul_id: Id | None = Field(None, description="without it the terminal's soul is used")
    session_id: Id | None = Field(None, description="without it the usual conversation of this user is opened")
    terminal_id: Id | None = None
    user_id: UserId = DEFAULT_USER
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None
    greeting: int = Field(0, ge=0, description="which of the character's greetings, counted from 0")


class SessionPatch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Title


class SessionEdit(Body):
    read_only = frozenset(
        {"session_id", "soul_id", "user_id", "background_id", "template_id", "character_snapshot", "persona_state"}
        | {"turn", "continued_from", "memory_update_suggested", "memory_update_reason", "created_at", "updated_at"}
    )

    title: Title


class ModeChoice(Body):
    read_only = frozenset({"since"})

    mode: Mode
    mode_source: Source = Field("user", description="`default` goes back to the default mode")
    ttl_turns: int | None = Field(None, ge=0, le=10_000, description="0 or null: the usual number")
    notes: Title = ""


class SessionOut(BaseModel):
    session_id: str
    soul_id: str
    user_id: str
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
        return cls(**asdict(session) | hint | times)


class OpenedSession(SessionOut):
    greeting: str | None = Field(description="the words with which the soul opened it, if it did")


class MessageOut(BaseModel):
    message_id: int
    turn_id: str
    role: str
    content: str
    archived: bool
    input_id: str | None
    proactive: bool
    timestamp: str

    @classmethod
    def of(cls, message: Message) -> "MessageOut":
        return cls(**asdict(message), timestamp=iso(message.created_at))


@router.get("", dependencies=[chatter])
async def list_sessions(services: Served, soul_id: Id | None = None, limit: Limit = 100) -> list[SessionOut]:
    """List sessions, the most recently used first; with `soul_id` only those of one soul."""
    async with services.stores.read() as tx:
        return [SessionOut.of(session) for session in await tx.sessions.all(soul_id, limit)]


@router.post("", status_code=201, dependencies=[chatter])
async def create_session(wanted: NewSession, services: Served) -> SessionOut:
    """Create a session without a greeting. It keeps a snapshot of its character as it is now."""
    persona = services.context.persona
    async with services.stores.write() as tx:
        soul = await tx.souls.get(wanted.soul_id)
        session = await new_session(
            tx,
            soul,
            session_id=new_id("sess"),
            mode=persona.default_mode,
            now=services.now(),
            **wanted.model_dump(exclude={"soul_id", "template_id"}),
            template_id=wanted.template_id or persona.default_template,
        )
        await tx.sessions.add(session)
    return SessionOut.of(session)


@router.post("/open", dependencies=[chatter])
async def open_session(wanted: Opening, services: Served) -> OpenedSession:
    """Create the session if needed, and begin it with a greeting of its character.

    A session that already has messages is left as it is.
    """
    request = TurnRequest(text="", **wanted.model_dump(exclude={"greeting"}))
    session, greeting = await open_with_greeting(services.context, request, wanted.greeting)
    return OpenedSession(**SessionOut.of(session).model_dump(), greeting=greeting)


@router.get("/{session_id}", dependencies=[chatter])
async def read_session(session_id: Id, services: Served) -> SessionOut:
    async with services.stores.read() as tx:
        return SessionOut.of(await tx.sessions.get(session_id))


@router.patch("/{session_id}", dependencies=[chatter])
async def retitle_session(session_id: Id, patch: SessionPatch, services: Served) -> SessionOut:
    """Change the title of a session."""
    async with services.stores.write() as tx:
        await tx.sessions.retitle(session_id, patch.title, services.now())
        return SessionOut.of(await tx.sessions.get(session_id))


@router.put("/{session_id}", dependencies=[chatter])
async def put_session(session_id: Id, wanted: SessionEdit, services: Served) -> SessionOut:
    """Send a session back as it was read, perhaps with another title; what cannot be changed is ignored."""
    return await retitle_session(session_id, SessionPatch(title=wanted.title), services)


@router.delete("/{session_id}", status_code=204, dependencies=[owner])
async def delete_session(session_id: Id, services: Served) -> None:
    """Wait for a running turn, then delete the session with its messages and the events made from it alone."""
    async with services.locks.hold(session_id):
        async with services.stores.read() as tx:
            await tx.sessions.get(session_id)
        await services.forget(session_id)
        async with services.stores.write() as tx:
            await tx.sessions.delete(session_id)
        await services.checkpointer.adelete_thread(session_id)


@router.get("/{session_id}/messages", dependencies=[chatter])
async def list_messages(session_id: Id, services: Served, after: int = 0, limit: Limit = 200) -> list[MessageOut]:
    """List the messages, the oldest first; pass the last `message_id` as `after` for the next page."""
    async with services.stores.read() as tx:
        await tx.sessions.get(session_id)
        return [MessageOut.of(message) for message in await tx.messages.page(session_id, after, limit)]


@router.get("/{session_id}/persona-state", dependencies=[chatter])
async def read_persona_state(session_id: Id, services: Served) -> PersonaState:
    """Read the session's persona mode, who chose it, and for how many more turns it lasts."""
    async with services.stores.read() as tx:
        return (await tx.sessions.get(session_id)).persona_state


@router.put("/{session_id}/persona-state", dependencies=[chatter])
async def choose_mode(session_id: Id, choice: ModeChoice, services: Served) -> PersonaState:
    """Choose the persona mode for the next `ttl_turns` turns, as if the user had asked for it in the chat."""
    if choice.mode_source == "default":
        return await reset_mode(session_id, services)
    ttl_turns = choice.ttl_turns or services.context.persona.mode_ttl_turns
    state = chosen_between_turns(choice.mode, iso(services.now()), ttl_turns, choice.notes)
    return await _set_state(session_id, state, services)


@router.delete("/{session_id}/persona-state", dependencies=[chatter])
async def reset_mode(session_id: Id, services: Served) -> PersonaState:
    """Go back to the default persona mode."""
    default = default_state(services.context.persona.default_mode, iso(services.now()))
    return await _set_state(session_id, default, services)


async def _set_state(session_id: str, state: PersonaState, services: Served) -> PersonaState:
    """Store the state once a running turn has ended: that would overwrite it otherwise."""
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await tx.sessions.get(session_id)
        await tx.sessions.set_persona_state(session_id, state, services.now())
    if switch := changed(session.persona_state, state):
        ids = {"session_id": session_id, "soul_id": session.soul_id, "turn_id": None}
        services.context.telemetry.emit("persona.mode.changed", **ids, **switch._asdict())
    return state

"""The persona mode of a session: read it, choose one, and go back to the default."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id, Title
from soulgraph.api.raising import SESSION_BUSY, raises
from soulgraph.api.services import Served, Services
from soulgraph.soul.modes import Mode, PersonaState, Source, changed, chosen_between_turns, default_state
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NUMBER

router = APIRouter(prefix="/v1/sessions/{session_id}/persona-state", tags=["sessions"])


class ModeChoice(Body):
    model_config = example({"mode": "rational", "ttl_turns": 20})

    read_only = frozenset({"since"})

    mode: Mode
    mode_source: Source = Field("user", description="`default` goes back to the default mode")
    ttl_turns: Annotated[int, NUMBER] | None = Field(None, ge=0, le=10_000, description="0 or null: the usual number")
    notes: Title = ""


@router.get("")
async def read_persona_state(session_id: Id, caller: Reader, services: Served) -> PersonaState:
    """Read the session's persona mode, who chose it, and for how many more turns it lasts."""
    async with services.stores.read() as tx:
        return (await caller.session(tx, session_id)).persona_state


@router.put("")
@raises(SESSION_BUSY)
async def choose_mode(session_id: Id, choice: ModeChoice, caller: Reader, services: Served) -> PersonaState:
    """Choose the persona mode for the next `ttl_turns` turns, as if the user had asked for it in the chat."""
    if choice.mode_source == "default":
        return await reset_mode(session_id, caller, services)
    ttl_turns = choice.ttl_turns or services.context.persona.mode_ttl_turns
    state = chosen_between_turns(choice.mode, iso(services.now()), ttl_turns, choice.notes)
    return await _set_state(session_id, state, caller, services)


@router.delete("")
@raises(SESSION_BUSY)
async def reset_mode(session_id: Id, caller: Reader, services: Served) -> PersonaState:
    """Go back to the default persona mode."""
    default = default_state(services.context.persona.default_mode, iso(services.now()))
    return await _set_state(session_id, default, caller, services)


async def _set_state(session_id: str, state: PersonaState, caller: Caller, services: Services) -> PersonaState:
    """Store the state once a running turn has ended: that would overwrite it otherwise."""
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)  # before the wait: who may not see it must not notice its turns
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await caller.session(tx, session_id)
        await tx.sessions.set_persona_state(session_id, state, services.now())
    services.announce_session(session, "persona")
    if switch := changed(session.persona_state, state):
        ids = {"session_id": session_id, "soul_id": session.soul_id, "turn_id": None}
        services.context.telemetry.emit("persona.mode.changed", **ids, **switch._asdict())
    return state

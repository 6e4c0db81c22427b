"""What happens before a turn: who is spoken to and where, and whether it was answered before."""

from dataclasses import asdict, dataclass
from typing import cast

from soulgraph.errors import Conflict
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Json, Said
from soulgraph.stores.factories import default_session_id, new_id
from soulgraph.stores.records import Session
from soulgraph.stores.stores import Transaction


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a caller sends; what is missing is resolved before the turn begins."""

    text: str
    user_id: str
    input_id: str | None = None
    session_id: str | None = None
    soul_id: str | None = None
    terminal_id: str | None = None
    character_id: str | None = None
    background_id: str | None = None
    template_id: str | None = None


async def admitted(context: Context, request: TurnRequest) -> Said:
    """Who is spoken to, and in which conversation."""
    async with context.stores.read() as tx:
        session = await tx.sessions.find(request.session_id) if request.session_id else None
        soul_id = request.soul_id or (session.soul_id if session else await _soul_of(tx, request.terminal_id))
        if session:
            check_session(session, request, soul_id)
        else:
            await tx.souls.get(soul_id)
    setting = request.terminal_id, request.character_id, request.background_id, request.template_id
    said = {
        **asdict(request),
        "soul_id": soul_id,
        "session_id": request.session_id or default_session_id(soul_id, request.user_id, *setting),
        "input_id": request.input_id or new_id("input"),
        "turn_id": new_id("turn"),
    }
    return cast(Said, said)


async def answered(context: Context, said: Said) -> Json | None:
    """The stored answer, if this input was answered before."""
    async with context.stores.read() as tx:
        known = await tx.turns.find(said["session_id"], said["input_id"])
    return known.answer if known else None


def names_of(said: Said) -> dict[str, str]:
    """What a trace finds the turn by."""
    return {"session_id": said["session_id"], "soul_id": said["soul_id"], "turn_id": said["turn_id"]}


async def _soul_of(tx: Transaction, terminal_id: str | None) -> str:
    terminal = await tx.terminals.find(terminal_id) if terminal_id else None
    if terminal is None or terminal.soul_id is None:
        raise Conflict("soul_not_selected", "soul selection is required before chat: POST /v1/souls/select")
    return terminal.soul_id


def check_session(session: Session, request: TurnRequest, soul_id: str) -> None:
    """A conversation keeps its soul, character, background and template."""
    asked = {
        "soul_id": (soul_id, session.soul_id),
        "character_id": (request.character_id, session.character_snapshot["source_preset"]),
        "background_id": (request.background_id, session.background_id),
        "template_id": (request.template_id, session.template_id),
    }
    for name, (wanted, kept) in asked.items():
        if wanted is not None and wanted != kept:
            raise Conflict(
                "session_mismatch", f"this session has {name} {kept!r}: start another session for {wanted!r}"
            )

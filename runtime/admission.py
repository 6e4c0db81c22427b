"""Before a turn: resolves its soul, session and ids, checks them, and finds the answer to a repeated input."""

from dataclasses import asdict, dataclass
from typing import cast

from soulgraph.errors import Conflict
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import Utterance
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.factories import default_session_id, new_id
from soulgraph.stores.records import Session, Terminal
from soulgraph.stores.stores import Stores


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a caller sends. Fields that are None are resolved by `admit`."""

    text: str
    user_id: str | None = None
    input_id: str | None = None
    session_id: str | None = None
    soul_id: str | None = None
    terminal_id: str | None = None
    character_id: str | None = None
    background_id: str | None = None
    template_id: str | None = None


async def admit(stores: Stores, request: TurnRequest) -> Utterance:
    """The request with its soul, session and ids resolved.

    Who speaks is who the request says, else the session's person, else the terminal's usual one. Raises NotFound if
    the soul is unknown, and Conflict if no soul is selected, or the session has other people or another setting.
    """
    async with stores.read() as tx:
        session = await tx.sessions.find(request.session_id) if request.session_id else None
        terminal = await tx.terminals.find(request.terminal_id) if request.terminal_id and not session else None
        soul_id = request.soul_id or (session.soul_id if session else _soul_of(terminal))
        usual = session or terminal
        user_id = request.user_id or (usual.user_id if usual else DEFAULT_USER)
        if session:
            check_session(session, request, soul_id, user_id)
        else:
            await tx.souls.get(soul_id)
    setting = request.terminal_id, request.character_id, request.background_id, request.template_id
    resolved = {
        **asdict(request),
        "soul_id": soul_id,
        "user_id": user_id,
        "session_id": request.session_id or default_session_id(soul_id, user_id, *setting),
        "input_id": request.input_id or new_id("input"),
        "turn_id": new_id("turn"),
    }
    return cast(Utterance, resolved)


async def stored_answer(stores: Stores, utterance: Utterance) -> Answer | None:
    """The answer to this input if it was answered before, else None."""
    async with stores.read() as tx:
        turn = await tx.turns.find(utterance["session_id"], utterance["input_id"])
        said = await tx.messages.by_input(utterance["session_id"], utterance["input_id"]) if turn else None
    if said and said.user_id != utterance["user_id"]:
        raise Conflict("session_mismatch", "somebody else has used this input_id in this session: choose another")
    return cast(Answer, turn.answer) if turn and turn.answer else None


def _soul_of(terminal: Terminal | None) -> str:
    if terminal is None or terminal.soul_id is None:
        raise Conflict("soul_not_selected", "soul selection is required before chat: POST /v1/souls/select")
    return terminal.soul_id


def check_session(session: Session, request: TurnRequest, soul_id: str, user_id: str) -> None:
    """Raise Conflict if the request has another person, soul, character, background or template than the session."""
    if user_id not in session.audience:
        raise Conflict("session_mismatch", f"{user_id!r} does not take part in this session: start another for them")
    fields = {
        "soul_id": (soul_id, soul_id if soul_id in session.souls else session.soul_id),
        "character_id": (request.character_id, session.snapshot_of(soul_id)["source_preset"]),
        "background_id": (request.background_id, session.background_id),
        "template_id": (request.template_id, session.template_id),
    }
    for name, (wanted, actual) in fields.items():
        if wanted is not None and wanted != actual:
            raise Conflict(
                "session_mismatch", f"this session has {name} {actual!r}: start another session for {wanted!r}"
            )

"""Before a turn: resolves its soul, session and ids, checks them, and finds the answer to a repeated input."""

from dataclasses import asdict, dataclass, replace
from typing import cast

from soulgraph.errors import Conflict, InvalidInput, NotFound
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import Utterance
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.factories import default_session_id, new_id
from soulgraph.stores.records import Message, Session, Terminal, Turn
from soulgraph.stores.stores import Stores, Transaction


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a caller sends. Fields that are None are resolved by `admit`, and an empty text by the replaced message.

    `unsaid` and `continues` are those of `Utterance`.
    """

    text: str
    user_id: str | None = None
    input_id: str | None = None
    session_id: str | None = None
    soul_id: str | None = None
    terminal_id: str | None = None
    character_id: str | None = None
    background_id: str | None = None
    template_id: str | None = None
    replaces: int | None = None
    unsaid: bool = False
    continues: str = ""


async def admit(stores: Stores, request: TurnRequest) -> Utterance:
    """The request with its soul, session and ids resolved.

    Who speaks is who the request says, else the session's person, else the terminal's usual one. Raises NotFound if
    the soul is unknown or the message to replace is not theirs, and Conflict if no soul is selected, or the session has
    other people or another setting.
    """
    async with stores.read() as tx:
        if request.replaces is not None:
            request = await _resolve_replacement(tx, request, request.replaces)
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
    """The answer to this input if it was answered before, else None; raises as `earlier_turn`."""
    turn = await earlier_turn(stores, utterance)
    return cast(Answer, turn.answer) if turn and turn.answer else None


async def earlier_turn(stores: Stores, utterance: Utterance) -> Turn | None:
    """The turn in which this input was heard before, answered or not; to be asked while the session is locked.

    A message that is to be answered anew is not answered as long as it is there. Raises NotFound if the message to
    replace is gone otherwise, and Conflict if others have spoken since.
    """
    async with stores.read() as tx:
        turn = await tx.turns.find(utterance["session_id"], utterance["input_id"])
        said = await tx.messages.by_input(utterance["session_id"], utterance["input_id"]) if turn else None
        if said and said.user_id != utterance["user_id"]:
            raise Conflict("session_mismatch", "somebody else has used this input_id in this session: choose another")
        if (replaced := utterance.get("replaces")) is not None:
            turn = await _standing_turn(tx, utterance, replaced)
    return turn


async def _resolve_replacement(tx: Transaction, request: TurnRequest, replaced: int) -> TurnRequest:
    """The request with the soul and the person of the message that it replaces, and without a text with its own.

    A message that is gone may have been replaced by this very request: then it is that turn's.
    """
    session_id = request.session_id or ""
    message = await tx.messages.find(session_id, replaced)
    if message is None:
        turn = await _turn_in_place(tx, session_id, replaced, request.text, request.input_id)
        message = await tx.messages.by_input(session_id, turn.input_id) if turn else None
        input_id = turn.input_id if turn else None
    else:
        input_id = _input_of(message, request)
    if message is None or request.user_id not in (None, message.user_id):
        raise NotFound("message", str(replaced))
    return replace(
        request,
        text=request.text or message.content,
        input_id=input_id,
        user_id=message.user_id or None,
        soul_id=request.soul_id or message.soul_id or None,
    )


def _input_of(message: Message, request: TurnRequest) -> str | None:
    """The id of the input that replaces this message: its own if it is answered anew, and another one if not."""
    if message.role != "user":
        raise InvalidInput("replaces: the soul said this: name the person's message before it")
    if not request.text and request.input_id not in (None, message.input_id):
        raise InvalidInput("input_id: a message that is answered anew keeps its own: leave this one out")
    if request.text and request.input_id and request.input_id == message.input_id:
        raise InvalidInput("input_id: what is said otherwise is another input: choose another id")
    return request.input_id if request.text else message.input_id


async def _standing_turn(tx: Transaction, utterance: Utterance, replaced: int) -> Turn | None:
    """The turn that has replaced the message, or has the same input; None if it is still to be replaced."""
    session_id, input_id = utterance["session_id"], utterance["input_id"]
    message = await tx.messages.find(session_id, replaced)
    if message is None:
        turn = await _turn_in_place(tx, session_id, replaced, utterance["text"], input_id)
        if turn is None:
            raise NotFound("message", str(replaced))
        return turn
    turn = await tx.turns.find(session_id, input_id) if input_id != message.input_id else None
    if turn and turn.answer:
        return turn
    if await tx.messages.spoken_by_others(session_id, replaced, utterance["user_id"]):
        raise Conflict("others_spoke", "others have spoken since, and that would be taken back too: say something new")
    return None


async def _turn_in_place(
    tx: Transaction, session_id: str, replaced: int, text: str, input_id: str | None
) -> Turn | None:
    """The turn with this input if it was answered, or the one that has replaced the message with the same text."""
    named = await tx.turns.find(session_id, input_id) if input_id else None
    if named and named.answer:
        return named
    turn = await tx.turns.in_place_of(session_id, replaced)
    said = await tx.messages.by_input(session_id, turn.input_id) if turn else None
    return turn if said and text in ("", said.content) else None


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

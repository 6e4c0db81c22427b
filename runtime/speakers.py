"""Who speaks in a turn whose words came from a recogniser that knows voices."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from soulgraph.runtime.admission import TurnRequest
from soulgraph.soul.people import EVERYONE, NOBODY
from soulgraph.soul.speakers import guest_of_input, is_guest, person_heard
from soulgraph.stores.records import Session, Terminal
from soulgraph.stores.stores import Stores, Transaction


async def for_speaker(
    request: TurnRequest, speakers: Collection[str], table: Mapping[str, str], stores: Stores
) -> TurnRequest:
    """The request with the person who was heard, for a caller that may act for anybody.

    Whom nobody knows is a guest. Who does not take part in the session that is named talks in one of their own with the
    same soul: nobody knows who will speak before they do.
    """
    if not speakers:
        return request
    async with stores.read() as tx:
        session = await tx.sessions.find(request.session_id) if request.session_id else None
        terminal = await tx.terminals.find(request.terminal_id) if request.terminal_id else None
        ours = [one.soul_id for one in (session, terminal) if one and one.soul_id]
        soul_id = request.soul_id or next(iter(ours), None)
        known = await _known(tx, soul_id, session, terminal)
    heard = person_heard(speakers, known, table, _stranger(request, session))
    if heard is None:
        return request
    if session and heard not in session.audience and request.replaces is None:
        return replace(request, user_id=heard, session_id=None, soul_id=soul_id)
    return replace(request, user_id=heard)


async def _known(tx: Transaction, soul_id: str | None, session: Session | None, terminal: Terminal | None) -> set[str]:
    """The people whose ids a recogniser may name: who has met the soul, has a key, or is expected here."""
    souls = await tx.souls.called(soul_id) if soul_id else []
    relations = await tx.relations.all(soul_id) if soul_id else []
    keys = [key.user_id for key in await tx.keys.all() if key.user_id and not key.revoked_at]
    expected = {*(session.audience if session else ()), *([terminal.user_id] if terminal else ())}
    people = {*expected, *keys, *(one.user_id for one in relations), *(soul.user_id for soul in souls)}
    return people - {NOBODY, EVERYONE}


def _stranger(request: TurnRequest, session: Session | None) -> str | None:
    """A voice without a name is the guest with whom the session is, or the one who sent this input before."""
    if session and is_guest(session.user_id):
        return session.user_id
    return guest_of_input(request.terminal_id, request.input_id) if request.input_id else None

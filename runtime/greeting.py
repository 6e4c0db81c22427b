"""Opens sessions with a greeting of the soul's character."""

from dataclasses import replace
from typing import NamedTuple

from soulgraph.errors import InvalidInput
from soulgraph.nodes.context import Context
from soulgraph.nodes.pad_update import first_session
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.admission import TurnRequest, admit, check_session
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import NewMessage, Session
from soulgraph.stores.stores import Transaction


class Opened(NamedTuple):
    """A session and the greeting it began with; None if it began without one."""

    session: Session
    greeting: str | None


async def open_session(context: Context, request: TurnRequest, choice: int) -> Opened:
    """Open the session of this request (its text is empty) with the character's greeting number `choice`.

    A session that has messages is returned unchanged, without waiting for its turns.
    """
    utterance = await admit(context.stores, request)
    session_id = utterance["session_id"]
    async with context.stores.read() as tx:
        if opened := await _already_open(tx, session_id):
            return opened
    async with context.locks.hold(session_id), context.stores.write() as tx:
        session = await tx.sessions.find(session_id)
        if session:
            check_session(session, request, utterance["soul_id"], utterance["user_id"])
        # Asked again under the lock: a turn may have spoken while we waited for it.
        if opened := await _already_open(tx, session_id):
            return opened
        opened = await _greet(tx, session, utterance, choice, context)
    context.outlets.listeners.session_changed(opened.session, "created")
    return opened


async def _already_open(tx: Transaction, session_id: str) -> Opened | None:
    """The session if it has messages, else None. Its greeting is the first message, if the soul said that."""
    first = await tx.messages.page(session_id, limit=1)
    if not first:
        return None
    return Opened(await tx.sessions.get(session_id), first[0].content if first[0].role == "assistant" else None)


async def _greet(
    tx: Transaction, session: Session | None, utterance: Utterance, choice: int, context: Context
) -> Opened:
    """Store the greeting as the first message, in a new session if there is none yet."""
    now = context.clock()
    if session is None:
        session = await first_session(tx, await tx.souls.get(utterance["soul_id"]), utterance, context, now)
        await tx.sessions.add(session)
    greeting = await _chosen_greeting(tx, session, choice)
    if greeting is None:
        return Opened(session, None)
    message = NewMessage.said_in(session, new_id("greeting"), "assistant", greeting, now)
    await tx.messages.append(session.session_id, [message])
    await tx.sessions.touch(session.session_id, now)
    return Opened(replace(session, updated_at=now), greeting)


async def _chosen_greeting(tx: Transaction, session: Session, choice: int) -> str | None:
    """None if the character has no greetings, or if the session continues another one, which was greeted already.

    Raises InvalidInput if there is no greeting with this number.
    """
    preset = session.character_snapshot["source_preset"]
    character = await tx.characters.find(preset) if preset and not session.continued_from else None
    greetings: list[str] = character.data.get("greetings", []) if character else []
    if not greetings:
        return None
    if choice >= len(greetings):
        raise InvalidInput(f"greeting: the character has {len(greetings)}, so the last is number {len(greetings) - 1}")
    return greetings[choice]

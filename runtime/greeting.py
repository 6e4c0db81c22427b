"""Sessions that begin with a greeting of the soul's character, before anything was said."""

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
    """A conversation, and the words with which the soul opened it, if it did."""

    session: Session
    greeting: str | None


async def open_session(context: Context, request: TurnRequest, choice: int) -> Opened:
    """The session, opened with the character's greeting number `choice`. The request's text is empty.

    A session in which something was said already is left as it is, and its turns are not waited for.
    """
    utterance = await admit(context.stores, request)
    session_id = utterance["session_id"]
    async with context.stores.read() as tx:
        if known := await _begun(tx, session_id):
            return known
    async with context.locks.hold(session_id), context.stores.write() as tx:
        session = await tx.sessions.find(session_id)
        if session:
            check_session(session, request, utterance["soul_id"])
        return await _begun(tx, session_id) or await _begin(tx, session, utterance, choice, context)


async def _begun(tx: Transaction, session_id: str) -> Opened | None:
    first = await tx.messages.page(session_id, limit=1)
    if not first:
        return None
    return Opened(await tx.sessions.get(session_id), first[0].content if first[0].role == "assistant" else None)


async def _begin(
    tx: Transaction, session: Session | None, utterance: Utterance, choice: int, context: Context
) -> Opened:
    now = context.clock()
    if session is None:
        session = await first_session(tx, await tx.souls.get(utterance["soul_id"]), utterance, context, now)
        await tx.sessions.add(session)
    greeting = await _greeting(tx, session, choice)
    if greeting is None:
        return Opened(session, None)
    await tx.messages.append(session.session_id, [NewMessage(new_id("greeting"), "assistant", greeting, now)])
    await tx.sessions.touch(session.session_id, now)
    return Opened(replace(session, updated_at=now), greeting)


async def _greeting(tx: Transaction, session: Session, choice: int) -> str | None:
    """The one that was chosen. Who goes on with a conversation does not greet again."""
    preset = session.character_snapshot["source_preset"]
    character = await tx.characters.find(preset) if preset and not session.continued_from else None
    greetings: list[str] = character.data.get("greetings", []) if character else []
    if not greetings:
        return None
    if choice >= len(greetings):
        raise InvalidInput(f"greeting: the character has {len(greetings)}, so the last is number {len(greetings) - 1}")
    return greetings[choice]

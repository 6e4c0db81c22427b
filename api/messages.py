"""The messages of a session: list them, correct or delete one, and say who else may know of it."""

from dataclasses import asdict
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, StringConstraints

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import AfterId, BeforeId, Id, MessageId, SharedWith
from soulgraph.api.raising import SESSION_BUSY, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.nodes.facts import reexamine
from soulgraph.soul.people import Visibility, others, visibility_of
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NOT_BLANK, STORABLE_TEXT
from soulgraph.stores.factories import title_of
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Message, Session
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/sessions/{session_id}/messages", tags=["sessions"])
Limit = Annotated[int, Query(ge=1, le=1000)]
Newest = Annotated[bool, Query(description="the last page")]


class MessageOut(BaseModel):
    message_id: int
    turn_id: str
    role: str
    content: str
    user_id: str
    soul_id: str
    archived: bool
    input_id: str | None
    proactive: bool
    timestamp: str

    @classmethod
    def of(cls, message: Message) -> Self:
        return cls(**asdict(message), timestamp=iso(message.created_at))


class MessagePatch(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "I play the cello"}]})

    content: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True), NOT_BLANK, STORABLE_TEXT]


class Sharing(Body):
    model_config = example({"shared_with": ["bob"]})

    shared_with: SharedWith


class SharingOut(BaseModel):
    message_id: int
    user_id: str
    visibility: Visibility
    shared_with: list[str]


@router.get("")
async def list_messages(
    session_id: Id,
    caller: Reader,
    services: Served,
    after: AfterId = 0,
    before: BeforeId = None,
    newest: Newest = False,
    limit: Limit = 200,
) -> list[MessageOut]:
    """List the messages, the oldest first; pass the last `message_id` as `after` for the next page.

    With `newest` it is the last page, and with `before` the one before a `message_id`: also the oldest first. In a
    group a person gets those that were said while they took part.
    """
    if (after > 0) + (before is not None) + newest > 1:
        raise InvalidInput("send one of `after`, `before` and `newest`")
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)
        if newest or before is not None:
            found = await _heard_before(tx, session_id, caller, before or MAX_ID, limit)
        else:
            found = await heard_messages(tx, session_id, caller, after, limit)
    return [MessageOut.of(message) for message in found]


@router.patch("/{message_id}")
@raises(SESSION_BUSY)
async def correct_message(
    session_id: Id, message_id: MessageId, patch: MessagePatch, caller: Reader, services: Served
) -> MessageOut:
    """Give a message other words, after a running turn. The soul remembers them from then on in place of the old ones.

    It is for the person who said it, or to whom it was said, and for owners. Facts that were drawn from the old words
    alone go with them, and new ones are read; what else was drawn (events, slots, the profile) stays.
    """
    await _check_session(session_id, caller, services)
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await caller.session(tx, session_id)
        message = await _own_message(tx, session_id, message_id, caller)
        corrected = await _reword(tx, session, message, patch.content, services)
    _forget_index(message, services, corrected=message_id)
    services.announce_session(session, "edited")
    return MessageOut.of(corrected)


async def correct_reply(session_id: str, message_id: int, content: str, services: Services) -> None:
    """Give what the soul has said other words, if it is still there: as the person was shown it."""
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await tx.sessions.get(session_id)
        message = await tx.messages.find(session_id, message_id)
        if message is None:
            return
        await _reword(tx, session, message, content, services)
    _forget_index(message, services, corrected=message_id)
    services.announce_session(session, "edited")


async def _reword(tx: Transaction, session: Session, message: Message, content: str, services: Services) -> Message:
    await tx.messages.correct(message, content)
    await _retitle(tx, session, message, title_of(content), services.now())
    if message.role == "assistant":
        await tx.turns.correct_reply(session.session_id, message.turn_id, content)
    corrected = await tx.messages.get(session.session_id, message.message_id)
    await reexamine(tx, corrected, services.context)
    return corrected


@router.delete("/{message_id}", status_code=204)
@raises(SESSION_BUSY)
async def delete_message(session_id: Id, message_id: MessageId, caller: Reader, services: Served) -> None:
    """Delete a message, after a running turn, and with it what finds it again; by the same people as a correction."""
    await _check_session(session_id, caller, services)
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await caller.session(tx, session_id)
        message = await _own_message(tx, session_id, message_id, caller)
        await tx.messages.delete(message)
        await _retitle(tx, session, message, "", services.now())
        if message.role == "assistant":
            await tx.turns.correct_reply(session_id, message.turn_id, "")
        else:
            await tx.outbox.drop(session_id, message.turn_id)
    _forget_index(message, services)
    services.announce_session(session, "edited")


@router.put("/{message_id}/sharing")
async def share_message(
    session_id: Id,
    message_id: MessageId,
    wanted: Sharing,
    caller: Reader,
    services: Served,
) -> SharingOut:
    """Let others know of a message, or take that back with an empty list. Who heard it goes on knowing it.

    It is for the person who said it, or to whom it was said, and for owners.
    """
    async with services.stores.write() as tx:
        await caller.session(tx, session_id)
        message = await _own_message(tx, session_id, message_id, caller)
        shared_with = others(message.user_id, (*message.people, *wanted.shared_with))
        for soul_id in message.witnesses:
            await tx.episodes.share(soul_id, message_id, message.user_id, shared_with)
    _forget_index(message, services)
    return SharingOut(
        message_id=message_id,
        user_id=message.user_id,
        visibility=visibility_of(shared_with),
        shared_with=list(shared_with),
    )


async def heard_messages(tx: Transaction, session_id: str, caller: Caller, after: int, limit: int) -> list[Message]:
    """The next messages that the caller's person has heard, the oldest first."""
    heard: list[Message] = []
    while len(heard) < limit and (page := await tx.messages.page(session_id, after, limit)):
        heard += filter(caller.heard, page)
        after = page[-1].message_id
    return heard[:limit]


async def _heard_before(tx: Transaction, session_id: str, caller: Caller, before: int, limit: int) -> list[Message]:
    """The last messages before an id that the caller's person has heard, the oldest first."""
    heard: list[Message] = []
    while len(heard) < limit and (page := await tx.messages.last(session_id, limit, before)):
        heard = [*filter(caller.heard, page), *heard]
        before = page[0].message_id
    return heard[-limit:]


async def _check_session(session_id: str, caller: Caller, services: Services) -> None:
    """Before its lock is waited for: who may not see a session takes no place in its queue."""
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)


async def _own_message(tx: Transaction, session_id: str, message_id: int, caller: Caller) -> Message:
    """The message if the caller's person has said it, or it was said to them; any for owners. Raises NotFound."""
    message = await tx.messages.get(session_id, message_id)
    if caller.person not in (None, message.user_id):
        raise NotFound("message", str(message_id))
    return message


async def _retitle(tx: Transaction, session: Session, message: Message, title: str, now: float) -> None:
    """A session that is called by the words of this message is called otherwise."""
    if message.role == "user" and session.title == title_of(message.content):
        await tx.sessions.retitle(session.session_id, title, now)


def _forget_index(message: Message, services: Services, corrected: int | None = None) -> None:
    """The next search of every soul that was present reads its index again."""
    if recall := services.context.memory.recall:
        for soul_id in message.witnesses:
            recall.forget_index(soul_id, corrected)

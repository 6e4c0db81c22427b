"""The messages of a session: list them, and say who else may know of one."""

from dataclasses import asdict
from typing import Annotated, Self

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id, SharedWith
from soulgraph.api.services import Served
from soulgraph.errors import NotFound
from soulgraph.soul.people import Visibility, others, visibility_of
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Message
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/sessions/{session_id}/messages", tags=["sessions"])
Limit = Annotated[int, Query(ge=1, le=1000)]
_MAX_ID = 2**63 - 1  # the largest that a database can compare
After = Annotated[int, Query(ge=0, le=_MAX_ID)]
MessageId = Annotated[int, Path(ge=1, le=_MAX_ID)]


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


class Sharing(Body):
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
    after: After = 0,
    limit: Limit = 200,
) -> list[MessageOut]:
    """List the messages, the oldest first; pass the last `message_id` as `after` for the next page.

    In a group a person gets those that were said while they took part.
    """
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)
        return [MessageOut.of(message) for message in await heard_messages(tx, session_id, caller, after, limit)]


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
        message = await _message(tx, session_id, message_id)
        if caller.person not in (None, message.user_id):
            raise NotFound("message", str(message_id))
        shared_with = others(message.user_id, (*message.people, *wanted.shared_with))
        souls = dict.fromkeys((message.soul_id, *message.souls))
        for soul_id in souls:
            await tx.episodes.share(soul_id, message_id, message.user_id, shared_with)
    if recall := services.context.memory.recall:
        for soul_id in souls:
            recall.forget_index(soul_id)
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


async def _message(tx: Transaction, session_id: str, message_id: int) -> Message:
    found = await tx.messages.page(session_id, message_id - 1, 1)
    if not found or found[0].message_id != message_id:
        raise NotFound("message", str(message_id))
    return found[0]

"""Fork a session: a new one that begins with what was said in it."""

from dataclasses import replace

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id, MessageNumber, Title
from soulgraph.api.raising import NOT_OWN_TO_FORK, SESSION_BUSY, not_found, raises
from soulgraph.api.services import Served
from soulgraph.api.sessions import SessionOut
from soulgraph.errors import Forbidden, NotFound
from soulgraph.stores.factories import new_id
from soulgraph.stores.forks import copy_conversation
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Session
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["sessions"])


class Fork(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"message_id": 2, "title": "What if"}]})

    message_id: MessageNumber | None = Field(None, description="the last message to go along; without it all do")
    title: Title | None = Field(None, description="without it as before")


@router.post("/fork", status_code=201)
@raises(*not_found("message"), NOT_OWN_TO_FORK, SESSION_BUSY)
async def fork_session(session_id: Id, wanted: Fork, caller: Reader, services: Served) -> SessionOut:
    """Begin a new session with everything that was said up to a message, after a running turn. The old one stays.

    It has the same soul, people, setting, persona versions and mode, and `continued_from` names the old one. What was
    heard there does not move the soul again.
    """
    now = services.now()
    async with services.stores.read() as tx:
        _check_own(await caller.session(tx, session_id), caller)
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await caller.session(tx, session_id)
        await _check_heard(tx, session_id, wanted.message_id, caller)
        fork = replace(
            session,
            session_id=new_id("sess"),
            title=session.title if wanted.title is None else wanted.title,
            continued_from=session_id,
            created_at=now,
            updated_at=now,
        )
        fork = await copy_conversation(tx, session, fork, wanted.message_id or MAX_ID)
    services.announce_session(fork, "created")
    return SessionOut.of(fork)


def _check_own(session: Session, caller: Caller) -> None:
    """A fork brings the same people together again, and that is not for everybody to do."""
    if not caller.acts_for_anybody and caller.person != session.user_id:
        raise Forbidden("only its own person or an owner may fork a group: ask them")


async def _check_heard(tx: Transaction, session_id: str, message_id: int | None, caller: Caller) -> None:
    if message_id is not None and not caller.heard(await tx.messages.get(session_id, message_id)):
        raise NotFound("message", str(message_id))

"""Which conversation a request of OpenAI's clients belongs to, and what it means there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import unquote

from fastapi.requests import HTTPConnection

from soulgraph.api.access import Caller
from soulgraph.api.chat import for_caller
from soulgraph.api.fields import MAX_TEXT
from soulgraph.api.messages import correct_reply
from soulgraph.api.openai_request import as_id, session_in
from soulgraph.api.resent_history import NEW, Understood, rounds_of, similar, understand
from soulgraph.api.services import Services
from soulgraph.api.talk import Talk
from soulgraph.runtime.admission import TurnRequest
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.soul.validation import flaw_of_text
from soulgraph.stores.factories import default_session_id
from soulgraph.stores.sessions import Conversation
from soulgraph.stores.stores import Transaction

SAME_CHAT_S = 3600.0
"""For so long a first line that is sent again, or almost so, does not begin another conversation."""

_READ = 400
"""Messages of a conversation that are laid beside those of a request."""
_SEARCHED = 100
"""Conversations of a person among which one without a name is looked for, the latest first."""
_UNNAMED = "openai:unnamed:"
"""Begins the ids of conversations that are found by their history alone."""
_OWN_NAMES = ("session_id",)
_CHAT_NAMES = ("chat_id", "conversation_id", "thread_id", "litellm_session_id", "trace_session_id")
_CHAT_HEADERS = ("X-OpenWebUI-Chat-Id", "X-LibreChat-Conversation-Id", "X-Conversation-Id", "X-Chat-Id")
_NO_NAME = re.compile(r"local(?::.*)?|new|null|none|undefined|\{\{.*\}\}", re.IGNORECASE)
"""What programs send for chats that have no name yet, and Open WebUI for all chats that it does not keep."""
_MEANINGS = ("edited", "again", "continued", "new")
"""The better, the later: of several conversations the one is meant that simply goes on."""


class Named(NamedTuple):
    """How a request names its conversation: by our own id, or as its program calls it."""

    session_id: str | None = None
    chat: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation, and what the request means in it. `last_message` is the last one stored there."""

    session_id: str
    understood: Understood = NEW
    last_message: int = 0


def named_in(connection: HTTPConnection, metadata: Any, session_id: str | None) -> Named:
    """`session_id` is that of our own header, which says it better than anything else."""
    if own := session_id or session_in(metadata, *_OWN_NAMES):
        return Named(session_id=own)
    sent = (connection.headers.get(name) for name in _CHAT_HEADERS)
    chat = next((unquote(value) for value in sent if value), None) or session_in(metadata, *_CHAT_NAMES)
    return Named(chat=None if chat and _NO_NAME.fullmatch(chat.strip()) else chat)


async def placed(talk: Talk, named: Named, wanted: TurnRequest, caller: Caller, services: Services) -> TurnRequest:
    """The turn that is wanted, in its conversation: something new, or in place of what is said again or otherwise.

    What the client shows of the last reply is what the soul has said from then on. Raises as `for_caller`.
    """
    soul_id = wanted.soul_id or ""
    session_id = named.session_id or (as_id(named.chat, soul_id, wanted.user_id or "") if named.chat else None)
    request = await for_caller(replace(wanted, session_id=session_id), caller, services.stores)
    user_id = request.user_id or DEFAULT_USER
    await _stopped(soul_id, user_id, services)
    async with services.stores.read() as tx:
        place = await _named(tx, talk, session_id, soul_id, bool(named.chat)) if session_id else None
        if place is None:
            place = await _sought(tx, talk, soul_id, user_id, services.now(), session_id)
        answered = wanted.input_id and await tx.turns.find(place.session_id, wanted.input_id)
    if answered:
        return replace(request, session_id=place.session_id)
    await _correct(place, services)
    return _request(request, place)


def _request(request: TurnRequest, place: Place) -> TurnRequest:
    """The same request sent again has the same input, so that what is said moves the soul once, whatever fails."""
    meant = place.understood
    is_said = meant.meaning in ("new", "edited")
    at = str(meant.replaces or 0), str(place.last_message)
    return replace(
        request,
        text=request.text if is_said else "",
        input_id=(request.input_id or as_id(request.text, place.session_id, *at)) if is_said else None,
        session_id=place.session_id,
        replaces=meant.replaces,
        unsaid=meant.replaces is not None,
        continues=meant.begun,
    )


async def _stopped(soul_id: str, user_id: str, services: Services) -> None:
    """Wait until what this person has stopped is stored: the next request shows what was read of it."""
    for turn in services.runner.under_way.stopping(soul_id, user_id):
        await turn.ended()


async def _named(tx: Transaction, talk: Talk, session_id: str, soul_id: str, resends: bool) -> Place | None:
    """Where others take part, everything that is said is new.

    None for a chat that has begun, and that has had no name until now.
    """
    session = await tx.sessions.find(session_id)
    if session is None and resends and talk.earlier:
        return None
    if session and not session.is_group:
        return await _read(tx, talk, session_id, soul_id, session.user_id, resends)
    messages = await tx.messages.last(session_id, 1)
    return Place(session_id, NEW, messages[-1].message_id if messages else 0)


async def _read(
    tx: Transaction, talk: Talk, session_id: str, soul_id: str, user_id: str, resends: bool = True
) -> Place:
    """What the request means in this conversation of the two."""
    messages = await tx.messages.last(session_id, _READ)
    understood = understand(talk, rounds_of(messages, soul_id, user_id), resends)
    return Place(session_id, understood, messages[-1].message_id if messages else 0)


async def _sought(
    tx: Transaction, talk: Talk, soul_id: str, user_id: str, now: float, name: str | None = None
) -> Place:
    """The conversation that a request goes on with; if there is none a new one, which may have a name.

    The first without a name is the usual one of the two.
    """
    usual = default_session_id(soul_id, user_id)
    sessions = await tx.sessions.between(soul_id, user_id, _SEARCHED)
    known = [one for one in sessions if one.session_id.startswith((_UNNAMED, usual))]
    found = await _places(tx, talk, known, soul_id, user_id, now)
    if found:
        return max(found, key=lambda place: (_MEANINGS.index(place.understood.meaning), place.understood.common))
    if name or await tx.sessions.find(usual) is None:
        return Place(name or usual)
    latest = sessions[0]  # the same as long as nothing is stored: a request that is sent again begins no other
    at = latest.session_id, str(latest.updated_at)
    return Place(as_id(talk.said, soul_id, user_id, *at, prefix=_UNNAMED))


async def _places(
    tx: Transaction, talk: Talk, sessions: Sequence[Conversation], soul_id: str, user_id: str, now: float
) -> list[Place]:
    """What the request means in each of these conversations in which it means anything."""
    if talk.known_by:
        ids = await tx.messages.said_in([one.session_id for one in sessions], *talk.known_by)
        known = [one.session_id for one in sessions if one.session_id in ids]
        read = [await _read(tx, talk, session_id, soul_id, user_id) for session_id in known]
        places = [place for place in read if place.understood.common]
        if places or talk.earlier:
            return places
    fresh = [one for one in sessions if one.turn == 1 and now - one.updated_at < SAME_CHAT_S]
    return [place for one in fresh if (place := await _begun_anew(tx, talk, one.session_id, soul_id, user_id))]


async def _begun_anew(tx: Transaction, talk: Talk, session_id: str, soul_id: str, user_id: str) -> Place | None:
    """A conversation of one round whose first line this is, or that line edited."""
    place = await _read(tx, talk, session_id, soul_id, user_id)
    if place.understood.meaning != "edited":
        return place
    first = await tx.messages.get(session_id, place.understood.replaces or 0)
    return place if similar(talk.said, first.content) else None


async def _correct(place: Place, services: Services) -> None:
    for reply, words in place.understood.corrections:
        if not flaw_of_text(words):
            await correct_reply(place.session_id, reply.message_id, words[:MAX_TEXT], services)

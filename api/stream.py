"""Events of a soul outside of the client's own turns, as server-sent events."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import StringConstraints

from soulgraph.api.access import Caller
from soulgraph.api.auth import AnyReader, Credentials, until_refused
from soulgraph.api.emotion import present_emotion
from soulgraph.api.fields import Id
from soulgraph.api.media import SSE, text
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S, event_stream
from soulgraph.runtime.background import in_background
from soulgraph.runtime.listener import Listener
from soulgraph.runtime.notices import Notice, Subscription
from soulgraph.stores.records import Soul

router = APIRouter(prefix="/v1/souls", tags=["chat"])

_EVENTS = text(
    SSE,
    "what happens to the soul, until the client goes",
    'event: emotion_update\ndata: {"soul_id": "soul_c3fa", "mood": {"zh": "平静", "en": "calm"}}\n\n',
)

EventId = Annotated[str, StringConstraints(max_length=128)]
LastEventId = Annotated[EventId | None, Header(description="the last `id` that was heard: what came after it is told")]
Nodes = Annotated[bool, Query(description="whether to tell which nodes of its graphs run")]


@router.get("/{soul_id}/stream", response_class=StreamingResponse, responses={200: _EVENTS})
async def listen(
    soul_id: Id,
    request: Request,
    credentials: Credentials,
    caller: AnyReader,
    services: Served,
    nodes: Nodes = False,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Stream the soul's events, such as its mood, proactive messages and changes, until the client disconnects.

    They are those for one person; an owner who names nobody hears everybody's. While a client is connected, the soul
    may speak on its own. A client that comes back with `Last-Event-ID` hears what it has missed.
    """
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
    secret = credentials.credentials if credentials else None
    return event_stream(_notices(soul, caller, services, last_event_id, nodes, partial(until_refused, request, secret)))


async def _notices(
    soul: Soul,
    caller: Caller,
    services: Services,
    after: str | None,
    nodes: bool,
    until_refused: Callable[[Services], Awaitable[None]],
) -> AsyncGenerator[Notice | None, None]:
    with services.listeners.connect() as listener:

        async def end_with_key() -> None:
            await until_refused(services)
            listener.close()

        async with in_background(end_with_key(), "stream", "goes on, also if its key is revoked"):
            await follow(listener, soul, caller, services, after, nodes)
            yield None  # a first ping tells the client that it is subscribed from now on
            async for notice in listener.events(PING_S):
                yield notice


async def follow(
    listener: Listener, soul: Soul, caller: Caller, services: Services, after: str | None, nodes: bool
) -> None:
    """Let the listener hear what is the caller's to hear of a soul: what it missed, how it feels, and what comes."""
    await services.bus.settled()  # what this server has told already is missed, and does not come
    person = caller.person if caller.is_owner else caller.one_person
    subscription = Subscription(soul.soul_id, person, nodes=nodes, is_owner=caller.is_owner)
    services.listeners.follow(listener, subscription, after)
    listener.push(Notice("emotion_update", {**present_emotion(soul, services)}))

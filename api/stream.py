"""Events of a soul outside of the client's own turns, as server-sent events."""

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from soulgraph.api.auth import AnyReader
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S, event_stream
from soulgraph.runtime.listeners import Notice

router = APIRouter(prefix="/v1/souls", tags=["chat"])


@router.get("/{soul_id}/stream")
async def listen(soul_id: Id, caller: AnyReader, services: Served) -> StreamingResponse:
    """Stream the soul's events, such as proactive messages and state changes, until the client disconnects.

    They are those for one person; an owner who names nobody hears everybody's. While a client is connected, the soul
    may speak on its own.
    """
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
    person = caller.person if caller.is_owner else caller.one_person
    return event_stream(_notices(soul_id, person, services))


async def _notices(soul_id: str, user_id: str | None, services: Services) -> AsyncIterator[Notice | None]:
    with services.listeners.listen(soul_id, user_id) as listener:
        yield None  # a first ping tells the client that it is subscribed from now on
        async for notice in listener.events(PING_S):
            yield notice

"""Events of a soul outside of the client's own turns, as server-sent events."""

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from soulgraph.api.auth import chatter
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S, event_stream
from soulgraph.runtime.listeners import Notice

router = APIRouter(prefix="/v1/souls", tags=["chat"], dependencies=[chatter])


@router.get("/{soul_id}/stream")
async def listen(soul_id: Id, services: Served) -> StreamingResponse:
    """Stream the soul's events, such as proactive messages and state changes, until the client disconnects.

    While a client is connected, the soul may speak on its own.
    """
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
    return event_stream(_notices(soul_id, services))


async def _notices(soul_id: str, services: Services) -> AsyncIterator[Notice | None]:
    with services.listeners.listen(soul_id) as listener:
        yield None  # a first ping tells the client that it is subscribed from now on
        async for notice in listener.events(PING_S):
            yield notice

"""What happens to a soul between the turns, as server-sent events."""

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from soulgraph.api.auth import chatter
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S, event_stream
from soulgraph.runtime.listeners import News

router = APIRouter(prefix="/v1/souls", tags=["chat"], dependencies=[chatter])


@router.get("/{soul_id}/stream")
async def listen(soul_id: Id, services: Served) -> StreamingResponse:
    """Open until the listener leaves; while it is, the soul may speak of its own accord."""
    async with services.stores.read() as tx:
        await tx.souls.get(soul_id)
    return event_stream(_news(soul_id, services))


async def _news(soul_id: str, services: Services) -> AsyncIterator[News | None]:
    with services.listeners.listen(soul_id) as listener:
        yield None  # tells the listener that it is heard from now on
        async for news in listener.news(PING_S):
            yield news

"""Responses with server-sent events."""

import json
from collections.abc import AsyncIterator, Mapping

from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event

from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime.listeners import Notice

PING_S = 15.0
PING = format_sse_event(comment="ping")
# `X-Accel-Buffering` tells nginx not to collect the events before it passes them on.
_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def event_stream(events: AsyncIterator[TurnEvent | Notice | None]) -> StreamingResponse:
    """Stream the events as they come; None is sent as a ping."""
    return unbuffered(_encode(events))


def unbuffered(chunks: AsyncIterator[bytes], headers: Mapping[str, str] | None = None) -> StreamingResponse:
    """An event stream that neither caches nor proxies may hold back."""
    return StreamingResponse(chunks, media_type="text/event-stream", headers={**_UNBUFFERED, **(headers or {})})


async def _encode(events: AsyncIterator[TurnEvent | Notice | None]) -> AsyncIterator[bytes]:
    async for event in events:
        # A ping is a comment, which clients ignore; it keeps proxies from closing an idle connection.
        if event is None:
            yield PING
        elif isinstance(event, Notice):
            yield format_sse_event(event=event.event, data_str=event.json, id=event.id)
        else:
            yield format_sse_event(event=event.event, data_str=json.dumps(event.data, ensure_ascii=False))

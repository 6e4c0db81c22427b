"""Responses with server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing

from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event

from soulgraph.runtime.notices import Notice
from soulgraph.runtime.turn_log import StreamedEvent

PING_S = 15.0
PING = format_sse_event(comment="ping")
# `X-Accel-Buffering` tells nginx not to collect the events before it passes them on.
_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def event_stream(events: AsyncGenerator[StreamedEvent | Notice | None, None]) -> StreamingResponse:
    """Stream the events as they come; None is sent as a ping."""
    return unbuffered(_encode(events))


def unbuffered(chunks: AsyncIterator[bytes], headers: Mapping[str, str] | None = None) -> StreamingResponse:
    """An event stream that neither caches nor proxies may hold back."""
    return StreamingResponse(chunks, media_type="text/event-stream", headers={**_UNBUFFERED, **(headers or {})})


async def _encode(events: AsyncGenerator[StreamedEvent | Notice | None, None]) -> AsyncIterator[bytes]:
    """Put together by hand, because this is done for every token; JSON has no line breaks that would have to be cut."""
    async with aclosing(events):
        async for event in events:
            # A ping is a comment, which clients ignore; it keeps proxies from closing an idle connection.
            if event is None:
                yield PING
            elif event.id is None:
                yield f"event: {event.event}\ndata: {event.json}\n\n".encode()
            else:
                yield f"event: {event.event}\ndata: {event.json}\nid: {event.id}\n\n".encode()

"""Server-sent events on the wire."""

import json
from collections.abc import AsyncIterator, Mapping

from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event

from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime.listeners import News

PING_S = 15.0
PING = format_sse_event(comment="ping")
_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def event_stream(events: AsyncIterator[TurnEvent | News | None]) -> StreamingResponse:
    """What happens, as it happens; None is a moment of silence."""
    return unbuffered(_lines(events))


def unbuffered(lines: AsyncIterator[bytes], headers: Mapping[str, str] | None = None) -> StreamingResponse:
    return StreamingResponse(lines, media_type="text/event-stream", headers={**_UNBUFFERED, **(headers or {})})


async def _lines(events: AsyncIterator[TurnEvent | News | None]) -> AsyncIterator[bytes]:
    """With a comment now and then, so that proxies keep the line open."""
    async for event in events:
        if event is None:
            yield PING
        else:
            yield format_sse_event(event=event.event, data_str=json.dumps(event.data, ensure_ascii=False))

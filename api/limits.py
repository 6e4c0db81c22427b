"""ASGI middleware that refuses a request body larger than its path allows, without reading it to the end."""

import re
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from soulgraph.api.problems import problem
from soulgraph.errors import TooLarge

MEBIBYTE = 1024 * 1024
LARGE = 1024 * MEBIBYTE
"""Of what is read from disk, and never held in memory: a soul or the chats of a life."""
LIMITS = dict.fromkeys(("/v1/sessions/import", "/v1/characters/import"), 20 * MEBIBYTE)
LIMITS |= dict.fromkeys(("/v1/chat/completions", "/v1/responses"), 32 * MEBIBYTE)
"""With pictures, which programs send again with every message. None is looked at."""
LIMITS["/v1/souls/import"] = LARGE
LIMITS["/v1/audio/transcriptions"] = 25 * MEBIBYTE
LIMITS["/v1/embeddings"] = 8 * MEBIBYTE
_PRESET = r"/v1/(?:characters|backgrounds)/[^/]+"
PATTERNS = {
    # A character or background may have more lore than other bodies may have bytes.
    re.compile(rf"/v1/(?:characters|backgrounds)|{_PRESET}(?:/lore)?"): 4 * MEBIBYTE,
    re.compile(r"/v1/characters/[^/]+/images/import"): 20 * MEBIBYTE,
    re.compile(r"/v1/characters/[^/]+/images/[^/]+"): 4 * MEBIBYTE,
    re.compile(rf"{_PRESET}/lore/import"): 20 * MEBIBYTE,
    re.compile(r"/v1/souls/[^/]+/import-chats"): LARGE,
}


def limit_of(path: str) -> int:
    """How many bytes the body of a request to this path may have."""
    if path in LIMITS:
        return LIMITS[path]
    return next((limit for pattern, limit in PATTERNS.items() if pattern.fullmatch(path)), MEBIBYTE)


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        limit = limit_of(scope["path"])
        content_length = dict(scope["headers"]).get(b"content-length", b"0")
        error = TooLarge(f"the body may have {limit // MEBIBYTE} MiB at most")
        if content_length.isdigit() and int(content_length) > limit:
            return await problem(error, scope["path"])(scope, receive, send)
        # A chunked body has no Content-Length, so what is received is counted too.
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise error
            return message

        async def send_unless_too_large(message: Message) -> None:
            if received <= limit:
                await send(message)

        # FastAPI answers 400 to any error while it reads a body. That answer is dropped, and ours is sent instead.
        with suppress(TooLarge):
            await self._app(scope, receive_counted, send_unless_too_large)
        if received > limit:
            await problem(error, scope["path"])(scope, receive, send)
        return None

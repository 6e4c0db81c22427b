"""No body larger than its path allows is ever read to the end."""

from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from soulgraph.api.problems import problem
from soulgraph.errors import TooLarge

MEBIBYTE = 1024 * 1024
LIMITS = dict.fromkeys(("/v1/sessions/import", "/v1/characters/import"), 20 * MEBIBYTE)


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        limit = LIMITS.get(scope["path"], MEBIBYTE)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        refusal = TooLarge(f"the body may have {limit} bytes at most")
        if announced.isdigit() and int(announced) > limit:
            return await problem(refusal, scope["path"])(scope, receive, send)
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise refusal
            return message

        async def unless_refused(message: Message) -> None:
            if read <= limit:
                await send(message)

        # The framework answers 400 to any error while it reads a body; ours replaces that answer.
        with suppress(TooLarge):
            await self._app(scope, counted, unless_refused)
        if read > limit:
            await problem(refusal, scope["path"])(scope, receive, send)
        return None

"""ASGI middleware that tells whoever still waits when the server is stopped what became of it."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from soulgraph.api.problems import problem
from soulgraph.errors import ShuttingDown

_CUT_OFF = "the server was stopped before this was done: send it again, a turn with the same input_id"


class CutOff:
    """uvicorn cancels what takes longer than the time to finish, and would answer 500."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if scope["type"] != "http" or begun:
                raise
            await problem(ShuttingDown(_CUT_OFF), scope["path"])(scope, receive, send)

"""HTTP methods: HEAD for whatever can be read, OPTIONS, and a refusal of those that a path has not."""

import asyncio
from collections.abc import Iterable

from fastapi.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from soulgraph.api.paths import Words, allowed_methods
from soulgraph.api.problems import method_not_allowed


class Methods:
    """ASGI middleware that answers HEAD as GET without its body, and OPTIONS with what is allowed."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._routes = routes
        self._words = Words(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"] if scope["type"] == "http" else None
        if method == "OPTIONS" and (allowed := allowed_methods(self._routes, scope)):
            await Response(status_code=204, headers={"Allow": allowed})(scope, receive, send)
        elif method and self._words.forbid("GET" if method == "HEAD" else method, scope["path"]):
            await method_not_allowed(self._routes, scope)(scope, receive, send)
        elif method == "HEAD":
            await self._head(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body"})
                answering.cancel()  # nobody reads the rest, and an event stream has no end

        answering = asyncio.ensure_future(self._app({**scope, "method": "GET"}, receive, send_head))
        try:
            await asyncio.wait([answering])
        finally:
            answering.cancel()
        if not answering.cancelled():
            answering.result()

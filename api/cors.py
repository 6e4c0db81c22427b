"""ASGI middleware that tells browsers which pages may speak to the server and read what it answers (CORS).

Starlette's own knows no list that begins to count later, and stands inside of what answers 500.
"""

import re

from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from soulgraph.api.origins import Origins
from soulgraph.api.problems import problem
from soulgraph.errors import Forbidden, StoreUnavailable

EXPOSED = (
    "X-Session-Id",
    "X-Soulgraph-Ignored",
    "X-Soulgraph-Turn",
    "Retry-After",
    "WWW-Authenticate",
    "Content-Disposition",
    "Allow",
)
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_USUAL_HEADERS = "Authorization, Content-Type, X-Session-Id, Idempotency-Key, Last-Event-ID"
_TOKENS = re.compile(r"[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*", re.ASCII)
_MAX_AGE_S = 600  # a browser asks again after it: a list may change
_VARY = "Origin"


class Cors:
    """Answers preflights before anybody asks for a key, and marks all other answers, errors and streams too.

    Credentials are never allowed: a page sends its key, and what a browser adds by itself is not asked for.
    """

    def __init__(self, app: ASGIApp, origins: Origins) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._origins.off:
            return await self._app(scope, receive, send)
        asked = Headers(scope=scope)
        origin = asked.get("origin", "")
        allowed = bool(origin) and await self._allows(origin, scope)
        if origin and scope["method"] == "OPTIONS" and "access-control-request-method" in asked:
            return await _preflight(asked, scope["path"], allowed)(scope, receive, send)

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                _mark(MutableHeaders(scope=message), origin if allowed else "")
            await send(message)

        return await self._app(scope, receive, send_marked)

    async def _allows(self, origin: str, scope: Scope) -> bool:
        """A page of another machine is let in if it is listed and the server asks for keys."""
        if self._origins.is_local(origin):
            return True
        return self._origins.lists(origin) and await _asks_for_keys(scope)


async def _asks_for_keys(scope: Scope) -> bool:
    """False while nobody can say: an open server is for this machine alone."""
    services = scope["app"].state.services
    if services.access.is_closed:
        return True
    try:
        async with services.stores.read() as tx:
            return not await services.access.is_open(tx)
    except StoreUnavailable:
        return False


def _preflight(asked: Headers, path: str, allowed: bool) -> Response:
    if not allowed:
        fix = "name it in SOULGRAPH_CORS_ORIGINS, which takes effect once there is an API key"
        refused = problem(Forbidden(f"pages of {asked['origin'][:200]} may not speak to this server: {fix}"), path)
        refused.headers["Vary"] = _VARY
        return refused
    wanted = asked.get("access-control-request-headers", "").strip()
    headers = {
        "Access-Control-Allow-Origin": asked["origin"],
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": wanted if _TOKENS.fullmatch(wanted) else _USUAL_HEADERS,
        "Access-Control-Max-Age": str(_MAX_AGE_S),
        "Vary": f"{_VARY}, Access-Control-Request-Headers, Access-Control-Request-Private-Network",
    }
    if asked.get("access-control-request-private-network") == "true":
        headers["Access-Control-Allow-Private-Network"] = "true"
    return Response(status_code=204, headers=headers)


def _mark(headers: MutableHeaders, origin: str) -> None:
    """The same address answers others otherwise, so caches keep it for each origin."""
    headers.add_vary_header(_VARY)
    if origin:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED)

"""Authorisation by API key and scope. A server on loopback without any key is open to this machine."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from soulgraph.api.services import Served, Services
from soulgraph.errors import Forbidden, Unauthorized
from soulgraph.settings import is_loopback
from soulgraph.stores.records import Scope

_bearer = HTTPBearer(auto_error=False, description="an API key made by `soulgraph key create`")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def require_scope(*scopes: Scope) -> Callable[..., Awaitable[None]]:
    """A dependency that requires a key with the scope `owner` or one of these."""

    async def check(request: Request, services: Served, credentials: Credentials) -> None:
        refuse_foreign_origin(request, services)
        await check_key(services, credentials.credentials if credentials else None, *scopes)

    return check


async def check_key(services: Services, secret: str | None, *scopes: Scope) -> None:
    """Raise Unauthorized without a valid key, and Forbidden if its scope is neither `owner` nor one of these.

    On an open server nothing is checked.
    """
    if services.open_access:
        return
    if secret is None:
        raise Unauthorized("send `Authorization: Bearer <key>`; `soulgraph key create` makes one")
    async with services.stores.read() as tx:
        key = await tx.keys.find(secret)
    if key is None:
        raise Unauthorized("this key is unknown or revoked")
    if key.scope != "owner" and key.scope not in scopes:
        raise Forbidden(f"a key with scope {key.scope!r} may not do this")


def refuse_foreign_origin(connection: HTTPConnection, services: Services) -> None:
    """On an open server, raise Forbidden unless the Host and Origin headers name this machine.

    Any web page can send requests to localhost (Origin), and can let its own domain resolve to 127.0.0.1 (Host, DNS
    rebinding). Without keys nothing else would stop it.
    """
    if not services.open_access:
        return
    host = connection.headers.get("host")
    origin = connection.headers.get("origin")
    for address in (host and f"//{host}", origin):
        if address and not is_loopback(_hostname(address)):
            raise Forbidden(
                f"{address.strip('/')} may not speak to an open server: make a key with `soulgraph key create`"
            )


def _hostname(address: str) -> str:
    """The host name of a URL; empty if it has none, which is not loopback."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


owner = Depends(require_scope())
CHATTERS: tuple[Scope, ...] = ("chat", "terminal")
chatter = Depends(require_scope(*CHATTERS))
terminal = Depends(require_scope("terminal"))

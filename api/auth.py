"""Bearer keys and their scopes. On loopback without any key the server is open, and says so at start-up."""

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


def allow(*scopes: Scope) -> Callable[..., Awaitable[None]]:
    """A dependency that lets the owner and these scopes in."""

    async def check(request: Request, services: Served, credentials: Credentials) -> None:
        refuse_strangers(request, services)
        await admit(services, credentials.credentials if credentials else None, *scopes)

    return check


async def admit(services: Services, secret: str | None, *scopes: Scope) -> None:
    """Refuse whoever has no key, or one that is neither the owner's nor of these scopes."""
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


def refuse_strangers(connection: HTTPConnection, services: Services) -> None:
    """Every page in a browser can speak to this machine, and a name of its own can lead here.

    So without keys only pages of this machine may, and only under a name of this machine.
    """
    if not services.open_access:
        return
    host, origin = connection.headers.get("host"), connection.headers.get("origin")
    for address in (host and f"//{host}", origin):
        if address and not is_loopback(_name_in(address)):
            raise Forbidden(
                f"{address.strip('/')} may not speak to an open server: make a key with `soulgraph key create`"
            )


def _name_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


owner = Depends(allow())
CHATTERS: tuple[Scope, ...] = ("chat", "terminal")
chatter = Depends(allow(*CHATTERS))
terminal = Depends(allow("terminal"))

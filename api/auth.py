"""Makes the `Caller` that every route takes from an API key. A server on loopback is open until a key is made."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, get_args
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from soulgraph.api.access import Access, Caller
from soulgraph.api.fields import UserIdOrNobody
from soulgraph.api.origins import Origin
from soulgraph.api.raising import ANOTHER_PERSON, FOREIGN_PAGE, NO_DATABASE, NO_KEY, UNKNOWN_KEY, caught, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import Forbidden, RequestError, StoreUnavailable, Unauthorized
from soulgraph.settings import is_loopback
from soulgraph.stores.records import Scope
from soulgraph.stores.stores import Stores

MAKE_A_KEY = "make one with `soulgraph key create NAME --scope owner`"
KEY_CHECK_S = 3.0

_bearer = HTTPBearer(auto_error=False, description="an API key made by `soulgraph key create`")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


@raises(NO_KEY, UNKNOWN_KEY, FOREIGN_PAGE, NO_DATABASE)
async def identify(request: Request, services: Served, credentials: Credentials) -> Caller:
    return await caller_of(request, credentials.credentials if credentials else None, services)


async def caller_of(connection: HTTPConnection, secret: str | None, services: Services) -> Caller:
    """Who has this key; on an open server an owner, if the request comes from this machine.

    Raises Unauthorized without a valid key.
    """
    caller = await holder_of(secret, services.stores, services.access)
    if caller.key_id is None:
        _refuse_foreign_origin(connection)
    return caller


async def holder_of(secret: str | None, stores: Stores, access: Access) -> Caller:
    """Who has this key; on an open server an owner. Raises Unauthorized without a valid key."""
    async with stores.read() as tx:
        if await access.is_open(tx):
            return Caller("owner")
        if secret is None:
            raise Unauthorized("send `Authorization: Bearer <key>`; `soulgraph key create` makes one")
        key = await tx.keys.find(secret)
    if key is None:
        raise Unauthorized("this key is unknown or revoked")
    return Caller.of(key)


async def until_refused(connection: HTTPConnection, secret: str | None, services: Services) -> None:
    """For a connection that stays open: returns when its key is no longer valid, wherever that was revoked."""
    while True:
        await asyncio.sleep(KEY_CHECK_S)
        try:
            await caller_of(connection, secret, services)
        except StoreUnavailable:
            continue  # nobody can revoke anything now
        except RequestError:
            return


def _refuse_foreign_origin(connection: HTTPConnection) -> None:
    """Raise Forbidden unless the Host and Origin headers name this machine.

    Any web page can send requests to localhost (Origin), and can let its own domain resolve to 127.0.0.1 (Host, DNS
    rebinding). Without keys nothing else would stop it.
    """
    host = connection.headers.get("host")
    origin = connection.headers.get("origin")
    if host and not is_loopback(_hostname(f"//{host}")):
        raise _stranger(host)
    page = Origin.parse(origin) if origin else None
    if origin and not (page and page.is_local):
        raise _stranger(origin)


def _stranger(address: str) -> Forbidden:
    return Forbidden(f"{address} may not speak to an open server: make a key with `soulgraph key create`")


def _hostname(address: str) -> str:
    """The host name of a URL; empty if it has none, which is not loopback."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


Identified = Annotated[Caller, Depends(identify)]
_PEOPLE_ONLY = caught(Caller("terminal").require_person)


def _with_scope(*scopes: Scope) -> Callable[..., Awaitable[Caller]]:
    others = [scope for scope in get_args(Scope) if scope not in ("owner", *scopes)]

    @raises(*(caught(partial(Caller(scope).require_scope, *scopes)) for scope in others))
    async def check(caller: Identified) -> Caller:
        caller.require_scope(*scopes)
        return caller

    return check


@raises(caught(Caller("owner", soul_ids=("soul_c3fa",)).require_all_souls))
async def _for_all_souls(caller: Annotated[Caller, Depends(_with_scope())]) -> Caller:
    caller.require_all_souls()
    return caller


@raises(_PEOPLE_ONLY)
async def _somebody(caller: Identified) -> Caller:
    caller.require_person()
    return caller


@raises(ANOTHER_PERSON)
async def _for_person(caller: Identified, user_id: UserIdOrNobody | None = None) -> Caller:
    return caller.acting_for(user_id)


@raises(_PEOPLE_ONLY)
async def _somebody_for_person(caller: Annotated[Caller, Depends(_for_person)]) -> Caller:
    caller.require_person()
    return caller


speaker = Depends(_with_scope("chat", "terminal"))
Speaker = Annotated[Caller, speaker]
"""Anybody with a key."""

AnyReader = Annotated[Caller, Depends(_for_person)]
"""Anybody with a key, for the person that the query parameter `user_id` names."""

Somebody = Annotated[Caller, Depends(_somebody)]
"""Anybody but a terminal that is nobody: for what belongs to people."""

Reader = Annotated[Caller, Depends(_somebody_for_person)]
"""The same, about the things of the person that the query parameter `user_id` names."""

TerminalCaller = Annotated[Caller, Depends(_with_scope("terminal"))]

Owner = Annotated[Caller, Depends(_with_scope())]

server_owner = Depends(_for_all_souls)
ServerOwner = Annotated[Caller, server_owner]
"""An owner of all souls: for what they share."""

"""`soulgraph key`: API keys, straight in the database."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from soulgraph.api.fields import UserIdOrEveryone
from soulgraph.cli.conversation import console, errors
from soulgraph.cli.tables import print_table
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import ApiKey, Scope

if TYPE_CHECKING:  # importing what the server is made of takes seconds; only a command that runs does
    from soulgraph.stores.stores import Stores, Transaction

key_app = typer.Typer(no_args_is_help=True, help="API keys, straight in the database: the first needs no server.")


@key_app.command("create")
def create_key(
    name: str,
    scope: Annotated[Scope, typer.Option(help="What it may do.")],
    user: Annotated[
        str | None, typer.Option(metavar="ID", help="The person it is; '*': it acts for anybody. Not for owners.")
    ] = None,
    soul: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A soul it is for, by name or id; repeatable. Else all."),
    ] = None,
) -> None:
    """Make an API key and print its secret, once."""
    _check_user(scope, user)

    async def create() -> tuple[str, bool]:
        async with _stores() as stores, stores.write() as tx:
            is_first = not await tx.keys.any()
            souls = [await _soul_id(tx, one) for one in dict.fromkeys(soul or [])]
            return await tx.keys.create(name, scope, time.time(), user, souls), is_first

    secret, is_first = asyncio.run(create())
    console.print(secret, soft_wrap=True)
    closing = " From now on the server asks everybody for a key." if is_first else ""
    errors.print(f"Keep it: it cannot be shown again.{closing}")


@key_app.command("list")
def list_keys() -> None:
    """All API keys, without their secrets."""

    async def read() -> tuple[list[ApiKey], dict[str, str]]:
        async with _stores() as stores, stores.read() as tx:
            return await tx.keys.all(), {soul.soul_id: soul.name for soul in await tx.souls.all()}

    keys, names = asyncio.run(read())
    print_table(("id", "name", "scope", "person", "souls", "made", "revoked"), [_row(key, names) for key in keys])


@key_app.command("revoke")
def revoke_key(key_id: str) -> None:
    """Make an API key useless, at once and for good."""

    async def revoke() -> bool:
        async with _stores() as stores, stores.write() as tx:
            await tx.keys.revoke(key_id, time.time())
            return any(key.revoked_at is None for key in await tx.keys.all())

    left = asyncio.run(revoke())
    console.print(f"{key_id} is revoked.")
    if not left:
        errors.print(
            "No key is left: the server refuses everybody now. `soulgraph key create NAME --scope owner` makes one."
        )


def _check_user(scope: Scope, user: str | None) -> None:
    """Raise InvalidInput for a person that the API would refuse too."""
    if user is None:
        return
    if scope == "owner":
        raise InvalidInput("an owner key acts for anybody: leave --user out, or choose --scope chat")
    try:
        TypeAdapter(UserIdOrEveryone).validate_python(user)
    except ValidationError as error:
        raise InvalidInput(f"--user: {user!r} is no id: use 1 to 128 letters, digits and _ . : @ -, or '*'") from error


async def _soul_id(tx: "Transaction", name_or_id: str) -> str:
    found = await tx.souls.called(name_or_id)
    if not found:
        raise NotFound("soul", name_or_id)
    if len(found) > 1:
        ids = ", ".join(soul.soul_id for soul in found)
        raise InvalidInput(f"{len(found)} souls are called {name_or_id!r}: use an id ({ids})")
    return found[0].soul_id


def _row(key: ApiKey, names: dict[str, str]) -> tuple[str, ...]:
    person = {None: "", EVERYONE: "anybody"}.get(key.user_id, key.user_id or "")
    souls = ", ".join(names.get(soul_id, soul_id) for soul_id in key.soul_ids)
    revoked = iso(key.revoked_at) if key.revoked_at else ""
    return key.key_id, key.name, key.scope, person, souls, iso(key.created_at), revoked


def _stores() -> AbstractAsyncContextManager["Stores"]:
    from soulgraph.runtime.ports import open_stores

    return open_stores(Settings.load())

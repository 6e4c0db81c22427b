"""`soulgraph key`: API keys, straight in the database."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from soulgraph.cli.conversation import console, errors
from soulgraph.cli.tables import print_table
from soulgraph.settings import Settings
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import ApiKey, Scope

if TYPE_CHECKING:  # importing what the server is made of takes seconds; only a command that runs does
    from soulgraph.stores.stores import Stores

key_app = typer.Typer(no_args_is_help=True, help="API keys, straight in the database: the first needs no server.")


@key_app.command("create")
def create_key(name: str, scope: Annotated[Scope, typer.Option(help="What it may do.")]) -> None:
    """Make an API key and print its secret, once."""

    async def create() -> str:
        async with _stores() as stores, stores.write() as tx:
            return await tx.keys.create(name, scope, time.time())

    console.print(asyncio.run(create()), soft_wrap=True)
    errors.print("Keep it: it cannot be shown again. A server that runs without keys must be restarted to ask for it.")


@key_app.command("list")
def list_keys() -> None:
    """All API keys, without their secrets."""

    async def read() -> list[ApiKey]:
        async with _stores() as stores, stores.read() as tx:
            return await tx.keys.all()

    keys = asyncio.run(read())
    rows = [(k.key_id, k.name, k.scope, iso(k.created_at), iso(k.revoked_at) if k.revoked_at else "") for k in keys]
    print_table(("id", "name", "scope", "made", "revoked"), rows)


@key_app.command("revoke")
def revoke_key(key_id: str) -> None:
    """Make an API key useless, at once and for good."""

    async def revoke() -> bool:
        async with _stores() as stores, stores.write() as tx:
            await tx.keys.revoke(key_id, time.time())
            return await tx.keys.exist()

    left = asyncio.run(revoke())
    console.print(f"{key_id} is revoked.")
    if not left:
        errors.print("No key is left: a server started now is open to everyone on this machine.")


def _stores() -> AbstractAsyncContextManager["Stores"]:
    from soulgraph.runtime.ports import open_stores

    return open_stores(Settings.load())

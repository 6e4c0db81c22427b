"""The `soulgraph` command: serve, talk, look after souls and keys, and find out what is wrong."""

import asyncio
import io
import logging
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from soulgraph import __version__
from soulgraph.commands.client import Json, SoulClient, reach
from soulgraph.commands.conversation import Conversation, ask, complain, console, errors, feeling
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.settings import Settings
from soulgraph.soul.moments import iso
from soulgraph.stores.records import ApiKey, Scope

if TYPE_CHECKING:  # importing what the server is made of takes seconds; only the commands that need it do
    from soulgraph.stores.stores import Stores

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}
_BAR = 20


class OneLineErrors(TyperGroup):
    """An error of ours ends the command with one line: code 2 for a setting, 1 for anything else."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SoulgraphError as error:
            complain(error)
            raise typer.Exit(2 if isinstance(error, ConfigurationError) else 1) from error


app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A soul for machines. Every setting is a SOULGRAPH_* variable; `soulgraph doctor` shows them all.",
)
soul_app = typer.Typer(no_args_is_help=True, help="Make souls and look at them.")
key_app = typer.Typer(no_args_is_help=True, help="API keys, straight in the database: the first needs no server.")
app.add_typer(soul_app, name="soul")
app.add_typer(key_app, name="key")

ServerUrl = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="The server; else that of the settings, or one for this call alone."),
]


def main() -> None:
    app()


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"soulgraph {__version__}")
        raise typer.Exit


@app.callback()
def _soulgraph(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Instead of SOULGRAPH_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Instead of SOULGRAPH_PORT; 0 takes a free one.")] = None,
) -> None:
    """Run the server until Ctrl-C."""
    from soulgraph.commands.hosting import host as run

    given = {"host": host, "port": port}
    settings = Settings.load(**{name: value for name, value in given.items() if value is not None})
    _log_to_stderr(settings.log_level)
    with suppress(KeyboardInterrupt):
        run(settings, _announce)


def _announce(url: str) -> None:
    console.print(f"soulgraph listens on {url} (documentation: {url}/docs). Ctrl-C stops it.", soft_wrap=True)


def _log_to_stderr(level: str) -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("soulgraph").setLevel(level.upper())
    if level == "debug":
        logging.getLogger("uvicorn").setLevel(logging.INFO)


@app.command()
def chat(
    name: Annotated[str | None, typer.Argument(help="A soul's name or id; not needed while there is only one.")] = None,
    server: ServerUrl = None,
) -> None:
    """Talk to a soul. /quit, Ctrl-D or Ctrl-C ends it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with reach(Settings.load(), server) as client:
        try:
            Conversation(client, client.soul(name) if name else _some_soul(client)).run()
        except (EOFError, KeyboardInterrupt):
            console.print("\nGoodbye.", style="dim")


def _some_soul(client: SoulClient) -> Json:
    souls = client.souls()
    if not souls:
        console.print("There is no soul yet. What shall it be called, and which MBTI type is it (like INFJ)?")
        return client.create_soul(ask("name: "), ask("type: "))
    if len(souls) > 1:
        console.print(f"Which soul: {', '.join(soul['name'] for soul in souls)}?")
        return client.soul(ask("name: "))
    return souls[0]


@soul_app.command("create")
def create_soul(
    name: str,
    mbti: Annotated[str, typer.Option(help="Its type, like INFJ.")],
    character: Annotated[
        str | None, typer.Option(metavar="ID", help="A character of the library to grow from.")
    ] = None,
    user: Annotated[str | None, typer.Option(metavar="ID", help="Whose soul it is.")] = None,
    server: ServerUrl = None,
) -> None:
    """Make a soul."""
    with reach(Settings.load(), server) as client:
        soul = client.create_soul(name, mbti, character_id=character, user_id=user)
        console.print(f"{soul['name']} ({soul['mbti_type']}) is there: {soul['soul_id']}", soft_wrap=True)


@soul_app.command("list")
def list_souls(server: ServerUrl = None) -> None:
    """All souls."""
    with reach(Settings.load(), server) as client:
        souls = client.souls()
    rows = [(s["name"], s["mbti_type"], s["user_id"], str(s["turns"]), s["soul_id"]) for s in souls]
    _print_table(("name", "type", "user", "turns", "id"), rows)


@soul_app.command("show")
def show_soul(name: Annotated[str, typer.Argument(help="A soul's name or id.")], server: ServerUrl = None) -> None:
    """Who a soul is and how it feels now."""
    with reach(Settings.load(), server) as client:
        soul = client.soul(name)
        emotion = client.emotion(soul["soul_id"])
    traits = Table.grid(padding=(0, 2))
    for trait, value in soul["personality_vector"].items():
        full = round(value * _BAR)
        traits.add_row(trait, Text("█" * full + "░" * (_BAR - full), style="cyan"), f"{value:.2f}")
    facts = f"{soul['mbti_type']}, soul of {soul['user_id']}, {soul['turns']} turns, made {soul['created_at']}\n"
    body = Table.grid()
    for part in (facts, traits, "", feeling(emotion)):
        body.add_row(part)
    console.print(Panel(body, title=Text(soul["name"]), subtitle=soul["soul_id"], expand=False))


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
    _print_table(("id", "name", "scope", "made", "revoked"), rows)


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


@app.command()
def doctor() -> None:
    """Check whether everything that is configured can be used; 1 if something cannot."""
    from soulgraph.commands.doctor import examine, settings_in_force

    settings = Settings.load()
    _print_table(("setting", "value", "source"), settings_in_force(settings))
    table, problems = Table(show_header=False, box=None), 0
    for finding in asyncio.run(examine(settings)):
        problems += finding.level == "problem"
        level = Text(finding.level, style=_COLOURS[finding.level])
        table.add_row(level, Text(finding.subject, no_wrap=True), " ".join(finding.detail.split()))
    console.print(table)
    raise typer.Exit(1 if problems else 0)


def _stores() -> AbstractAsyncContextManager["Stores"]:
    from soulgraph.server import open_stores

    return open_stores(Settings.load())


def _print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()

"""The `soulgraph` command: serve, talk, be a robot, simulate, look after souls and keys, and find out what is wrong."""

import asyncio
import gc
import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from soulgraph import __version__
from soulgraph.cli.characters import character_app
from soulgraph.cli.client import reach
from soulgraph.cli.conversation import Conversation, choose_soul, console, print_error
from soulgraph.cli.events import event_app
from soulgraph.cli.jobs import job_app
from soulgraph.cli.keys import key_app
from soulgraph.cli.simulate import simulate
from soulgraph.cli.souls import ServerUrl, soul_app
from soulgraph.cli.tables import print_table
from soulgraph.cli.terminal import terminal
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.settings import Settings

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


class OneLineErrors(TyperGroup):
    """An error of ours ends the command with one line: code 2 for a setting, 1 for anything else."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SoulgraphError as error:
            print_error(error)
            raise typer.Exit(2 if isinstance(error, ConfigurationError) else 1) from error


app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A soul for machines. Every setting is a SOULGRAPH_* variable; `soulgraph doctor` shows them all.",
)
app.add_typer(soul_app, name="soul")
app.add_typer(character_app, name="character")
app.add_typer(key_app, name="key")
app.add_typer(job_app, name="jobs")
app.add_typer(event_app, name="events")
app.command()(simulate)
app.command()(terminal)


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
    given = {"host": host, "port": port}
    settings = Settings.load(**{name: value for name, value in given.items() if value is not None})
    _log_to_stderr(settings.log_level)
    with suppress(KeyboardInterrupt), _collecting_later():
        from soulgraph.cli.hosting import host as run

        run(settings, _announce)


@contextmanager
def _collecting_later() -> Iterator[None]:
    """What start-up makes is there to stay, so nobody looks for garbage in it until the server is ready."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
            Conversation(client, client.soul(name) if name else choose_soul(client)).run()
        except (EOFError, KeyboardInterrupt):
            console.print("\nGoodbye.", style="dim")


@app.command()
def doctor() -> None:
    """Check whether everything that is configured can be used; 1 if something cannot."""
    from soulgraph.cli.doctor import examine, settings_in_force

    settings = Settings.load()
    print_table(("setting", "value", "source"), settings_in_force(settings))
    table, problems = Table(show_header=False, box=None), 0
    for finding in asyncio.run(examine(settings)):
        problems += finding.level == "problem"
        level = Text(finding.level, style=_COLOURS[finding.level])
        table.add_row(level, Text(finding.subject, no_wrap=True), " ".join(finding.detail.split()))
    console.print(table)
    raise typer.Exit(1 if problems else 0)

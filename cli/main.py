"""The `soulgraph` command and its `serve`, which says that it starts before it imports what a server is made of."""

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from soulgraph import __version__
from soulgraph.cli.logs import start_logging
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.senses.endpoint import masked
from soulgraph.settings import Settings

_log = logging.getLogger("soulgraph")


class Commands(TyperGroup):
    """All commands but `serve` are imported when one of them is asked for, or all are listed.

    An error of ours ends the command with one line: code 2 for a setting, 1 for anything else.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._import_the_others()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        self._import_the_others()
        return super().list_commands(ctx)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SoulgraphError as error:
            from soulgraph.cli.conversation import print_error

            print_error(error)
            raise typer.Exit(2 if isinstance(error, ConfigurationError) else 1) from error

    def _import_the_others(self) -> None:
        from soulgraph.cli.commands import others

        for name, command in typer.main.get_group(others).commands.items():
            self.commands.setdefault(name, command)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A soul for machines. Every setting is a SOULGRAPH_* variable; `soulgraph doctor` shows them all.",
)


def main() -> None:
    app()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"soulgraph {__version__}")
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
    workers: Annotated[int | None, typer.Option(help="Instead of SOULGRAPH_WORKERS: processes, on PostgreSQL.")] = None,
) -> None:
    """Run the server until Ctrl-C."""
    given = {"host": host, "port": port, "workers": workers}
    run_server(Settings.load(**{name: value for name, value in given.items() if value is not None}))


def run_server(settings: Settings, on_ready: Callable[[str], None] = lambda url: None) -> None:
    """Serve until Ctrl-C. `on_ready` gets the server's address as soon as it answers there."""

    def announce(url: str) -> None:
        _announce(url)
        on_ready(url)

    workers = settings.checked_workers
    start_logging(settings)
    places = settings.data_dir.resolve(), masked(settings.resolved_database_url)
    _log.info("soulgraph %s: starting… data directory %s, database %s", __version__, *places)
    with suppress(KeyboardInterrupt):
        if workers > 1:
            from soulgraph.cli.supervisor import supervise

            supervise(settings, announce)
            return
        with _collecting_later():
            from soulgraph.cli.hosting import host as run

            run(settings, announce)


@contextmanager
def _collecting_later() -> Iterator[None]:
    """What start-up makes is there to stay, so nobody looks for garbage in it until the server is ready."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _announce(url: str) -> None:
    print(
        f"soulgraph listens on {url} (studio: {url}/studio/, documentation: {url}/docs). Ctrl-C stops it.", flush=True
    )

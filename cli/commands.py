"""Every command but `serve`: talk, open the studio, be a body, simulate, look after souls and keys, find mistakes."""

import asyncio
import io
import sys
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from soulgraph.cli.backups import backup, restore
from soulgraph.cli.characters import character_app
from soulgraph.cli.chats import import_app
from soulgraph.cli.client import reach
from soulgraph.cli.conversation import Conversation, choose_soul, console
from soulgraph.cli.events import event_app
from soulgraph.cli.home_assistant import home_assistant
from soulgraph.cli.init import init
from soulgraph.cli.jobs import job_app
from soulgraph.cli.keys import key_app
from soulgraph.cli.mcp import mcp
from soulgraph.cli.models import model
from soulgraph.cli.simulate import simulate
from soulgraph.cli.souls import ServerUrl, soul_app
from soulgraph.cli.studio import studio
from soulgraph.cli.tables import print_table
from soulgraph.cli.terminal import terminal
from soulgraph.settings import Settings

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}

others = typer.Typer()


@others.command()
def chat(
    name: Annotated[str | None, typer.Argument(help="A soul's name or id; not needed while there is only one.")] = None,
    server: ServerUrl = None,
) -> None:
    """Talk to a soul. /help lists the commands; /quit, Ctrl-D or Ctrl-C ends it."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with reach(Settings.load(), server) as client:
        try:
            Conversation(client, client.soul(name) if name else choose_soul(client), client.person()).run()
        except (EOFError, KeyboardInterrupt):
            console.print("\nGoodbye.", style="dim")


@others.command()
def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="First rebuild events and summaries that cannot be recalled.")
    ] = False,
    server: ServerUrl = None,
) -> None:
    """Check whether everything that is configured can be used; 1 if something cannot."""
    from soulgraph.cli.doctor import examine
    from soulgraph.cli.doctor import repair as repair_memory
    from soulgraph.runtime.doctor import settings_in_force

    settings = Settings.load()
    if repair:
        repair_memory(settings, server)
    in_force = ((setting.name, setting.value, setting.source) for setting in settings_in_force(settings))
    print_table(("setting", "value", "source"), in_force)
    table, problems = Table(show_header=False, box=None), 0
    for finding in asyncio.run(examine(settings)):
        problems += finding.level == "problem"
        level = Text(finding.level, style=_COLOURS[finding.level])
        table.add_row(level, Text(finding.subject, no_wrap=True), " ".join(finding.detail.split()))
    console.print(table)
    raise typer.Exit(1 if problems else 0)


others.command()(init)
others.command()(backup)
others.command()(home_assistant)
others.command()(restore)
others.command()(mcp)
others.command()(model)
others.command()(simulate)
others.command()(studio)
others.command()(terminal)
others.add_typer(soul_app, name="soul")
others.add_typer(import_app, name="import")
others.add_typer(character_app, name="character")
others.add_typer(key_app, name="key")
others.add_typer(job_app, name="jobs")
others.add_typer(event_app, name="events")

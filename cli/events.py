"""`soulgraph events`: look after the library of what souls have lived through."""

from typing import Annotated

import typer

from soulgraph.cli.client import reach
from soulgraph.cli.conversation import console
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.tables import print_table
from soulgraph.settings import Settings

event_app = typer.Typer(no_args_is_help=True, help="What souls have lived through, and everybody may learn from.")


@event_app.command("list")
def list_events(
    about: Annotated[str | None, typer.Option(help="Only what resembles this, the closest first.")] = None,
    server: ServerUrl = None,
) -> None:
    """The last fifty events, the newest first."""
    with reach(Settings.load(), server) as client:
        events = client.events(about)
    print_table(("id", "summary", "recalled"), [(e["event_id"], e["summary"], str(e["recalled"])) for e in events])


@event_app.command("tidy")
def tidy_events(
    keep: Annotated[int, typer.Option(min=0, help="How many may stay; the least recalled go first.")],
    server: ServerUrl = None,
) -> None:
    """Let go of events that nobody recalls. There is no way back."""
    with reach(Settings.load(), server) as client:
        gone = client.tidy_events(keep)
    console.print(f"{len(gone)} events are forgotten.")

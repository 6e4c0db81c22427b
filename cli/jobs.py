"""`soulgraph jobs`: the work that follows turns, and another try for what has failed."""

from typing import Annotated

import typer

from soulgraph.cli.client import reach
from soulgraph.cli.conversation import console
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.tables import print_table
from soulgraph.settings import Settings
from soulgraph.stores.records import JobStatus

job_app = typer.Typer(no_args_is_help=True, help="The work that follows turns: archiving, reflection, maintenance.")


@job_app.command("list")
def list_jobs(
    status: Annotated[JobStatus | None, typer.Option(help="Only those; a dead one has failed too often.")] = None,
    server: ServerUrl = None,
) -> None:
    """The last hundred jobs, the newest first."""
    with reach(Settings.load(), server) as client:
        jobs = client.jobs(status)
    columns = ("job_id", "status", "attempts", "session_id", "run_at", "error")
    print_table(columns, [tuple(str(job[column]) for column in columns) for job in jobs])


@job_app.command("retry")
def retry_jobs(
    job_id: Annotated[int | None, typer.Argument(help="A dead job; without it, all of them.")] = None,
    server: ServerUrl = None,
) -> None:
    """Give dead jobs another try."""
    with reach(Settings.load(), server) as client:
        retried = client.retry_jobs(job_id)
    console.print(f"To be tried again: {', '.join(map(str, retried)) or 'none'}")

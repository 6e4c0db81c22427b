"""`soulgraph backup` and `soulgraph restore`: everything that a server has, in one file."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from soulgraph.cli.client import own_url, reach, running
from soulgraph.cli.conversation import console
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.transfers import download, progress
from soulgraph.errors import ConfigurationError
from soulgraph.settings import Settings


def backup(
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, help="Where to write it; else soulgraph-DATE.tar.gz here.")
    ] = None,
    server: ServerUrl = None,
) -> None:
    """Write a backup of the database, of Chroma and of the files of souls, while the server runs or without one."""
    file = file or Path(f"soulgraph-{datetime.now():%Y%m%d-%H%M%S}.tar.gz")
    with reach(Settings.load(), server) as client:
        size = download(client, "POST", "/v1/backup", file, "the server takes a copy")
    console.print(f"The backup is {file} ({size:,} bytes).", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file that the backup wrote.")],
) -> None:
    """Put a backup into the data directory and the database of the settings, which must be empty."""
    from soulgraph.runtime.data_dir import private_umask
    from soulgraph.runtime.restore import restore as put_back

    settings = Settings.load()
    url = own_url(settings)
    if settings.port and running(url) is not None:
        raise ConfigurationError("SOULGRAPH_PORT", f"a server runs at {url}: stop it before its data is restored")
    with progress("the backup is checked and put in place"), private_umask():
        manifest = asyncio.run(put_back(settings, file))
    console.print(f"Everything of {manifest.created_at} is there: start the server.", soft_wrap=True)

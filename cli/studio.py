"""`soulgraph studio`: open the studio in a browser."""

import webbrowser
from functools import partial
from threading import Thread
from typing import Annotated
from urllib.parse import quote

import typer

from soulgraph.cli.client import own_url, running
from soulgraph.cli.main import run_server
from soulgraph.errors import SoulgraphError
from soulgraph.settings import Settings


def studio(
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The server; else that of the settings, started if it does not run."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address instead, with the key.")] = False,
) -> None:
    """Open the studio in the browser, signed in with SOULGRAPH_API_KEY if that is set."""
    settings = Settings.load()
    url = (server or own_url(settings)).rstrip("/")
    key = settings.api_key.get_secret_value()
    show = partial(_print if no_browser else _open, key)
    if running(url) is not None:
        show(url)
    elif server:
        raise SoulgraphError(f"{server} cannot be reached: is the address right, and does the server run?")
    else:
        # In a thread: a browser that runs in the terminal returns only when it is closed.
        run_server(settings, lambda url: Thread(target=show, args=[url], daemon=True).start())


def _print(key: str, url: str) -> None:
    print(_address(key, url), flush=True)


def _open(key: str, url: str) -> None:
    if not webbrowser.open(_address(key, url)):
        print(f"No browser could be opened: open {url}/studio/ in one. `soulgraph studio --no-browser` adds your key.")


def _address(key: str, url: str) -> str:
    """The key stands behind a #, because that part of an address is sent to no server and written into no log."""
    return f"{url}/studio/#key={quote(key, safe='')}" if key else f"{url}/studio/"

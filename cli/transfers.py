"""Files that the `soulgraph` command sends and gets, with a bar that shows how far they are."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import httpx
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from soulgraph.cli.client import Body, Json, SoulClient
from soulgraph.cli.conversation import console
from soulgraph.errors import InvalidInput, SoulgraphError

_CHUNK = 1024 * 1024


class Bar:
    """A bar that shows bytes, or things that are counted."""

    def __init__(self, shown: Progress, label: str, total: int | None) -> None:
        self._shown = shown
        self._task = shown.add_task(label, total=total, amount="")

    def bytes(self, done: int, total: int | None, label: str) -> None:
        self._show(done, total, label, decimal(done))

    def count(self, done: int, total: int | None, label: str) -> None:
        self._show(done, total, label, f"{done:,}" if total is None else f"{done:,} of {total:,}")

    def _show(self, done: int, total: int | None, label: str, amount: str) -> None:
        self._shown.update(self._task, completed=done, total=total, description=label, amount=amount)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Bar]:
    """A bar for as long as the block lasts; nothing is drawn where nobody sees it."""
    amount = TextColumn("{task.fields[amount]}")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        yield Bar(shown, label, total)


def download(client: SoulClient, method: str, path: str, file: Path, waiting: str) -> int:
    """Write what the server answers to a file that is not there yet; returns how many bytes it has.

    Until it is complete it has another name: whatever happens, there is no half file under its own.
    """
    if file.exists():
        raise InvalidInput(f"{file}: there is a file of this name already: choose another")
    part = file.with_name(f"{file.name}.part")
    try:
        with progress(waiting) as bar, part.open("wb") as written:
            with client.streaming(method, path, {}) as response:
                size = _write(response, written, bar, file.name)
            os.fsync(written.fileno())
        part.replace(file)
    except OSError as error:
        raise InvalidInput(f"{file}: cannot be written to: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return size


def _write(response: httpx.Response, file: IO[bytes], bar: Bar, label: str) -> int:
    total = int(response.headers["Content-Length"])
    received = 0
    for chunk in response.iter_bytes(_CHUNK):
        file.write(chunk)
        received += len(chunk)
        bar.bytes(received, total, label)
    if received != total:
        raise SoulgraphError(f"the connection broke after {received} of {total} bytes: try again")
    return received


class Sent(NamedTuple):
    """The answer to a file that was sent, and the bar that may show what becomes of it."""

    response: httpx.Response
    bar: Bar


@contextmanager
def uploading(client: SoulClient, path: str, params: Json, file: IO[bytes], label: str) -> Iterator[Sent]:
    """Send a file; the block reads the answer."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with progress(label, size) as bar:

        def chunks() -> Iterator[bytes]:
            while chunk := file.read(_CHUNK):
                yield chunk
                bar.bytes(file.tell(), size, label)
            bar.count(0, None, "the server is at work")

        with client.streaming("POST", path, params, Body(chunks(), size)) as response:
            yield Sent(response, bar)


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Raises InvalidInput if the file cannot be read."""
    try:
        with file.open("rb") as content:
            yield content
    except OSError as error:
        raise InvalidInput(f"{file}: cannot be read: {error.strerror}") from error

"""`soulgraph import`: brings chats with other programs to a soul."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Annotated

import httpx
import typer

from soulgraph.cli.client import Json, events, reach
from soulgraph.cli.conversation import console
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.tables import print_table
from soulgraph.cli.transfers import Bar, Sent, opened, uploading
from soulgraph.errors import InvalidInput, RequestError, SoulgraphError
from soulgraph.settings import Settings

import_app = typer.Typer(no_args_is_help=True, help="Bring what was said to other programs to a soul.")

_TAKEN = (".json", ".jsonl", ".md")
_PHASES = {"reading": "reading the file", "storing": "storing messages", "indexing": "making them findable by meaning"}
_LISTED = 20


@import_app.callback()
def _import() -> None:
    """So that there may be other things to import than chats."""


@import_app.command("chats")
def import_chats(
    path: Annotated[
        Path, typer.Argument(exists=True, metavar="FILE|FOLDER", help="An export, or a folder of chats or a workspace.")
    ],
    soul: Annotated[str, typer.Option(metavar="NAME", help="The soul that is to remember them: its name or id.")],
    user: Annotated[str | None, typer.Option(metavar="ID", help="Whose chats they are; else whose soul it is.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would come.")] = False,
    server: ServerUrl = None,
) -> None:
    """Import chats of ChatGPT, Claude or SillyTavern, or an OpenClaw workspace. A second run goes on with the first."""
    with reach(Settings.load(), server) as client, _packed(path) as file:
        soul_id = client.soul(soul)["soul_id"]
        wanted = {"user_id": user, "filename": path.name, "dry_run": dry_run or None}
        with uploading(client, f"/v1/souls/{soul_id}/import-chats", wanted, file, path.name) as sent:
            result = _read(sent.response) if dry_run else _follow(sent)
    _tell(result, dry_run)


@contextmanager
def _packed(path: Path) -> Iterator[IO[bytes]]:
    """The file itself, or what of a folder may be chats as one archive."""
    if path.is_file():
        with opened(path) as file:
            yield file
        return
    files = sorted(file for file in path.rglob("*") if file.suffix in _TAKEN and file.is_file())
    if not files:
        raise InvalidInput(f"{path}: there are no chats in this folder: files of {', '.join(_TAKEN)}")
    with TemporaryFile() as archive:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for chat in files:
                packed.write(chat, chat.relative_to(path).as_posix())
        yield archive


def _read(response: httpx.Response) -> Json:
    response.read()
    found: Json = response.json()
    return found


def _follow(sent: Sent) -> Json:
    """Show how far it is until it is done; raises what the server says went wrong."""
    for event in events(sent.response.iter_text()):
        if event.name == "done":
            return event.data
        if event.name == "error":
            raise RequestError(event.data["detail"], code=event.data["code"])
        _show(sent.bar, event.data)
    raise SoulgraphError("the server broke off: run this again, and it goes on where it was")


def _show(bar: Bar, progress: Json) -> None:
    label = _PHASES.get(progress["phase"], "")
    if progress["phase"] == "indexing":
        bar.count(max(progress["messages"] - progress["unindexed"], 0), progress["messages"], label)
    else:
        bar.count(progress["messages"], progress["total"], label)


def _tell(result: Json, dry_run: bool) -> None:
    if dry_run:
        _tell_found(result)
    else:
        _tell_imported(result)
    kept = result.get("imported", {}).get("files_kept", [])
    for note in [*result["notes"], *(f"{path} was not taken: the soul has one already, edit that" for path in kept)]:
        console.print(note, style="dim", soft_wrap=True)


def _tell_found(found: Json) -> None:
    columns = ("program", "messages", "new", "since", "title")
    rows = [
        (
            one["program"],
            f"{one['messages']:,}",
            f"{one['messages'] - one['known']:,}",
            _day(one["since"]),
            one["title"],
        )
        for one in found["largest"][:_LISTED]
    ]
    print_table(columns, rows)
    files = f"; files: {', '.join(found['files'])}" if found["files"] else ""
    new = f"{found['new_messages']:,} of them new{files}"
    total = f"{found['conversations']:,} conversations with {found['messages']:,} messages"
    console.print(f"{total}, {new}", soft_wrap=True)


def _tell_imported(result: Json) -> None:
    done = result["imported"]
    parts = [f"{done['messages']:,} messages of {done['conversations']:,} new conversations"]
    parts += [f"{done['slots']} memory slots"] if done["slots"] else []
    parts += [", ".join(done["files"])] if done["files"] else []
    known = f"; {done['known']:,} were here already" if done["known"] else ""
    console.print(f"Imported: {', '.join(parts)}{known}.", soft_wrap=True)


def _day(moment: str | None) -> str:
    return moment[:10] if moment else ""

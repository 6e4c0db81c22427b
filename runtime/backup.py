"""A backup of everything, taken while the server runs: the database, what Chroma holds, and the files of souls.

The database is copied first, as it is at one moment. Of Chroma comes what that copy names; what Chroma lacks is made
anew from the database. An event that was deleted since leaves the copy of the catalogue too.
"""

import asyncio
import fcntl
import gzip
import json
import os
import shutil
import tarfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Literal

from pydantic import BaseModel

from soulgraph import __version__
from soulgraph.memory.chroma import StoredDocument
from soulgraph.nodes.context import Context
from soulgraph.soul.timestamps import iso
from soulgraph.stores.database_copy import DatabaseCopy, copying

VERSION = 1
MANIFEST = "manifest.json"
CHROMA = "chroma"
SOULS = "souls"
KINDS = ("events", "summaries")

_PREFIX = "backup-"
_AT_ONCE = 200
_EVENT_IDS = "SELECT event_id FROM event_uses"
_SUMMARY_IDS = "SELECT id FROM backgrounds WHERE id LIKE 'summary%'"


class Manifest(BaseModel):
    """The first file of an archive: what it is of, and every other file with its size."""

    type: Literal["soulgraph-backup"] = "soulgraph-backup"
    version: int = VERSION
    made_by: str = __version__
    created_at: str
    database: str
    revision: str
    embeddings: str
    files: dict[str, int]


async def write_backup(context: Context, data_dir: Path, file: IO[bytes]) -> None:
    """Raises StoreUnavailable if the database or Chroma does not answer."""
    with _workplace(data_dir) as folder:
        url = context.stores.database.url
        async with copying(url, folder) as copy:
            [revision] = await copy.ids("SELECT version_num FROM alembic_version")
            gone = await _copy_chroma(copy, context, folder / CHROMA)
            await copy.finish(gone)
        await asyncio.to_thread(_copy_files, data_dir / SOULS, folder / SOULS)
        embedder = context.memory.embedder
        manifest = Manifest(
            created_at=iso(context.clock()),
            database=url.get_backend_name(),
            revision=revision,
            embeddings=embedder.name if embedder else "",
            files=_sizes(folder),
        )
        await asyncio.to_thread(_pack, folder, manifest, file)


@contextmanager
def _workplace(data_dir: Path) -> Iterator[Path]:
    """A folder beside the data; what a killed server has left of an earlier one is removed."""
    for left in data_dir.glob(f"{_PREFIX}*"):
        with suppress(OSError), _claimed(left):
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=_PREFIX, dir=data_dir) as name, _claimed(Path(name)):
        Path(name, CHROMA).mkdir()
        yield Path(name)


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Raises BlockingIOError if another process has it: several of one server may make a backup at once."""
    claim = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(claim)


async def _copy_chroma(copy: DatabaseCopy, context: Context, folder: Path) -> set[str]:
    """Write the copy's events and summaries as Chroma has them; returns the events that are gone."""
    events, summaries = context.memory.events, context.memory.summaries
    event_ids = await copy.ids(_EVENT_IDS)
    found = await _dump(event_ids, events.dump, folder / "events.jsonl") if events else set(event_ids)
    if summaries:
        await _dump(await copy.ids(_SUMMARY_IDS), summaries.dump, folder / "summaries.jsonl")
    return {*event_ids} - found


async def _dump(
    ids: Sequence[str], dump: Callable[[Sequence[str]], Awaitable[list[StoredDocument]]], path: Path
) -> set[str]:
    """Write documents as JSON lines; returns the ids of those that were there."""
    found: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, len(ids), _AT_ONCE):
            documents = await dump(ids[start : start + _AT_ONCE])
            file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in documents)
            found |= {one.id for one in documents}
    return found


def _copy_files(source: Path, target: Path) -> None:
    """Plain files only: a link may lead anywhere, and a file that is deleted meanwhile is no longer the soul's."""
    for root, _, names in os.walk(source):
        for path in (Path(root, name) for name in names):
            if path.is_file() and not path.is_symlink():
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)


def _sizes(folder: Path) -> dict[str, int]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def _pack(folder: Path, manifest: Manifest, file: IO[bytes]) -> None:
    """The lightest compression: vectors hardly get smaller, and the server has other work."""
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
    with (
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for name in (MANIFEST, *manifest.files):
            archive.add(folder / name, name, recursive=False)

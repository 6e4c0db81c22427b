"""Reads a backup back into an empty data directory and database: all of it is checked before anything is put there."""

import asyncio
import gzip
import json
import shutil
import tarfile
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pydantic import ValidationError
from sqlalchemy import URL

from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.memory.chroma import ChromaCollection, StoredDocument, collection_name, open_embedded, open_server
from soulgraph.runtime.backup import CHROMA, KINDS, MANIFEST, SOULS, VERSION, Manifest
from soulgraph.runtime.data_dir import make_data_dir, tighten
from soulgraph.settings import Settings
from soulgraph.stores.database import Database, database_url, knows_revision, migrated_to
from soulgraph.stores.database_copy import is_empty, paste

_FOLDERS = {"events": "chroma", "summaries": "chroma_summaries"}
_AT_ONCE = 200
_MAX_MANIFEST = 64 * 1024 * 1024


async def restore(settings: Settings, file: Path) -> Manifest:
    """Raises InvalidInput for a file that is no whole backup, ConfigurationError if there is no empty place for it."""
    url = database_url(settings.resolved_database_url)
    make_data_dir(settings.data_dir)
    await _refuse_occupied(settings, url)
    with TemporaryDirectory(prefix="restore-", dir=settings.data_dir) as name:
        folder = Path(name)
        manifest = await asyncio.to_thread(_unpack, file, folder)
        _refuse_other(manifest, url)
        for kind in KINDS:
            await _fill_chroma(settings, manifest, kind, folder)
        if url.get_backend_name() == "postgresql":
            await migrated_to(settings.resolved_database_url, manifest.revision)
        # The database comes last: without it the data directory is no server's.
        _move(folder, settings.data_dir)
        await paste(url, folder)
    tighten(settings.data_dir)
    async with Database.open(settings.resolved_database_url):
        pass  # brought to the newest schema
    return manifest


async def _refuse_occupied(settings: Settings, url: URL) -> None:
    for name in (*_FOLDERS.values(), SOULS):
        folder = settings.data_dir / name
        if folder.is_dir() and any(folder.iterdir()):
            raise ConfigurationError("SOULGRAPH_DATA_DIR", f"{folder} is not empty: restore into an empty folder")
    if not await is_empty(url):
        where = url.render_as_string(hide_password=True)
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"{where} is not empty: restore into an empty database")


def _unpack(file: Path, folder: Path) -> Manifest:
    try:
        with gzip.open(file) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            manifest = _manifest(archive)
            missing = dict(manifest.files)
            while member := archive.next():
                if not member.isfile() or missing.pop(member.name, None) != member.size or _leads_out(member.name):
                    raise InvalidInput(f"{file}: {member.name} is not what the manifest says")
                _extract(archive, member, folder / member.name)
            packed.read()  # to the end, where the checksum is
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise InvalidInput(f"{file}: this is no backup, or not a whole one: {error}") from error
    if missing:
        raise InvalidInput(f"{file}: {min(missing)} is missing: the backup is not whole")
    return manifest


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    """Only the content: `TarFile.extract` takes owners and modes too, and the first releases of Python 3.11 have no
    filter for that."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    content = archive.extractfile(member)
    assert content, "it is a file"
    with content, path.open("wb") as file:
        shutil.copyfileobj(content, file)


def _manifest(archive: tarfile.TarFile) -> Manifest:
    first = archive.next()
    content = archive.extractfile(first) if first and first.name == MANIFEST else None
    if content is None:
        raise InvalidInput("the archive does not begin with a manifest: this is no backup of soulgraph")
    try:
        data = json.loads(content.read(_MAX_MANIFEST))
        version = data.get("version") if isinstance(data, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise InvalidInput(f"the backup has version {version}, and this program reads {VERSION}: update it")
        return Manifest.model_validate(data)
    except (ValueError, ValidationError) as error:
        raise InvalidInput("the manifest cannot be read: this is no backup of soulgraph") from error


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts


def _refuse_other(manifest: Manifest, url: URL) -> None:
    backend = url.get_backend_name()
    if manifest.database != backend:
        raise InvalidInput(
            f"the backup is of {manifest.database}, and the settings name {backend}: set SOULGRAPH_DATABASE_URL, "
            "or move its souls one by one with `soulgraph soul export`"
        )
    if not knows_revision(manifest.revision):
        raise InvalidInput(
            f"the backup is of a newer version ({manifest.made_by}, schema {manifest.revision}): update this program"
        )


async def _fill_chroma(settings: Settings, manifest: Manifest, kind: str, folder: Path) -> None:
    path = folder / CHROMA / f"{kind}.jsonl"
    if not path.exists() or not path.stat().st_size:
        return
    name = collection_name(manifest.embeddings, kind)
    async with _collection(settings, folder / _FOLDERS[kind], name) as collection:
        if settings.chroma_url and await collection.count():
            raise ConfigurationError("SOULGRAPH_CHROMA_URL", f"the collection {name} is not empty: use an empty Chroma")
        with path.open(encoding="utf-8", newline="\n") as file:
            while documents := [StoredDocument(**json.loads(line)) for line in islice(file, _AT_ONCE)]:
                await collection.load(documents)


@asynccontextmanager
async def _collection(settings: Settings, folder: Path, name: str) -> AsyncIterator[ChromaCollection]:
    url = settings.chroma_url
    async with open_server(url, name) if url else open_embedded(folder, name) as collection:
        yield collection


def _move(folder: Path, data_dir: Path) -> None:
    for name in (*_FOLDERS.values(), SOULS):
        if (folder / name).exists():
            (folder / name).replace(data_dir / name)  # in place of an empty folder, if there is one

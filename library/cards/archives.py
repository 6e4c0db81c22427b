"""Reads archives of cards: charx, and those of Backyard. Sizes and names are checked before use."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.json_text import MAX_JSON_BYTES, Parsed, parse_json

ARCHIVE_ERRORS = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
_MAX_FILES = 2000
_MAX_UNPACKED_BYTES = 64 * 1024 * 1024
_CARD_NAME = "card.json"
_MANIFEST_NAME = "manifest.json"
_MAX_PARTS = 50
"""How many characters and scenarios of a manifest are read."""
_ENCRYPTED_FLAG = 0x1


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The JSON of the card in an archive, and the files beside it: by the name from there, where each is in it."""

    parsed: Parsed
    names: Mapping[str, str]


def unpack(content: bytes) -> Unpacked:
    """Raises InvalidInput when an archive is too large or unsafe, or has no card."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            files = archive.infolist()
            check_archive(files)
            if any(file.filename == _MANIFEST_NAME for file in files) and not _named(files, _CARD_NAME):
                return Unpacked(_read_manifest(archive), _beside(files))
            card = _find_card(files)
            text = _read(archive, card)
    except ARCHIVE_ERRORS as error:
        raise InvalidInput(f"the charx archive cannot be read: {error}") from error
    return Unpacked(parse_json(text), _beside([file for file in files if file is not card], card))


def check_archive(files: Sequence[ZipInfo], what: str = "charx archive") -> None:
    """Raises InvalidInput when an archive is too large or unsafe."""
    if len(files) > _MAX_FILES:
        raise InvalidInput(f"the {what} has {len(files)} files, at most {_MAX_FILES} are allowed")
    if sum(file.file_size for file in files) > _MAX_UNPACKED_BYTES:
        raise InvalidInput(f"the {what} would unpack to more than {_MAX_UNPACKED_BYTES} bytes: leave assets out")
    for file in files:
        if _escapes_archive(file):
            raise InvalidInput(f"the {what} names {file.orig_filename!r}, a place outside of it")


def _named(files: Sequence[ZipInfo], name: str) -> list[ZipInfo]:
    return [file for file in files if file.filename == name]


def _beside(files: Sequence[ZipInfo], card: ZipInfo | None = None) -> dict[str, str]:
    folder = card.filename.removesuffix(_CARD_NAME) if card else ""
    names = (file.filename for file in files if not file.is_dir() and file.filename.startswith(folder))
    return {name.removeprefix(folder): name for name in names}


def _find_card(files: Sequence[ZipInfo]) -> ZipInfo:
    """The entry of the card, perhaps in a folder that somebody has packed; raises InvalidInput for none, or several."""
    folders = [file for file in files if file.filename.endswith(f"/{_CARD_NAME}")]
    cards = _named(files, _CARD_NAME) or [file for file in folders if file.filename.count("/") == 1]
    if len(cards) != 1:
        raise InvalidInput(
            f"the charx archive has {len(cards)} files {_CARD_NAME}, expected one: pictures alone are "
            "imported into a character, as its images"
        )
    return cards[0]


def _read(archive: ZipFile, file: ZipInfo) -> bytes:
    """The bytes of a JSON file; raises InvalidInput when it is too large or packed in an odd way."""
    name = file.filename
    if file.flag_bits & _ENCRYPTED_FLAG or file.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InvalidInput(f"{name} is encrypted or packed in a way we do not read: pack it with deflate")
    if file.file_size > MAX_JSON_BYTES:
        raise InvalidInput(
            f"{name} has {file.file_size} bytes, at most {MAX_JSON_BYTES} are read: take pictures out of it"
        )
    with archive.open(file) as opened:
        return opened.read(MAX_JSON_BYTES + 1)


def _read_manifest(archive: ZipFile) -> Parsed:
    """The manifest of Backyard, with the characters and scenarios themselves in the place of their paths."""
    manifest, notes = parse_json(_read(archive, archive.getinfo(_MANIFEST_NAME)))
    if not isinstance(manifest, dict):
        raise InvalidInput(f"{_MANIFEST_NAME} is no object: export the character anew")
    told = [*notes]
    read = {part: _read_parts(archive, manifest.get(part), told) for part in ("characters", "scenarios")}
    return Parsed({**manifest, **read}, tuple(told))


def _read_parts(archive: ZipFile, paths: Any, notes: list[str]) -> list[Any]:
    """The JSON files of these paths, each with its folder; one that cannot be read is left out, and a note says so."""
    parts: list[Any] = []
    left = MAX_JSON_BYTES
    for path in (paths if isinstance(paths, list) else [])[:_MAX_PARTS]:
        try:
            text = _read(archive, archive.getinfo(str(path)))
            left -= len(text)
            if left < 0:
                raise InvalidInput(f"there is more JSON in the archive than the {MAX_JSON_BYTES} bytes that are read")
            part = parse_json(text)
        except (InvalidInput, KeyError, *ARCHIVE_ERRORS) as error:
            notes.append(f"{str(path)[:120]}: left out: {error}")
            continue
        notes.extend(part.notes)
        if isinstance(part.data, dict):
            parts.append({**part.data, "folder": str(PurePosixPath(str(path)).parent)})
    return parts


def _escapes_archive(file: ZipInfo) -> bool:
    """Whether an entry is a symbolic link or its name leads out of the archive."""
    name = file.orig_filename
    parts = name.split("/")
    is_link = file.external_attr >> 28 == 0xA
    return is_link or parts[0] == "" or ".." in parts or any(mark in name for mark in ("\\", ":", "\0"))

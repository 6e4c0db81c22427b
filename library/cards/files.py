"""Reads card files of any kind, told apart by their first bytes. Sizes are checked before use."""

import json
import re
import zlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo, is_zipfile

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.exif import exif_card
from soulgraph.library.cards.limits import MAX_PICTURE_BYTES
from soulgraph.library.cards.png import SIGNATURE, card_text, embedded_assets
from soulgraph.library.cards.yaml_text import looks_like_yaml, parse_yaml

MAX_JSON_BYTES = 2 * 1024 * 1024
JPEG = b"\xff\xd8\xff"
_EMBEDDED = re.compile(rb'"data:[\w/+.-]{0,80};base64,[A-Za-z0-9+/=\\]*"')
_MAX_FILES = 2000
_MAX_UNPACKED_BYTES = 64 * 1024 * 1024
_CARD_NAME = "card.json"
_ENCRYPTED_FLAG = 0x1
ARCHIVE_ERRORS = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class CardFile:
    """The JSON of a card, the picture that the file is, and the files beside the card."""

    data: Any
    picture: bytes | None = None
    packed: bytes = b""
    """The archive that the card came in; empty if in none."""
    names: tuple[str, ...] = ()
    """Of the files in the archive, without the card."""
    chunks: Mapping[str, bytes] = field(default_factory=dict)
    """The files in text chunks of a PNG, as base64."""

    def embedded(self, name: str) -> bytes:
        """A file beside the card; raises InvalidInput when it is not there, or cannot be read."""
        if name in self.chunks:
            return decoded(self.chunks[name])
        if name not in self.names:
            raise InvalidInput("the file is not there")
        try:
            with ZipFile(BytesIO(self.packed)) as archive, archive.open(name) as file:
                return file.read(MAX_PICTURE_BYTES + 1)
        except ARCHIVE_ERRORS as error:
            raise InvalidInput(f"it cannot be read: {error}") from error


def open_file(content: bytes) -> CardFile:
    """What is in a card file; raises InvalidInput when there is no JSON or YAML in it."""
    if content.startswith(SIGNATURE):
        return CardFile(_parse_json(card_text(content)), content, chunks=embedded_assets(content))
    if content.startswith(b"PK"):
        return _open_archive(content)
    if content.startswith(JPEG) and is_zipfile(BytesIO(content)):  # RisuAI packs an archive behind a picture
        return _open_archive(content, content)
    if content.startswith(JPEG) or (content.startswith(b"RIFF") and content[8:12] == b"WEBP"):
        return CardFile(_parse_json(exif_card(content)), content)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return CardFile(_parse_json(content))
    return CardFile(_parse_text(content))


def read_file(content: bytes) -> Any:
    """The JSON or YAML inside of a card file; raises InvalidInput when there is none."""
    return open_file(content).data


def decoded(text: bytes) -> bytes:
    """Base64 of others: with or without line breaks and padding; raises InvalidInput for anything else."""
    if len(text) > 2 * MAX_PICTURE_BYTES:
        raise InvalidInput(f"it is too large: at most {MAX_PICTURE_BYTES} bytes are kept")
    joined = b"".join(text.split()).rstrip(b"=")
    try:
        return b64decode(joined + b"=" * (-len(joined) % 4), validate=True)
    except NotBase64 as error:
        raise InvalidInput(f"it is not base64 ({error})") from error


def _parse_text(content: bytes) -> Any:
    """The YAML in a file that is nothing else."""
    try:
        text = content[:MAX_JSON_BYTES].decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not looks_like_yaml(text):
        raise InvalidInput(
            "the file is no card: send JSON, a PNG with a card inside, or a charx archive; the YAML of "
            "text-generation-webui and pictures with a card in their EXIF are read too"
        )
    return parse_yaml(text)


def _parse_json(text: bytes) -> Any:
    size = len(text)
    if size > MAX_JSON_BYTES:  # pictures in it are long, and no work to parse
        size -= sum(map(len, _EMBEDDED.findall(text)))
    if size > MAX_JSON_BYTES:
        raise InvalidInput(
            f"the card's JSON has {size} bytes, at most {MAX_JSON_BYTES} are read: take something out of it"
        )
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the card's JSON is not UTF-8: {error}") from error
    except RecursionError as error:
        raise InvalidInput("the card's JSON is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(f"the card's JSON cannot be read: {error}") from error


def _open_archive(content: bytes, picture: bytes | None = None) -> CardFile:
    try:
        with ZipFile(BytesIO(content)) as archive:
            files = archive.infolist()
            card = _find_card(files)
            with archive.open(card) as file:
                text = file.read(MAX_JSON_BYTES + 1)
    except ARCHIVE_ERRORS as error:
        raise InvalidInput(f"the charx archive cannot be read: {error}") from error
    names = tuple(file.filename for file in files if file is not card and not file.is_dir())
    return CardFile(_parse_json(text), picture, content, names)


def check_archive(files: list[ZipInfo], what: str = "charx archive") -> None:
    """Raises InvalidInput when an archive is too large or unsafe."""
    if len(files) > _MAX_FILES:
        raise InvalidInput(f"the {what} has {len(files)} files, at most {_MAX_FILES} are allowed")
    if sum(file.file_size for file in files) > _MAX_UNPACKED_BYTES:
        raise InvalidInput(f"the {what} would unpack to more than {_MAX_UNPACKED_BYTES} bytes: leave assets out")
    for file in files:
        if _escapes_archive(file):
            raise InvalidInput(f"the {what} names {file.orig_filename!r}, a place outside of it")


def _find_card(files: list[ZipInfo]) -> ZipInfo:
    """The entry of the card; raises InvalidInput when the archive is too large or unsafe, or has no readable card."""
    check_archive(files)
    cards = [file for file in files if file.filename == _CARD_NAME]
    if len(cards) != 1:
        raise InvalidInput(
            f"the charx archive has {len(cards)} files {_CARD_NAME} at its root, expected one: pictures alone are "
            "imported into a character, as its images"
        )
    [card] = cards
    if card.flag_bits & _ENCRYPTED_FLAG or card.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InvalidInput(f"{_CARD_NAME} is encrypted or packed in a way we do not read: pack it with deflate")
    if card.file_size > MAX_JSON_BYTES:
        raise InvalidInput(
            f"{_CARD_NAME} has {card.file_size} bytes, at most {MAX_JSON_BYTES} are read: take pictures out of it"
        )
    return card


def _escapes_archive(file: ZipInfo) -> bool:
    """Whether an entry is a symbolic link or its name leads out of the archive."""
    name = file.orig_filename
    parts = name.split("/")
    is_link = file.external_attr >> 28 == 0xA
    return is_link or parts[0] == "" or ".." in parts or any(mark in name for mark in ("\\", ":", "\0"))

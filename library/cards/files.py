"""Reads card files of any kind: JSON, PNG or charx, told apart by their first bytes. Sizes are checked before use."""

import json
import zlib
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.png import SIGNATURE, card_text

MAX_JSON_BYTES = 2 * 1024 * 1024
_MAX_FILES = 2000
_MAX_UNPACKED_BYTES = 64 * 1024 * 1024
_CARD_NAME = "card.json"
_ENCRYPTED_FLAG = 0x1
_ARCHIVE_ERRORS = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def read_file(content: bytes) -> Any:
    """The JSON inside of a card file; raises InvalidInput when there is none."""
    if content.startswith(SIGNATURE):
        return _parse_json(card_text(content))
    if content.startswith(b"PK"):
        return _parse_json(_charx_card(content))
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return _parse_json(content)
    raise InvalidInput("the file is no card: send JSON, a PNG with a card inside, or a charx archive")


def _parse_json(text: bytes) -> Any:
    if len(text) > MAX_JSON_BYTES:
        raise InvalidInput(
            f"the card's JSON has {len(text)} bytes, at most {MAX_JSON_BYTES} are read: take pictures out of it"
        )
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the card's JSON is not UTF-8: {error}") from error
    except RecursionError as error:
        raise InvalidInput("the card's JSON is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(f"the card's JSON cannot be read: {error}") from error


def _charx_card(content: bytes) -> bytes:
    try:
        with ZipFile(BytesIO(content)) as archive:
            card = _find_card(archive.infolist())
            with archive.open(card) as file:
                return file.read(MAX_JSON_BYTES + 1)
    except _ARCHIVE_ERRORS as error:
        raise InvalidInput(f"the charx archive cannot be read: {error}") from error


def _find_card(files: list[ZipInfo]) -> ZipInfo:
    """The entry of the card; raises InvalidInput when the archive is too large or unsafe, or has no readable card."""
    if len(files) > _MAX_FILES:
        raise InvalidInput(f"the charx archive has {len(files)} files, at most {_MAX_FILES} are allowed")
    if sum(file.file_size for file in files) > _MAX_UNPACKED_BYTES:
        raise InvalidInput(f"the charx archive would unpack to more than {_MAX_UNPACKED_BYTES} bytes: leave assets out")
    for file in files:
        if _escapes_archive(file):
            raise InvalidInput(f"the charx archive names {file.orig_filename!r}, a place outside of it")
    cards = [file for file in files if file.filename == _CARD_NAME]
    if len(cards) != 1:
        raise InvalidInput(f"the charx archive has {len(cards)} files {_CARD_NAME} at its root, expected one")
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

"""Card files: JSON, PNG or charx, told apart by how they begin. Nothing inside is believed before it is measured."""

import json
import zlib
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.png import SIGNATURE, card_text

MAX_JSON = 2 * 1024 * 1024
_MAX_FILES = 2000
_MAX_UNPACKED = 64 * 1024 * 1024
_CARD = "card.json"
_ENCRYPTED = 0x1
_DAMAGED = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def read_file(content: bytes) -> Any:
    """The JSON of a card file of any kind."""
    if content.startswith(SIGNATURE):
        return _json(card_text(content))
    if content.startswith(b"PK"):
        return _json(_card_of_charx(content))
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return _json(content)
    raise InvalidInput("the file is no card: send JSON, a PNG with a card inside, or a charx archive")


def _json(text: bytes) -> Any:
    if len(text) > MAX_JSON:
        raise InvalidInput(
            f"the card's JSON has {len(text)} bytes, at most {MAX_JSON} are read: take pictures out of it"
        )
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the card's JSON is not UTF-8: {error}") from error
    except RecursionError as error:
        raise InvalidInput("the card's JSON is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(f"the card's JSON cannot be read: {error}") from error


def _card_of_charx(content: bytes) -> bytes:
    try:
        with ZipFile(BytesIO(content)) as archive:
            card = _measured(archive.infolist())
            with archive.open(card) as file:
                return file.read(MAX_JSON + 1)
    except _DAMAGED as error:
        raise InvalidInput(f"the charx archive cannot be read: {error}") from error


def _measured(files: list[ZipInfo]) -> ZipInfo:
    """The card, if the archive is one that can be opened without harm."""
    if len(files) > _MAX_FILES:
        raise InvalidInput(f"the charx archive has {len(files)} files, at most {_MAX_FILES} are allowed")
    if sum(file.file_size for file in files) > _MAX_UNPACKED:
        raise InvalidInput(f"the charx archive would unpack to more than {_MAX_UNPACKED} bytes: leave assets out")
    for file in files:
        if _leaves(file):
            raise InvalidInput(f"the charx archive names {file.orig_filename!r}, a place outside of it")
    cards = [file for file in files if file.filename == _CARD]
    if len(cards) != 1:
        raise InvalidInput(f"the charx archive has {len(cards)} files {_CARD} at its root, expected one")
    [card] = cards
    if card.flag_bits & _ENCRYPTED or card.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InvalidInput(f"{_CARD} is encrypted or packed in a way we do not read: pack it with deflate")
    if card.file_size > MAX_JSON:
        raise InvalidInput(f"{_CARD} has {card.file_size} bytes, at most {MAX_JSON} are read: take pictures out of it")
    return card


def _leaves(file: ZipInfo) -> bool:
    name = file.orig_filename
    parts = name.split("/")
    is_link = file.external_attr >> 28 == 0xA
    return is_link or parts[0] == "" or ".." in parts or any(mark in name for mark in ("\\", ":", "\0"))

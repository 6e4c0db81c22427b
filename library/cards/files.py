"""Reads card files of any kind, told apart by their first bytes. Sizes are checked before use."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZipFile, is_zipfile

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.archives import ARCHIVE_ERRORS, unpack
from soulgraph.library.cards.encodings import Decoded, decode_text
from soulgraph.library.cards.exif import exif_card
from soulgraph.library.cards.json_text import Parsed, begins_like_json, parse_json
from soulgraph.library.cards.limits import MAX_PICTURE_BYTES
from soulgraph.library.cards.png import SIGNATURE, card_text, embedded_assets, has_exif
from soulgraph.library.cards.yaml_text import looks_like_yaml, parse_yaml

JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class CardFile:
    """The JSON of a card, the picture that the file is, and the files beside the card."""

    data: Any
    picture: bytes | None = None
    packed: bytes = b""
    """The archive that the card came in; empty if in none."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of the files in the archive, without the card: as the card calls them, and where they are."""
    chunks: Mapping[str, bytes] = field(default_factory=dict)
    """The files in text chunks of a PNG, as base64."""
    notes: tuple[str, ...] = ()
    """What was wrong with the file, and was read all the same."""

    def embedded(self, name: str) -> bytes:
        """A file beside the card; raises InvalidInput when it is not there, or cannot be read."""
        if name in self.chunks:
            return decoded(self.chunks[name])
        if name not in self.names:
            raise InvalidInput("the file is not there")
        try:
            with ZipFile(BytesIO(self.packed)) as archive, archive.open(self.names[name]) as file:
                return file.read(MAX_PICTURE_BYTES + 1)
        except ARCHIVE_ERRORS as error:
            raise InvalidInput(f"it cannot be read: {error}") from error


def open_file(content: bytes) -> CardFile:
    """What is in a card file; raises InvalidInput when there is no JSON or YAML in it."""
    if content.startswith(SIGNATURE):
        data, notes = _parse_png(content)
        return CardFile(data, content, chunks=embedded_assets(content), notes=notes)
    if content.startswith(b"PK"):
        return _open_archive(content)
    if content.startswith(JPEG) and is_zipfile(BytesIO(content)):  # RisuAI packs an archive behind a picture
        return _open_archive(content, content)
    if content.startswith(JPEG) or (content.startswith(b"RIFF") and content[8:12] == b"WEBP"):
        data, notes = parse_json(exif_card(content))
        return CardFile(data, content, notes=notes)
    data, notes = _parse_text(content)
    return CardFile(data, notes=notes)


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


def _open_archive(content: bytes, picture: bytes | None = None) -> CardFile:
    unpacked = unpack(content)
    return CardFile(unpacked.parsed.data, picture, content, unpacked.names, notes=unpacked.parsed.notes)


def _parse_png(content: bytes) -> Parsed:
    """The best text of a PNG that can be read; of those before it a note tells. The first error counts."""
    texts = card_text(content)
    if not texts and has_exif(content):
        return parse_json(exif_card(content))
    failed: list[InvalidInput] = []
    for text in texts:
        try:
            data, notes = parse_json(text.content())
        except InvalidInput as error:
            failed.append(error)
            continue
        skipped = [f"a text of the PNG is damaged, and {text.keyword} was read instead: {error}" for error in failed]
        return Parsed(data, (*skipped, *notes))
    raise (
        failed[0] if failed else InvalidInput("the PNG holds no card: its text chunks have neither `ccv3` nor `chara`")
    )


def _parse_text(content: bytes) -> Parsed:
    """The JSON or YAML in a file that is nothing else."""
    try:
        text, notes = decode_text(content)
    except InvalidInput:
        if content.startswith(b"{"):
            raise
        text, notes = Decoded("")
    if begins_like_json(text):
        return parse_json(content)
    if not looks_like_yaml(text):
        raise InvalidInput(
            "the file is no card: send JSON, a PNG with a card inside, or a charx archive; the YAML of "
            "text-generation-webui and pictures with a card in their EXIF are read too"
        )
    return Parsed(parse_yaml(text), notes)

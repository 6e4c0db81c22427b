"""Reads and writes cards in the text chunks of PNG files, without decoding the picture."""

import re
import struct
import zlib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from soulgraph.errors import InvalidInput

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TEXT_CHUNKS = (b"tEXt", b"zTXt", b"iTXt", b"eXIf")
_ASSET = b"chara-ext-asset_"
_KEYWORDS = ("ccv3", "chara", "naidata")
_PLAIN = re.compile(rb'\s*\{\s*"')
_MAX_CHUNKS = 20_000
_MAX_TEXTS = 8
_MAX_UNPACKED_BYTES = 16 * 1024 * 1024
_WIDTH, _HEIGHT = 128, 192
_CHUNK_OVERHEAD = 12  # length, kind and checksum of a chunk


@dataclass(frozen=True, slots=True)
class CardText:
    """A text of a PNG that is, or should be, the JSON of a card."""

    keyword: str
    at: int
    raw: bytes
    packed: bool = False

    def content(self) -> bytes:
        """Its JSON; raises InvalidInput if it is empty, damaged or too large."""
        text = _unpacked(self.raw, self.at) if self.packed else self.raw
        if not text.strip():
            raise InvalidInput(f"the text {self.keyword} of the PNG is empty: export the card anew")
        return _decode(text, self.keyword, self.at)


def card_text(png: bytes) -> list[CardText]:
    """The text of the card in a PNG, in each of its versions, the newest first; NovelAI keeps lorebooks in one too."""
    found = [
        text
        for at, kind, content in _chunks(png)
        if (text := _card_text(at, kind, content)) and text.keyword in _KEYWORDS
    ]
    return sorted(found, key=lambda text: _KEYWORDS.index(text.keyword))[:_MAX_TEXTS]


def has_exif(png: bytes) -> bool:
    return any(kind == b"eXIf" for _, kind, _ in _chunks(png))


def _card_text(at: int, kind: bytes, content: bytes) -> CardText | None:
    """The text in a chunk of any of the three kinds; None if it is none."""
    if kind not in _TEXT_CHUNKS:
        return None
    keyword, _, rest = content.partition(b"\0")
    name = keyword.lower().decode("latin-1")
    if kind == b"tEXt":
        return CardText(name, at, rest)
    if kind == b"zTXt":
        return CardText(name, at, rest[1:], packed=True)
    if kind == b"iTXt":  # flag and method of packing, language, the keyword in that language
        return CardText(name, at, rest[2:].split(b"\0", 2)[-1], packed=rest[:1] == b"\1")
    return None


def _unpacked(raw: bytes, at: int) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(raw, _MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise InvalidInput(f"byte {at}: a packed text of the PNG is damaged ({error})") from error
    if unpacking.unconsumed_tail:
        raise InvalidInput(f"byte {at}: a packed text of the PNG has more than {_MAX_UNPACKED_BYTES} bytes")
    if not unpacking.eof:
        raise InvalidInput(f"byte {at}: a packed text of the PNG is damaged (it has no end)")
    return text


def embedded_assets(png: bytes) -> dict[str, bytes]:
    """The files that RisuAI keeps in text chunks beside the card, as base64, by their path."""
    texts = [content.partition(b"\0") for _, kind, content in _chunks(png) if kind == b"tEXt"]
    return {
        keyword.removeprefix(_ASSET).removeprefix(b":").decode("latin-1"): text
        for keyword, _, text in texts
        if keyword.startswith(_ASSET)
    }


def without_texts(png: bytes) -> bytes:
    """The PNG without its text and EXIF chunks."""
    return _build_png([(kind, content) for _, kind, content in _chunks(png) if kind not in _TEXT_CHUNKS])


def with_texts(png: bytes, texts: Mapping[str, bytes]) -> bytes:
    """The PNG with these texts in chunks after its header."""
    header, *rest = [(kind, content) for _, kind, content in _chunks(png)]
    inside = [(b"tEXt", keyword.encode() + b"\0" + b64encode(text)) for keyword, text in texts.items()]
    return _build_png([header, *inside, *rest])


def plain(name: str) -> bytes:
    """A picture for a character without one: a gradient of two colours that depend on the name."""
    top, bottom = (blake2b(name.encode(), digest_size=3, person=end).digest() for end in (b"top", b"bottom"))
    rows = (bytes(_interpolate(a, b, y) for a, b in zip(top, bottom, strict=True)) for y in range(_HEIGHT))
    pixels = zlib.compress(b"".join(b"\0" + colour * _WIDTH for colour in rows), 9)
    return _build_png([(b"IHDR", struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)), (b"IDAT", pixels)])


def _chunks(png: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """(offset, kind, content) of each chunk up to the end of the picture; raises InvalidInput for a damaged file."""
    at = len(SIGNATURE)
    if png[at + 4 : at + 8] != b"IHDR":
        raise InvalidInput(f"the PNG does not begin with its header at byte {at}: send the whole file")
    for _ in range(_MAX_CHUNKS):
        if len(png) < at + _CHUNK_OVERHEAD:
            raise InvalidInput(f"the PNG is cut off at byte {at}: send the whole file")
        size, kind = struct.unpack_from(">I4s", png, at)
        end = at + _CHUNK_OVERHEAD + size
        if end > len(png):
            raise InvalidInput(f"byte {at}: a chunk of the PNG says it has {size} bytes, more than the file holds")
        content = png[at + 8 : end - 4]
        if zlib.crc32(content, zlib.crc32(kind)) != int.from_bytes(png[end - 4 : end], "big"):
            raise InvalidInput(f"byte {at}: the checksum of a chunk of the PNG is wrong: the file is damaged")
        if kind == b"IEND":
            return
        yield at, kind, content
        at = end
    raise InvalidInput(f"the PNG has more than {_MAX_CHUNKS} chunks: save the picture anew")


def _decode(text: bytes, keyword: str, at: int) -> bytes:
    try:
        return b64decode(b"".join(text.split()), validate=True)
    except NotBase64 as error:
        if _PLAIN.match(text):  # some programs forget to encode it
            return text
        raise InvalidInput(f"byte {at}: the text {keyword} is not base64 ({error})") from error


def _build_png(chunks: Sequence[tuple[bytes, bytes]]) -> bytes:
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in [*chunks, (b"IEND", b"")])


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", checksum)


def _interpolate(top: int, bottom: int, y: int) -> int:
    return (top * (_HEIGHT - y) + bottom * y) // _HEIGHT

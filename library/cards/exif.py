"""Finds a card in the EXIF comment of a picture, as TavernAI and its heirs write it, and Faraday into PNG."""

import re
import struct
from base64 import b64decode
from binascii import Error as NotBase64
from io import BytesIO

from soulgraph.errors import InvalidInput

_EXIF_IFD = 0x8769
_USER_COMMENT = 0x9286
_DESCRIPTION = 0x010E
_CHARSETS = (b"ASCII\0\0\0", b"UNICODE\0", b"\0" * 8)
_BYTES = re.compile(rb"\d{1,3}(?:,\d{1,3})*")


def exif_card(picture: bytes) -> bytes:
    """The JSON of the card in a picture; raises InvalidInput if it holds none."""
    for comment in _comments(picture):
        if text := _card_text(comment):
            return text
    raise InvalidInput(
        "the file is no card: the picture has none in its EXIF: send the PNG or the JSON that your program exports"
    )


def _comments(picture: bytes) -> list[bytes]:
    from PIL import Image  # takes a while to import, and few need it

    bombs = Image.DecompressionBombError, Image.DecompressionBombWarning
    damaged = OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError, struct.error, UserWarning
    try:
        with Image.open(BytesIO(picture), formats=("JPEG", "WEBP", "PNG")) as image:
            exif = image.getexif()
            found = [exif.get_ifd(_EXIF_IFD).get(_USER_COMMENT), exif.get(_USER_COMMENT), exif.get(_DESCRIPTION)]
    except (*damaged, *bombs) as error:
        raise InvalidInput(f"the file is no card: the picture cannot be read ({error}): send the whole file") from error
    return [text for value in found if (text := _as_bytes(value))]


def _as_bytes(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return value if isinstance(value, bytes) else b""


def _card_text(comment: bytes) -> bytes:
    """The JSON in a comment: plain, as base64, or as the numbers of its bytes; empty if it is none of these."""
    for charset in _CHARSETS:
        comment = comment.removeprefix(charset)
    if b"\0" in comment[:4]:  # two bytes for each letter, the second or the first of them empty
        comment = comment.decode("utf-16-be" if comment[0] == 0 else "utf-16-le", "replace").encode()
    text = comment.strip(b"\0 \t\r\n")
    if _BYTES.fullmatch(text):
        text = bytes(int(number) % 256 for number in text.split(b","))
    elif not text.startswith(b"{"):
        text = _decoded(text)
    return text if text.startswith(b"{") else b""


def _decoded(text: bytes) -> bytes:
    try:
        return b64decode(b"".join(text.split()), validate=True).strip()
    except NotBase64:
        return b""

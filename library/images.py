"""Checks pictures that people send: their kind by their first bytes, and that they can be decoded; and makes PNG."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Literal, NamedTuple

from soulgraph.errors import InvalidInput, UnsupportedMedia
from soulgraph.library.cards.png import SIGNATURE, without_texts

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

ContentType = Literal["image/png", "image/jpeg", "image/webp"]

PNG: ContentType = "image/png"
MAX_PIXELS = 4096 * 4096


class CheckedImage(NamedTuple):
    content_type: ContentType
    content: bytes


def check_image(content: bytes) -> CheckedImage:
    """The picture, a PNG without its texts: an avatar may be a card, and its texts are not for everybody.

    Raises UnsupportedMedia for another kind of file, and InvalidInput for one that is damaged or too large to decode.
    """
    if not content:
        raise InvalidInput("the body is empty: send the picture itself, as PNG, JPEG or WebP")
    content_type = type_of(content)
    content = without_texts(content) if content_type == PNG else content
    with _opened(content) as image:
        image.load()
    return CheckedImage(content_type, content)


def type_of(content: bytes) -> ContentType:
    if content.startswith(SIGNATURE):
        return PNG
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    raise UnsupportedMedia("the file is no picture that every browser shows: send PNG, JPEG or WebP")


def as_png(content: bytes) -> bytes:
    """The picture as PNG, upright; the first one of an animation."""
    if content.startswith(SIGNATURE):
        return content
    from PIL import ImageOps

    png = BytesIO()
    with _opened(content) as image:
        upright = ImageOps.exif_transpose(image)
        upright.convert("RGBA" if upright.has_transparency_data else "RGB").save(png, "PNG")
    return without_texts(png.getvalue())


@contextmanager
def _opened(content: bytes) -> Iterator["ImageFile"]:
    """The picture with its header read; errors in the block are errors of the file."""
    from PIL import Image  # takes a while to import, and few need it

    damaged = OSError, SyntaxError, ValueError, EOFError
    bombs = Image.DecompressionBombError, Image.DecompressionBombWarning
    try:
        with Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP")) as image:
            if image.width * image.height > MAX_PIXELS:
                raise _too_large(f"{image.width} x {image.height} pixels")
            yield image
    except bombs as error:
        raise _too_large("too many pixels") from error
    except damaged as error:
        raise InvalidInput(f"the picture cannot be read ({error}): save it anew, and send the whole file") from error


def _too_large(size: str) -> InvalidInput:
    return InvalidInput(f"the picture has {size}, at most {MAX_PIXELS:,} are shown: make it smaller")

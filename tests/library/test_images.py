"""Pictures that people send: told apart by what they are, whole, and not too large to be shown."""

import struct
from io import BytesIO

import pytest
from PIL import Image

from soulgraph.errors import InvalidInput, UnsupportedMedia
from soulgraph.library.cards.png import card_text
from soulgraph.library.images import as_png, check_image
from soulgraph.tests.library.cards.samples import V2, chunk, text_chunk

RED = (250, 20, 30)


def picture(kind, size=(8, 6), **options):
    file = BytesIO()
    Image.new("RGB", size, RED).save(file, kind, **options)
    return file.getvalue()


def with_chunk(png, added):
    """A PNG with another chunk right after its header."""
    return png[:33] + added + png[33:]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_what_its_bytes_say(kind):
    content = picture(kind)
    assert check_image(content) == (f"image/{kind.lower()}", content)


@pytest.mark.parametrize(
    "content",
    [
        b"GIF89a" + b"\0" * 40,
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html>",
        b"BM" + b"\0" * 40,
        b"RIFF\0\0\0\0WAVE",
        b"PNG",
        b" " + picture("PNG"),
        "一幅画".encode(),
    ],
)
def test_other_files_are_not_taken(content):
    with pytest.raises(UnsupportedMedia, match="send PNG, JPEG or WebP"):
        check_image(content)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("kept", [12, 30, 0.5])
def test_a_file_that_is_cut_off_is_refused(kind, kept):
    content = picture(kind, (300, 200))
    with pytest.raises(InvalidInput):
        check_image(content[: kept if isinstance(kept, int) else int(len(content) * kept)])


def test_nothing_is_no_picture():
    with pytest.raises(InvalidInput, match="the body is empty"):
        check_image(b"")


def test_a_picture_with_too_many_pixels_is_refused_before_they_are_unpacked():
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    bomb = picture("PNG")[:8] + chunk(b"IHDR", header) + chunk(b"IDAT", b"\0") + chunk(b"IEND", b"")
    with pytest.raises(InvalidInput, match="make it smaller"):
        check_image(bomb)


def test_a_card_that_becomes_an_avatar_loses_its_card():
    card = with_chunk(picture("PNG"), text_chunk(b"chara", V2))
    assert card_text(card)
    assert check_image(card).content == picture("PNG")


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_it_becomes_a_png_of_the_same_picture(kind):
    with Image.open(BytesIO(as_png(picture(kind)))) as image:
        assert (image.format, image.size, image.mode) == ("PNG", (8, 6), "RGB")
        assert max(abs(seen - meant) for seen, meant in zip(image.getpixel((4, 3)), RED, strict=True)) < 12


def test_a_png_stays_as_it_is():
    assert as_png(picture("PNG")) == picture("PNG")


def test_a_photo_that_lies_on_its_side_is_set_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    with Image.open(BytesIO(as_png(picture("JPEG", exif=exif)))) as image:
        assert image.size == (6, 8)


def test_what_can_be_seen_through_stays_so():
    file = BytesIO()
    Image.new("RGBA", (4, 4), (0, 0, 255, 40)).save(file, "WEBP", lossless=True)
    with Image.open(BytesIO(as_png(file.getvalue()))) as image:
        assert image.getpixel((1, 1)) == (0, 0, 255, 40)

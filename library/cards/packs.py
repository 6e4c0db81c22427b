"""Expression packs: archives of pictures that are named for what they show, as SillyTavern has them."""

from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZipFile, is_zipfile

from soulgraph.errors import InvalidInput
from soulgraph.library.cards.archives import ARCHIVE_ERRORS, check_archive
from soulgraph.library.cards.limits import MAX_PICTURE_BYTES
from soulgraph.library.cards.pictures import Pictures, label_of, pack_pictures


def read_pack(content: bytes) -> Pictures:
    """The pictures of an archive by the emotion that they show; raises InvalidInput if it has none."""
    if not is_zipfile(BytesIO(content)):
        raise InvalidInput("the file is no zip archive: pack the pictures of the character into one, like joy.png")
    try:
        with ZipFile(BytesIO(content)) as archive:
            check_archive(archive.infolist(), "archive")
            paths = [
                file.filename for file in archive.infolist() if not file.is_dir() and not _is_hidden(file.filename)
            ]
            pictures = pack_pictures({path: label_of(path) for path in paths}, lambda path: _read(archive, path))
    except ARCHIVE_ERRORS as error:
        raise InvalidInput(f"the archive cannot be read: {error}") from error
    if not pictures.images:
        told = "; ".join(pictures.notes[:3]) or "it is empty"
        raise InvalidInput(f"the archive has no picture of an emotion: name the files like joy.png ({told})")
    return pictures


def _is_hidden(path: str) -> bool:
    """Whether a file was put there by a system and not by a person."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


def _read(archive: ZipFile, path: str) -> bytes:
    try:
        with archive.open(path) as file:
            return file.read(MAX_PICTURE_BYTES + 1)
    except ARCHIVE_ERRORS as error:
        raise InvalidInput(f"it cannot be read: {error}") from error

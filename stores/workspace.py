"""The files of a soul: `souls/<soul_id>/SOUL.md`, `IDENTITY.md` and `USER.md`, as in an OpenClaw workspace.

`USER.md` is about the person whose soul it is. Others may have one in `souls/<soul_id>/people/<user_id>/`.

People edit them while the server runs, so a file is read again when it has changed.
"""

import codecs
import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import Soul

USER_FILE = "USER.md"
NAMES = ("SOUL.md", "IDENTITY.md", USER_FILE)
MAX_BYTES = 64 * 1024
"""Only this many bytes of a file are read for a prompt."""
MAX_MOVED = 1024 * 1024
"""A larger file does not move with its soul."""

# No path separators, and not dots alone: the id becomes the name of a folder.
_ID = re.compile(r"(?!\.+\Z)[\w.:@-]{1,128}")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_log = logging.getLogger(__name__)


def is_soul_file(path: str) -> bool:
    """Whether a path in a soul's folder is that of a file which is read for prompts."""
    people, _, name = path.rpartition("/")
    folder, _, user_id = people.partition("/")
    of_person = folder == "people" and name == USER_FILE and _ID.fullmatch(user_id)
    return path in NAMES or bool(of_person)


def user_file(user_id: str, owner_id: str) -> str:
    """The path of what a soul is told about a person; `owner_id` is the person whose soul it is."""
    return USER_FILE if user_id == owner_id else f"people/{user_id}/{USER_FILE}"


class Workspaces:
    def __init__(self, data_dir: Path) -> None:
        self._souls = data_dir / "souls"

    def read(self, soul: Soul, user_id: str | None) -> dict[str, str]:
        """The texts of the soul's files by name, in a conversation with this person, or with several if it is None.

        Files that are missing, blank or unreadable are left out.
        """
        folder = self.folder(soul.soul_id)
        paths = {name: folder / name for name in NAMES if name != USER_FILE}
        if user_id == soul.user_id:
            paths[USER_FILE] = folder / USER_FILE
        elif user_id is not None and _ID.fullmatch(user_id):
            paths[USER_FILE] = folder / "people" / user_id / USER_FILE
        texts = {name: _read_if_changed(folder, path) for name, path in paths.items()}
        return {name: text for name, text in texts.items() if text}

    def files(self, soul_id: str) -> dict[str, bytes]:
        """All files of the soul by their paths in its folder, as they are; links and what is too large are left out."""
        if not _ID.fullmatch(soul_id):
            return {}
        folder = self.folder(soul_id)
        paths = [*(folder / name for name in NAMES), *folder.glob(f"people/*/{USER_FILE}")]
        found = {path.relative_to(folder).as_posix(): path for path in paths if _is_movable(folder, path)}
        return {name: found[name].read_bytes() for name in sorted(found) if is_soul_file(name)}

    @contextmanager
    def adding(self, soul_id: str, files: Mapping[str, bytes]) -> Iterator[None]:
        """Write files that are not there yet; those are taken back if the block fails. Others stay as they are."""
        made: list[Path] = []
        try:
            for name, content in files.items():
                path = self.folder(soul_id) / name
                if not path.exists():
                    made.append(path)
                    _write(path, content)
            yield
        except BaseException:
            for path in made:
                path.unlink(missing_ok=True)
            raise

    def folder(self, soul_id: str) -> Path:
        """Raises InvalidInput for an id that could lead out of the souls' folder."""
        if not _ID.fullmatch(soul_id):
            raise InvalidInput(f"{soul_id!r} cannot be a soul's folder: use letters, digits and .:@-_")
        return self._souls / soul_id


def _is_movable(folder: Path, path: Path) -> bool:
    inside = path.resolve().is_relative_to(folder.parent.resolve() / folder.name)
    if not path.is_file() or not inside:
        return False
    if path.stat().st_size <= MAX_MOVED:
        return True
    _log.warning("%s is larger than %d bytes: it does not move with its soul", path, MAX_MOVED)
    return False


def _write(path: Path, content: bytes) -> None:
    """Like everything in the data directory it is for its owner alone."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _read_if_changed(folder: Path, path: Path) -> str:
    """The text of the file; empty if there is none or it must not be read."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ""
    except OSError as error:
        _log.warning("%s was not read: %s", path, error.strerror)
        return ""
    return _read(folder, path, found.st_mtime_ns, found.st_size, found.st_ino, stat.S_ISREG(found.st_mode))


@lru_cache(maxsize=512)
def _read(folder: Path, path: Path, changed: int, size: int, inode: int, regular: bool) -> str:
    """Cached by the file's time, size and inode: a changed file is read again, and each warning is logged once."""
    # A link out of the folder would put any file of the machine into a prompt.
    if not regular or not path.resolve().is_relative_to(folder.parent.resolve() / folder.name):
        _log.warning("%s was not read: it must be a plain file in its soul's own folder", path)
        return ""
    try:
        with path.open("rb") as file:
            text = _decode(file.read(MAX_BYTES), whole=size <= MAX_BYTES)
    except OSError as error:
        _log.warning("%s was not read: %s", path, error.strerror)
        return ""
    except UnicodeDecodeError as error:
        _log.warning("%s was not read: it is not UTF-8 (byte %d)", path, error.start)
        return ""
    if size > MAX_BYTES:
        _log.warning("%s is longer than %d bytes: only its beginning is used", path, MAX_BYTES)
    return _FRONT_MATTER.sub("", text, count=1).strip()


def _decode(content: bytes, whole: bool) -> str:
    """Decode UTF-8 with Unix line ends; if it is not the whole file, a character cut in two at its end is dropped."""
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(content, final=whole)
    return text.replace("\r\n", "\n").replace("\r", "\n")

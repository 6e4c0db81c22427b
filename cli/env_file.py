"""Changes lines of the `.env` file and leaves all others as they are."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from soulgraph.errors import InvalidInput

_PLAIN = re.compile(r"[\w./:@%+,=~?&-]+")
_HOLDS_KEY = re.compile(r"^[#\s]*(?:export\s+)?\w*API_KEY\s*=\s*\S", re.MULTILINE)


def update_env_file(path: Path, values: Mapping[str, str | None], head: str = "", private: bool = False) -> None:
    """Write these variables; None takes one out. Who else reads the file sees all of it, old or new.

    A new file begins with `head`. One with a key in it is for its owner alone, and so is a `private` one.
    """
    path = path.resolve()
    try:
        before = path.read_text("utf-8") if path.exists() else head
        _replace(path, changed(before, values), private)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be changed: {error}") from error


def changed(text: str, values: Mapping[str, str | None]) -> str:
    """The text with these variables set; a variable that is there already keeps its place."""
    lines = text.splitlines()
    for name, value in values.items():
        places = [place for place, line in enumerate(lines) if _assigns(line, name)]
        if value is None and is_key(name):
            # A key is hard to get again, so it stays in the file, where it has no effect.
            lines = [f"# {line}" if place in places else line for place, line in enumerate(lines)]
            continue
        kept = [] if value is None else [f"{name}={_quoted(value)}"]
        at = places[0] if places else len(lines)
        rest = [line for place, line in enumerate(lines) if place not in places]
        lines = [*rest[:at], *kept, *rest[at:]]
    return "".join(f"{line}\n" for line in lines)


def assigned(path: Path, name: str) -> bool:
    """Whether the file has a line that sets this variable."""
    try:
        return any(_assigns(line, name) for line in path.read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return False


def text_of(path: Path) -> str:
    """What is in the file; empty if it is not there. Raises InvalidInput if it cannot be read."""
    try:
        return path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be read: {error}") from error


def overridden(values: Mapping[str, str | None]) -> list[str]:
    """The variables that the environment sets to something else, which wins."""
    return [name for name, value in values.items() if os.environ.get(name) not in (None, "", value)]


def is_key(name: str) -> bool:
    return name.endswith("API_KEY")


def _assigns(line: str, name: str) -> bool:
    return re.match(rf"\s*(?:export\s+)?{name}\s*=", line) is not None


def _quoted(value: str) -> str:
    if any(ord(character) < 32 for character in value):
        raise InvalidInput("a value of .env must be one line")
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _replace(path: Path, text: str, private: bool) -> None:
    mode = 0o600 if private or _HOLDS_KEY.search(text) else path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".env.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise

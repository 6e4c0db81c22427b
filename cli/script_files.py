"""The files of `soulgraph simulate`: scripts, whose sentences are heard by the built-in recogniser, and constants."""

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from soulgraph.cli.conversation import errors
from soulgraph.errors import InvalidInput
from soulgraph.library.shipped import SCRIPTS
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.simulation import Script, said, script_of


def load_script(path: Path | None, line: str | None) -> Script:
    """The script of the file or of the line; the one of insults if neither is given."""
    if line is None:
        return read_script(path or Path("insults"))
    if path is not None:
        raise InvalidInput(f"--say and {path} are two scripts: give one")
    return said(line, hear)


def read_script(path: Path) -> Script:
    """Read CSV if the file's name ends with .csv, else YAML; the bare name of a script that ships will do.

    InvalidInput names the line and field of a bad entry.
    """
    shipped = SCRIPTS / f"{path}.yaml"
    path = path if path.exists() or not shipped.is_file() else shipped
    entries = _csv_entries(path) if path.suffix.lower() == ".csv" else _yaml_entries(path)
    return script_of(((f"{path}, line {line}", entry) for line, entry in entries), hear)


@cache
def hear(words: str) -> UserEmotion:
    """What the built-in recogniser makes of a sentence. The first one waits until its model is loaded."""
    with errors.status("listening to the sentences …"):
        from soulgraph.senses.embedding.local import encode  # together they take seconds to load
        from soulgraph.senses.emotion.local import judge

        return judge(words, encode([words])[0])


def read_constants(path: Path) -> Constants:
    """The default constants with those of the file replaced. An unknown name or a bad value is an error."""
    with _translate_errors(path):
        values = yaml.safe_load(_text(path)) or {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path}: expected names and values, like `tau_up: 300`")
    return DEFAULT.override(values)


def _yaml_entries(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every item of a YAML list."""
    with _translate_errors(path):
        loader = yaml.BaseLoader(_text(path))  # leaves every value a string, as in CSV
        node = loader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            raise InvalidInput(f"{path}: expected a list of entries like `- {{at: 8, emotion: anger}}`")
        return [(item.start_mark.line + 1, loader.construct_document(item)) for item in node.value]


def _csv_entries(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every row of a table whose first row names the fields."""
    with _translate_errors(path):
        reader = csv.DictReader(io.StringIO(_text(path), newline=""), restkey="beyond the last column")
        return [(reader.line_num, row) for row in reader]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise errors of the parsers as InvalidInput with the file and, if known, the line."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidInput(f"{path}{line}: {error.problem}") from error
    except (yaml.YAMLError, csv.Error, ValueError) as error:
        raise InvalidInput(f"{path}: {error}") from error

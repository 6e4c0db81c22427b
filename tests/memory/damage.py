"""Every way in which a folder of Chroma gets damaged."""

import shutil
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path], None]


def _database(folder: Path) -> Path:
    return folder / "chroma.sqlite3"


def _truncated(folder: Path) -> None:
    content = _database(folder).read_bytes()
    _database(folder).write_bytes(content[: len(content) // 2])


def _emptied(folder: Path) -> None:
    _database(folder).write_bytes(b"")


def _zeros_inside(folder: Path) -> None:
    content = _database(folder).read_bytes()
    third = len(content) // 3
    _database(folder).write_bytes(content[:third] + bytes(third) + content[2 * third :])


def _no_header(folder: Path) -> None:
    content = _database(folder).read_bytes()
    _database(folder).write_bytes(bytes(4096) + content[4096:])


def _text(folder: Path) -> None:
    _database(folder).write_text("this is no database\n" * 1000)


def _no_database(folder: Path) -> None:
    _database(folder).unlink()


def _a_folder_in_its_place(folder: Path) -> None:
    _database(folder).unlink()
    _database(folder).mkdir()


def _deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def _a_file_in_its_place(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("not a folder")


OF_THE_DATABASE: dict[str, Damage] = {
    "truncated": _truncated,
    "emptied": _emptied,
    "zeros inside": _zeros_inside,
    "no header": _no_header,
    "text": _text,
    "no database": _no_database,
    "a folder in its place": _a_folder_in_its_place,
    "deleted": _deleted,
    "a file in its place": _a_file_in_its_place,
}


def _segments(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]


def _no_index(folder: Path) -> None:
    for segment in _segments(folder):
        shutil.rmtree(segment)


def _text_in_the_index(folder: Path) -> None:
    for path in (file for segment in _segments(folder) for file in segment.iterdir()):
        path.write_text("this is no index\n")


def _deadly_index(folder: Path) -> None:
    """Whatever process reads this is ended by the system."""
    for segment in _segments(folder):
        path = segment / "data_level0.bin"
        path.write_bytes(b"\xff" * path.stat().st_size)


OF_THE_INDEX: dict[str, Damage] = {
    "no index": _no_index,
    "text in the index": _text_in_the_index,
    "deadly index": _deadly_index,
}

"""The files of an export: one alone, or all that a zip archive holds; and what program each is from."""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Any

from soulgraph.errors import InvalidInput
from soulgraph.library.chats import chatgpt, claude, openclaw, sillytavern
from soulgraph.library.chats.conversation import Conversation, Notes, SoulText
from soulgraph.library.chats.json_stream import Damaged, elements

MAX_FILES = 100_000
MAX_UNPACKED = 8 * 1024**3
_MAX_ROW = 16 * 1024 * 1024
_MAX_NOTE = 4 * 1024 * 1024
# What a member of an archive may raise: it is damaged, encrypted, or packed in a way that is not known.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


@dataclass(frozen=True, slots=True)
class ChatFile:
    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def chat_files(file: IO[bytes], name: str) -> Sequence[ChatFile]:
    """The file itself, or those of an archive, by name. Raises InvalidInput for an archive that cannot be read."""
    file.seek(0)
    is_archive = file.read(4) == b"PK\x03\x04"
    file.seek(0)
    if not is_archive:
        return [ChatFile(name, lambda: _rewound(file))]
    try:
        archive = zipfile.ZipFile(file)
    except (*_UNREADABLE, ValueError) as error:
        raise InvalidInput(f"the archive is damaged: {error}") from error
    members = [info for info in archive.infolist() if not info.is_dir() and not _is_rubbish(info.filename)]
    if len(members) > MAX_FILES or sum(info.file_size for info in members) > MAX_UNPACKED:
        raise InvalidInput(f"the archive is too large: {MAX_FILES:,} files and 8 GiB unpacked at most")
    members.sort(key=lambda info: info.filename)
    return [ChatFile(info.filename, partial(_opened, archive, info)) for info in members]


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Raises BadZipFile also for a place before the archive's beginning, of which `zipfile` says another thing."""
    try:
        return archive.open(info)
    except ValueError as error:
        raise zipfile.BadZipFile(str(error)) from error


def _rewound(file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    file.seek(0)
    return nullcontext(file)


def _is_rubbish(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)


@dataclass(frozen=True, slots=True)
class ChatReader:
    """Reads files one after the other; `notes` counts what is left out of them."""

    notes: Notes
    zone: tzinfo | None
    soul_name: str = ""

    def read(self, files: Sequence[ChatFile]) -> Iterator[Conversation | SoulText]:
        """Each conversation must be read to its end before the next one. It raises nothing but InvalidInput."""
        for file in files:
            try:
                with file.open() as content:
                    yield from self._read(file.name, content)
            except (Damaged, *_UNREADABLE) as error:
                self.notes.add("unreadable", f"{file.name} ({error})")

    def _read(self, name: str, content: IO[bytes]) -> Iterator[Conversation | SoulText]:
        base = PurePosixPath(name).name
        if base.endswith(".json"):
            yield from self._conversations(name, content)
        elif base.endswith(".jsonl"):
            yield from self._transcript(name, content)
        elif base in openclaw.PERSONA:
            yield SoulText(base, content.read(_MAX_NOTE))
        elif openclaw.is_note(name):
            yield openclaw.note(name, content.read(_MAX_NOTE).decode("utf-8", "replace"), self.notes, self.zone)
        else:
            self.notes.add("unused_file" if base in openclaw.UNUSED else "unknown_file", name)

    def _conversations(self, name: str, content: IO[bytes]) -> Iterator[Conversation]:
        for element in elements(content):
            listed = element.get("conversations") if isinstance(element, dict) else None
            for data in listed if isinstance(listed, list) else [element]:
                if not isinstance(data, dict):
                    self.notes.add("unreadable", name)
                elif isinstance(data.get("mapping"), dict):
                    yield chatgpt.conversation(data, self.notes, self.zone)
                elif isinstance(data.get("chat_messages"), list):
                    yield claude.conversation(data, self.notes, self.zone)
                else:
                    self.notes.add("unreadable", name)

    def _transcript(self, name: str, content: IO[bytes]) -> Iterator[Conversation]:
        rows = self._rows(name, content)
        first = next(rows, None)
        all_rows = chain([first], rows)
        if sillytavern.is_chat(first):
            yield sillytavern.conversation(name, all_rows, self.notes, self.zone, self.soul_name)
        elif openclaw.is_session(first):
            yield openclaw.session(name, all_rows, self.notes, self.zone)
        else:
            self.notes.add("unknown_file", name)

    def _rows(self, name: str, content: IO[bytes]) -> Iterator[Any]:
        """The lines of a file as JSON, None for one that cannot be read. They are read by whoever has the lines."""
        try:
            while raw := content.readline(_MAX_ROW):
                if raw.strip():
                    yield _row(raw)
        except _UNREADABLE as error:
            self.notes.add("unreadable", f"{name} ({error})")


def _row(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None

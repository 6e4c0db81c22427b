"""An OpenClaw workspace: who the agent is, what it has noted down day by day and for good, and its sessions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from pathlib import PurePosixPath
from typing import Any

from soulgraph.library.chats.conversation import Conversation, Line, Notes
from soulgraph.library.chats.times import day_in, timestamp

PERSONA = ("SOUL.md", "IDENTITY.md", "USER.md")
UNUSED = ("AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md")
MEMORY = "MEMORY.md"

_SILENT = ("NO_REPLY", "HEARTBEAT_OK")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*\Z")
_BULLET = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")


def is_note(name: str) -> bool:
    """Whether this is a note of the long-term memory or of a day."""
    path = PurePosixPath(name)
    in_memory = "memory" in path.parts[:-1] and path.suffix == ".md"
    return path.name.upper() == MEMORY.upper() or in_memory


def note(name: str, text: str, notes: Notes, zone: tzinfo | None) -> Conversation:
    """The entries of a note, each as something that the soul said to itself on its day."""
    path = PurePosixPath(name)
    place = path.parts.index("memory") if "memory" in path.parts[:-1] else len(path.parts) - 1
    key = "/".join(path.parts[place:])
    day = day_in(path.name)
    title = path.stem.replace("-", " ").replace(day.strftime("%Y %m %d"), f"{day:%Y-%m-%d}") if day else path.name
    lines = _dated(_entries(text), day, notes, zone)
    return Conversation("openclaw", key, title, _seconds(day, zone), lines)


def _dated(
    entries: Iterable[tuple[str, str]], day: datetime | None, notes: Notes, zone: tzinfo | None
) -> Iterator[Line]:
    for heading, entry in entries:
        when = day or day_in(entry) or day_in(heading)
        clock = _CLOCK.search(heading)
        if when and clock:
            when = when.replace(hour=int(clock[1]), minute=int(clock[2]))
        told = not heading or clock or day_in(heading)
        if text := notes.clean(entry if told else f"{heading}: {entry}"):
            yield Line("assistant", text, _seconds(when, zone))


def _seconds(when: datetime | None, zone: tzinfo | None) -> float | None:
    """None also for a day of which no time can be kept, as in a note about the year 1."""
    return timestamp(when.isoformat(), zone) if when else None


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(heading, entry): items of lists and paragraphs; the heading of the whole file is none."""
    heading = ""
    entry: list[str] = []
    for row in [*_FRONT_MATTER.sub("", text, count=1).splitlines(), ""]:
        found = _HEADING.match(row)
        bullet = _BULLET.match(row)
        continues = entry and row.strip() and not found and not bullet and (row[0] in " \t" or entry[0][0] == "¶")
        if continues:
            entry.append(row.strip())
            continue
        if entry:
            yield heading, " ".join(entry).removeprefix("¶")
            entry = []
        if found:
            heading = found[2] if len(found[1]) > 1 else ""
        elif row.strip():
            entry = [row[bullet.end() :].strip() if bullet else f"¶{row.strip()}"]


def is_session(first: Any) -> bool:
    return isinstance(first, dict) and first.get("type") == "session"


def session(name: str, rows: Iterable[Any], notes: Notes, zone: tzinfo | None) -> Conversation:
    """A transcript: a tree whose last line says at which branch it stands."""
    remaining = iter(rows)
    header = next(remaining)
    key = str(header.get("id") or PurePosixPath(name).stem)
    lines = (line for row in _branch(remaining, notes) for line in _line(row, notes, zone))
    return Conversation("openclaw", key, "", timestamp(header.get("timestamp"), zone), lines)


def _branch(rows: Iterable[Any], notes: Notes) -> Iterator[Mapping[str, Any]]:
    entries: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(rows):
        if isinstance(row, dict):
            entries[str(row.get("id", number))] = row
        else:
            notes.add("unreadable")
    if not all("parentId" in row for row in entries.values()):
        yield from entries.values()
        return
    branch: list[Mapping[str, Any]] = []
    key = next(reversed(entries), None)
    while key in entries:
        row = entries.pop(key)
        branch.append(row)
        key = str(row["parentId"])
    yield from reversed(branch)


def _line(row: Mapping[str, Any], notes: Notes, zone: tzinfo | None) -> Iterator[Line]:
    if row.get("type") != "message":
        return
    message = row.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    text = notes.clean(_text(message.get("content"))) if isinstance(message, dict) else ""
    if role not in ("user", "assistant") or not text or text in _SILENT:
        notes.add("machinery")
        return
    yield Line(role, text, timestamp(row.get("timestamp"), zone))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [one.get("text") for one in blocks if isinstance(one, dict) and one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))

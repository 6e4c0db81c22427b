"""SillyTavern's chats: JSON lines, the first of which may tell who talks; group chats may have none."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from soulgraph.library.chats.conversation import Conversation, Line, Notes
from soulgraph.library.chats.times import timestamp

_PROGRAM = "SillyTavern System"
_HEADER = ("user_name", "character_name", "chat_metadata", "create_date")
_UNUSED = "unused"  # what newer versions write where a group has no one character


def is_chat(first: Any) -> bool:
    """Whether a file with this first line is such a chat."""
    return isinstance(first, dict) and (_is_header(first) or ("mes" in first and "name" in first))


def _is_header(first: Mapping[str, Any]) -> bool:
    return "mes" not in first and any(key in first for key in _HEADER)


def conversation(name: str, rows: Iterable[Any], notes: Notes, zone: tzinfo | None, soul_name: str) -> Conversation:
    """The chat in this file; what other characters say in it than the soul's own is told with their names."""
    remaining = iter(rows)
    first = next(remaining)
    header = first if _is_header(first) else {}
    said = remaining if header else chain([first], remaining)
    character = str(header.get("character_name") or "")
    own = {soul_name, *([] if character == _UNUSED else [character]), ""}
    title = PurePosixPath(name).stem
    key = f"{character}/{title}" if character and character != _UNUSED else title
    lines = (line for row in said for line in _line(row, own, notes, zone))
    return Conversation("sillytavern", key, title, timestamp(header.get("create_date"), zone), lines)


def _line(row: Any, own: set[str], notes: Notes, zone: tzinfo | None) -> Iterator[Line]:
    if not isinstance(row, dict) or not isinstance(row.get("mes"), str):
        notes.add("unreadable")
        return
    if _is_machinery(row):
        notes.add("machinery")
        return
    text = row["mes"] or _swipe(row)
    name = str(row.get("name") or "")
    by_user = bool(row.get("is_user"))
    if text and not by_user and name not in own:
        text = f"{name}: {text}"
    if text := notes.clean(text):
        yield Line("user" if by_user else "assistant", text, timestamp(row.get("send_date"), zone))


def _is_machinery(row: Mapping[str, Any]) -> bool:
    """`is_system` alone says only that a line is hidden from the model: that is how long chats are kept short."""
    extra = row.get("extra")
    return row.get("name") == _PROGRAM or bool(isinstance(extra, dict) and extra.get("type"))


def _swipe(row: Mapping[str, Any]) -> str:
    swipes, chosen = row.get("swipes"), row.get("swipe_id")
    if isinstance(swipes, list) and isinstance(chosen, int) and 0 <= chosen < len(swipes):
        return str(swipes[chosen] or "")
    return ""

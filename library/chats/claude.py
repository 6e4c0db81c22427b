"""Claude's export: `conversations.json`, each conversation a list of messages made of blocks."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Literal

from soulgraph.library.chats.conversation import Conversation, Line, Notes
from soulgraph.library.chats.times import timestamp

_ROLES: dict[str, Literal["user", "assistant"]] = {"human": "user", "user": "user", "assistant": "assistant"}


def conversation(data: Mapping[str, Any], notes: Notes, zone: tzinfo | None) -> Conversation:
    messages = _shown(data["chat_messages"], data.get("current_leaf_message_uuid"))
    lines = (line for message in messages for line in _line(message, notes, zone))
    title = str(data.get("name") or "")
    return Conversation("claude", str(data.get("uuid") or ""), title, timestamp(data.get("created_at"), zone), lines)


def _shown(messages: Sequence[Any], leaf: Any) -> Sequence[Any]:
    """All messages; if the file says at which of several branches the conversation stands, only those of that."""
    by_id = {str(one.get("uuid")): one for one in messages if isinstance(one, dict)}
    if leaf is None or str(leaf) not in by_id:
        return messages
    shown: list[Any] = []
    while str(leaf) in by_id:
        message = by_id.pop(str(leaf))
        shown.append(message)
        leaf = message.get("parent_message_uuid")
    return shown[::-1]


def _line(message: Any, notes: Notes, zone: tzinfo | None) -> Iterator[Line]:
    role = _ROLES.get(str(message.get("sender"))) if isinstance(message, dict) else None
    if role is None:
        notes.add("unreadable" if not isinstance(message, dict) else "machinery")
        return
    text = notes.clean(_text(message))
    if text:
        yield Line(role, text, timestamp(message.get("created_at"), zone))
    elif not isinstance(message.get("text"), str):
        notes.add("unreadable")


def _text(message: Mapping[str, Any]) -> str:
    """Blocks first: beside them `text` has words in place of those that it cannot show."""
    blocks = message.get("content")
    texts = [one.get("text") for one in blocks if isinstance(one, dict)] if isinstance(blocks, list) else []
    said = "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())
    if not said and isinstance(message.get("text"), str):
        said = message["text"]
    return "\n".join(part for part in (" ".join(_names(message)), said) if part)


def _names(message: Mapping[str, Any]) -> Iterator[str]:
    """What was attached, by name: what is in the files was not said."""
    for kind in ("attachments", "files"):
        attached = message.get(kind)
        for one in attached if isinstance(attached, list) else ():
            if isinstance(one, dict) and one.get("file_name"):
                yield f"[{one['file_name']}]"

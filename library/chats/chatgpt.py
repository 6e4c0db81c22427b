"""ChatGPT's export: `conversations.json`, each conversation a tree of messages of which one branch was shown last."""

import re
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any

from soulgraph.library.chats.conversation import Conversation, Line, Notes
from soulgraph.library.chats.times import timestamp

# Marks that stand for links: 【3†source】, and newer ones between letters of private use.
_CITATION = re.compile("【\\d+(?::\\d+)?†[^】]*】|\ue200[^\ue201]*\ue201")
_SAID = ("text", "multimodal_text")


def conversation(data: Mapping[str, Any], notes: Notes, zone: tzinfo | None) -> Conversation:
    key = data.get("conversation_id") or data.get("id") or ""
    lines = (line for message in _shown(data) for line in _line(message, notes, zone))
    return Conversation(
        "chatgpt", str(key), str(data.get("title") or ""), timestamp(data.get("create_time"), zone), lines
    )


def _shown(data: Mapping[str, Any]) -> list[Any]:
    """The messages from the first to that which was shown last."""
    mapping: Mapping[str, Any] = data["mapping"]
    key = data.get("current_node")
    if not isinstance(key, str) or key not in mapping:
        key = _last_leaf(mapping)
    messages: list[Any] = []
    seen = set()
    while isinstance(key, str) and key in mapping and key not in seen:
        seen.add(key)
        node = mapping[key] if isinstance(mapping[key], dict) else {}
        messages.append(node.get("message"))
        key = node.get("parent")
    return [message for message in reversed(messages) if message is not None]


def _last_leaf(mapping: Mapping[str, Any]) -> str | None:
    leaves = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
    return leaves[-1] if leaves else next(iter(mapping), None)


def _line(message: Any, notes: Notes, zone: tzinfo | None) -> Iterator[Line]:
    """The message as a line, if somebody said it."""
    content = message.get("content") if isinstance(message, dict) else None
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(content, dict) or not isinstance(author, dict):
        notes.add("unreadable")
        return
    role = author.get("role")
    if role == "system":
        return
    if role not in ("user", "assistant") or not _is_said(message, content):
        notes.add("machinery")
    elif text := notes.clean(_text(message, content)):
        yield Line(role, text, timestamp(message.get("create_time"), zone))


def _is_said(message: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata") or {}
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    to_everybody = message.get("recipient") in (None, "all")
    return to_everybody and not hidden and content.get("content_type") in _SAID


def _text(message: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    metadata = message.get("metadata")
    attached = metadata.get("attachments") if isinstance(metadata, dict) else None
    names = [one.get("name") for one in attached if isinstance(one, dict)] if isinstance(attached, list) else []
    texts = [" ".join(f"[{name}]" for name in names if name), *texts]
    return _CITATION.sub("", "\n".join(text for text in texts if text))


def _part(part: Any) -> str:
    """A text, or what was spoken; pictures and sounds are named by their attachments."""
    if isinstance(part, dict):
        part = part.get("text")
    return part if isinstance(part, str) else ""

"""The topics on which a terminal hears from its soul and says that it is there."""

import re

from soulgraph.errors import InvalidInput

_PREFIX = "soul/terminal"
PRESENCE = (f"{_PREFIX}/+/online", f"{_PREFIX}/+/heartbeat")
# One level of a topic: MQTT gives / + # and NUL a meaning of their own and has no words for half a character.
_LEVEL = re.compile(r"[^/+#\x00\ud800-\udfff]{1,128}")


def emotion_update(terminal_id: str) -> str:
    return _topic(terminal_id, "emotion_update")


def intent_action(terminal_id: str) -> str:
    return _topic(terminal_id, "intent_action")


def reply(terminal_id: str) -> str:
    return _topic(terminal_id, "reply")


def proactive(terminal_id: str) -> str:
    return _topic(terminal_id, "proactive")


def sender(topic: str) -> tuple[str, str]:
    """(terminal_id, kind) of a topic on which a terminal speaks."""
    terminal_id, _, kind = topic.removeprefix(f"{_PREFIX}/").partition("/")
    return addressable(terminal_id), kind


def addressable(terminal_id: str) -> str:
    """The id itself, or InvalidInput when it cannot be part of a topic."""
    if not _LEVEL.fullmatch(terminal_id):
        raise InvalidInput(f"terminal id {terminal_id[:128]!r}: use 1 to 128 characters without / + # and NUL")
    return terminal_id


def _topic(terminal_id: str, kind: str) -> str:
    return f"{_PREFIX}/{addressable(terminal_id)}/{kind}"

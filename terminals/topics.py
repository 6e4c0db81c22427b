"""The MQTT topics of terminals: `soul/terminal/{terminal_id}/{kind}`."""

import re

from soulgraph.errors import InvalidInput

_PREFIX = "soul/terminal"
_SHARED = "$share/"
RETAINED = ("online", "skills", "intent_catalog")
"""What the broker keeps of a terminal and tells again to whoever subscribes."""
COMPACT_EMOTION = "emotion_compact"
KEPT = (*RETAINED, COMPACT_EMOTION)
"""The same with what servers say: a controller that wakes up wants to know the last of it."""
_FIRST_LEVELS = (*RETAINED, "heartbeat", "input", "result")
# Retained messages reach every server when it subscribes, and results belong to the server that asked. Heartbeats and
# inputs are handled by one server each.
TO_EVERY_SERVER = tuple(f"{_PREFIX}/+/{kind}" for kind in (*RETAINED, "result/+"))
TO_ONE_SERVER = tuple(f"{_PREFIX}/+/{kind}" for kind in ("heartbeat", "input"))
# One topic level, with the characters allowed in ids everywhere; none of them is special in MQTT.
_LEVEL = re.compile(r"[\w.:@-]{1,128}")
# Our kinds have two levels at most. A bound on both keeps what brokers remember of filters small.
_KIND_LEVEL, _MAX_KIND_LEVELS = "[^/+#]{1,128}", 4
_TOPIC = re.compile(rf"{_PREFIX}/{_LEVEL.pattern}(/{_KIND_LEVEL}){{1,{_MAX_KIND_LEVELS}}}")
_FILTER = re.compile(
    rf"{_PREFIX}/(#|(\+|{_LEVEL.pattern})(/(\+|{_KIND_LEVEL})){{0,{_MAX_KIND_LEVELS}}}(/#)?)",
)
_FROM_TERMINAL = re.compile(rf"{'|'.join(RETAINED)}|heartbeat|input|result/{_KIND_LEVEL}")


def topic(terminal_id: str, *levels: str) -> str:
    """The topic of a terminal for these levels; InvalidInput if the id cannot be part of a topic."""
    return "/".join((_PREFIX, valid_terminal_id(terminal_id), *levels))


def shared(topic: str, group: str) -> str:
    """The shared subscription to a topic: each message goes to one server of the group."""
    return f"{_SHARED}{group}/{topic}"


def is_shared(topic_filter: str) -> bool:
    return topic_filter.startswith(_SHARED)


def unshared(topic_filter: str) -> str:
    """The filter of a shared subscription without its group."""
    return topic_filter.removeprefix(_SHARED).partition("/")[2]


def parse(topic: str) -> tuple[str, str]:
    """(terminal_id, kind) of a topic."""
    terminal_id, _, kind = topic.removeprefix(f"{_PREFIX}/").partition("/")
    return valid_terminal_id(terminal_id), kind


def is_of_terminal(topic: str) -> bool:
    """Whether one can publish on it to or as a terminal."""
    return bool(_TOPIC.fullmatch(topic))


def is_from_terminal(kind: str) -> bool:
    """Whether terminals publish this kind."""
    return bool(_FROM_TERMINAL.fullmatch(kind))


def said_on(topic: str) -> str:
    """The kind of a terminal's message without what follows it; `other` for what terminals do not say."""
    _, _, kind = topic.removeprefix(f"{_PREFIX}/").partition("/")
    first = kind.partition("/")[0]
    return first if first in _FIRST_LEVELS else "other"


def is_filter(topic_filter: str) -> bool:
    """Whether it is a well-formed filter for topics of one terminal, or of all."""
    return bool(_FILTER.fullmatch(topic_filter))


def terminal_of_filter(topic_filter: str) -> str | None:
    """The terminal of a filter; None if it is for all."""
    terminal_id = topic_filter.removeprefix(f"{_PREFIX}/").partition("/")[0]
    return None if terminal_id in ("+", "#") else terminal_id


def matches(topic_filter: str, topic: str) -> bool:
    wanted, there = topic_filter.split("/"), topic.split("/")
    if wanted[-1] == "#":
        wanted.pop()
        there = there[: len(wanted)]
    return len(wanted) == len(there) and all(level in ("+", name) for level, name in zip(wanted, there, strict=True))


def valid_terminal_id(terminal_id: str) -> str:
    """The id itself, or InvalidInput when it cannot be part of a topic."""
    if not _LEVEL.fullmatch(terminal_id):
        raise InvalidInput(f"terminal id {terminal_id[:128]!r}: use 1 to 128 letters, digits and . : @ _ -")
    return terminal_id

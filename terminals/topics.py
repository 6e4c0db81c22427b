"""The MQTT topics of terminals: `soul/terminal/{terminal_id}/{kind}`."""

import re

from soulgraph.errors import InvalidInput

_PREFIX = "soul/terminal"
# Retained messages reach every server when it subscribes, and results belong to the server that asked. Heartbeats and
# inputs are handled by one server each.
TO_EVERY_SERVER = tuple(f"{_PREFIX}/+/{kind}" for kind in ("online", "skills", "intent_catalog", "result/+"))
TO_ONE_SERVER = tuple(f"{_PREFIX}/+/{kind}" for kind in ("heartbeat", "input"))
# One topic level, with the characters allowed in ids everywhere; none of them is special in MQTT.
_LEVEL = re.compile(r"[\w.:@-]{1,128}")


def topic(terminal_id: str, *levels: str) -> str:
    """The topic of a terminal for these levels; InvalidInput if the id cannot be part of a topic."""
    return "/".join((_PREFIX, valid_terminal_id(terminal_id), *levels))


def shared(topic: str, group: str) -> str:
    """The shared subscription to a topic: each message goes to one server of the group."""
    return f"$share/{group}/{topic}"


def parse(topic: str) -> tuple[str, str]:
    """(terminal_id, kind) of a topic."""
    terminal_id, _, kind = topic.removeprefix(f"{_PREFIX}/").partition("/")
    return valid_terminal_id(terminal_id), kind


def valid_terminal_id(terminal_id: str) -> str:
    """The id itself, or InvalidInput when it cannot be part of a topic."""
    if not _LEVEL.fullmatch(terminal_id):
        raise InvalidInput(f"terminal id {terminal_id[:128]!r}: use 1 to 128 letters, digits and . : @ _ -")
    return terminal_id

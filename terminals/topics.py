"""The topics on which a terminal hears from its soul, and those on which it speaks."""

import re

from soulgraph.errors import InvalidInput

_PREFIX = "soul/terminal"
# What a broker retains is sent to every server that asks, so each of them knows it; the rest needs one server.
FOR_EACH = tuple(f"{_PREFIX}/+/{kind}" for kind in ("online", "skills", "intent_catalog", "result/+"))
FOR_ONE = tuple(f"{_PREFIX}/+/{kind}" for kind in ("heartbeat", "input"))
# One level of a topic, with the alphabet that ids have everywhere else too.
_LEVEL = re.compile(r"[\w.:@-]{1,128}")


def topic(terminal_id: str, *levels: str) -> str:
    """Where a terminal speaks or hears of something."""
    return "/".join((_PREFIX, addressable(terminal_id), *levels))


def shared(topic: str, group: str) -> str:
    """A subscription whose messages go to one server of the group."""
    return f"$share/{group}/{topic}"


def sender(topic: str) -> tuple[str, str]:
    """(terminal_id, kind) of a topic on which a terminal speaks."""
    terminal_id, _, kind = topic.removeprefix(f"{_PREFIX}/").partition("/")
    return addressable(terminal_id), kind


def addressable(terminal_id: str) -> str:
    """The id itself, or InvalidInput when it cannot be part of a topic."""
    if not _LEVEL.fullmatch(terminal_id):
        raise InvalidInput(f"terminal id {terminal_id[:128]!r}: use 1 to 128 letters, digits and . : @ _ -")
    return terminal_id

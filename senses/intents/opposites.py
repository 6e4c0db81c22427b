"""On and off, up and down, locked and unlocked: which side a command is on.

Chinese sides are spelled with what must not surround them: the 开 of 开心 switches nothing on.
"""

import re
from collections.abc import Iterable

Sides = tuple[str | None, ...]
"""For each axis the side taken, if any."""

_AXES = [
    re.compile(
        r"(?P<on>(?<![离公展])开(?![心会车关玩朗])|启动|\b(?:on|open|start|enable|activate)\b)"
        r"|(?P<off>(?<![开机海相有])关(?![于系心注爱键])|停止|停掉|\b(?:off|close|shut|stop|disable|deactivate)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<up>[调升提增加开放][高大亮强]|[高大亮强]一?[点些]|\b(?:up|raise|increase|higher|louder|brighter|warmer)\b)"
        r"|(?P<down>[调降减关放][低小暗弱]|[低小暗弱]一?[点些]|降低|减少"
        r"|\b(?:down|lower|decrease|reduce|quieter|softer|dimmer|dim|cooler)\b)",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<locked>(?<![解开])锁|\block\b)|(?P<unlocked>[解开]锁|\bunlock\b)", re.IGNORECASE),
]


def first_sides(stretches: Iterable[str]) -> Sides:
    """Per axis the first side that is named, in the first stretch that names one."""
    ordered = list(stretches)
    return tuple(next(filter(None, (_first(axis, text) for text in ordered)), None) for axis in _AXES)


def only_sides(texts: Iterable[str]) -> Sides:
    """Per axis the side these texts agree on; naming both is naming none."""
    words = [text.replace("_", " ").replace("-", " ") for text in texts]
    return tuple(_agreed({m.lastgroup for text in words for m in axis.finditer(text)}) for axis in _AXES)


def opposed(wanted: Sides, said: Sides) -> bool:
    return any(a and b and a != b for a, b in zip(wanted, said, strict=True))


def names_side(text: str) -> bool:
    return any(first_sides([text]))


def _first(axis: re.Pattern[str], text: str) -> str | None:
    found = axis.search(text)
    return found.lastgroup if found else None


def _agreed(sides: set[str | None]) -> str | None:
    return sides.pop() if len(sides) == 1 else None

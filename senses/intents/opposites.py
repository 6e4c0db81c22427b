"""Opposites such as on and off, up and down: finds which side of each axis a command names.

The Chinese patterns exclude some neighbours: 开心 has nothing to do with switching on, and 开着 describes a state.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Sides = tuple[str | None, ...]
"""For each axis the side that is named, or None."""

_STATE = "着|[掉上开]?的|太久|了?(?:半天|[好很这那]久)|了一[天夜晚整上下]"
_IS = r"(?<!is )(?<!are )(?<!was )(?<!still )(?<!already )"
_AXES = [
    re.compile(
        rf"(?P<on>(?<![离公展召么新])开(?![心会车关玩朗学始]|{_STATE})|启动|点[亮上]|[转开]起来"
        rf"|{_IS}\b(?:on|open|start|enable|activate)\b)"
        rf"|(?P<off>(?<![开机海相有么])关(?![于系心注爱键]|{_STATE})|停止|停[掉工]|歇[着歇了会]|熄"
        r"|[拉遮](?:上|起来)(?!的)|合[上起拢]"
        rf"|{_IS}\b(?:off|close|shut|stop|disable|deactivate)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<up>[调升提增加开放][高大亮强]|[高大亮强]一?[点些]|\b(?:up|raise|increase|higher|louder|brighter|warmer)\b)"
        r"|(?P<down>[调降减关放弄][低小暗弱]|[低小暗弱]一?[点些]|降低|减少"
        r"|\b(?:down|lower|decrease|reduce|quieter|softer|dimmer|dim|cooler)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<unlocked>[解开](?:一?下)?大?门?锁|锁[^上好住着]{{0,3}}开|解开|\bunlock\b)"
        rf"|(?P<locked>(?<!门)锁(?!{_STATE})|门锁(?=[上好住起])|\block\b)",
        re.IGNORECASE,
    ),
]


class Side(NamedTuple):
    """A side named somewhere in a text."""

    at: int
    axis: int
    name: str


def sides_in(text: str) -> list[Side]:
    named = (Side(m.start(), axis, m.lastgroup or "") for axis, words in enumerate(_AXES) for m in words.finditer(text))
    return sorted(named)


def first_sides(groups: Iterable[Iterable[Side]]) -> Sides:
    """Per axis the first side that is named, by the first of the groups that names one."""
    first: dict[int, str] = {}
    for group in groups:
        for side in group:
            first.setdefault(side.axis, side.name)
    return tuple(first.get(axis) for axis in range(len(_AXES)))


def agreed_sides(texts: Iterable[str]) -> Sides:
    """Per axis the side these texts name; None if they name both or neither."""
    named = {side[1:] for text in texts for side in sides_in(text.replace("_", " ").replace("-", " "))}
    return tuple(_agreed({name for axis, name in named if axis == i}) for i in range(len(_AXES)))


def majority_sides(texts: Sequence[str]) -> Sides:
    """Per axis the side that more than half of these texts name, or None."""
    each = [agreed_sides([text]) for text in texts]
    counts = [Counter(filter(None, sides)) for sides in zip(*each, strict=True)] or [Counter()] * len(_AXES)
    return tuple(next((name for name, n in axis.items() if n > len(texts) / 2), None) for axis in counts)


def opposed(one: Sides, other: Sides) -> bool:
    """Whether the two name different sides of an axis."""
    return any(a and b and a != b for a, b in zip(one, other, strict=True))


def names_side(text: str) -> bool:
    return bool(sides_in(text))


def _agreed(names: set[str]) -> str | None:
    return names.pop() if len(names) == 1 else None

"""Opposites such as on and off, up and down: finds which side of each axis a command names.

The Chinese patterns exclude some neighbours: 开心 has nothing to do with switching on, and 开着 describes a state.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from soulgraph.soul.patterns import lazy_pattern
from soulgraph.soul.short_texts import remembers_short

Sides = tuple[str | None, ...]
"""For each axis the side that is named, or None."""

_STATE = "着|[掉上开]?的|太久|了?(?:半天|[好很这那]久)|了一[天夜晚整上下]"
# 别吹了: to stop it
STOPPING = r"(?:[别甭莫]|不要|(?<!用)不用)(?:再|让[它他她]|给我)*[吹演转唱放播响扫吸亮照叫闹跳]起?(?:了|啦|喽|咯)"
_IS = r"(?<!is )(?<!are )(?<!was )(?<!still )(?<!already )"
_AXES = [
    lazy_pattern(
        rf"(?P<on>(?<![离公展召么新])(?<![睁打解拉推]不)开(?![心会车关玩朗学始]|{_STATE})|启动|点[亮上]"
        r"|(?<![别甭莫])(?:[转开吹亮点烧](?:起来?|上(?![面边]))(?!床)|[整弄搞]起来?|亮个|(?:[整弄摁按]|伺候|安排)上|[整弄摁按]亮|[拉拧捻揿]亮|敞开|[扯拨撩掀]到?(?:开|两边))"
        r"|(?:除除?湿|制[冷热]|吹一?吹)(?![^,，]*[关停])"
        rf"|{_IS}\b(?:on(?! (?:[\w-]+ ){{1,3}}(?:degrees|percent)\b)|open|start|enable|activate)\b"
        r"|\bsome light\b|\b(?:fire|power) up\b"
        r"|\bget\b.{1,20}\b(?:going|running|spinning|started)\b)"
        rf"|(?P<off>(?<![开机海相有么])关(?![于系心注爱键]|{_STATE})|停止|停[掉工了下]|歇[着歇了会菜]|熄|灭(?!火)|掐[了掉一]"
        r"|(?<=[灯视])[^,，]{0,3}[拉闭]了"
        rf"|[拉遮掩捂挡](?:上|住|起来|严)(?!的)|遮一?遮|挡一?挡|闭(?=灯)|(?<![停关])闭[了掉]|合[上起拢]|(?<=帘)子?[^,，]{{0,3}}放下|{STOPPING}"
        rf"|{_IS}\b(?:off|close|shut|stop|quit|kill|disable|deactivate)\b"
        r"|(?<=lights )out\b|\bpull (?:\w+ ){1,3}to(?=\W*$|,)"
        r"|\bdraw (?=(?:\w+ ){1,3}(?:curtains?|drapes|blinds)\b(?!.*\b(?:back|open|apart)\b)))",
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"(?P<up>[调升提增加开放][高大亮强]|(?<!太)[高大亮强]一?[点些]|太[暗黑昏小]|不够[亮大响]|放开[点些]|往[亮大高响]|给点劲|[响足猛]一?[点些]"
        r"|(?<!\bme )(?<!\bfire )(?<!\bpower )\b(?:up|raise|increase|higher|louder|brighter|warmer)\b"
        r"|\bmore (?:light|volume|sound)\b)"
        r"|(?P<down>[调降减关放弄压][低小暗弱]|[低小暗弱]一?[点些]|降低|降一?降|往下|减少|柔和|太[亮吵响大]|[刺扎晃]眼|晃得|收(?:一?收|[着敛]?[点些])|往[暗小低轻]|[轻柔]一?[点些]"
        r"|\b(?:(?<!count )(?<!count me )down|lower|decrease|reduce|quieter|softer|dimmer|dim|dimming"
        r"|cooler|too (?:bright|loud))\b)",
        re.IGNORECASE,
    ),
    lazy_pattern(
        rf"(?P<unlocked>[解开](?:一?下)?大?门?锁|锁[^上好住着]{{0,3}}开|解开"
        r"|[松打]开.{0,3}锁|锁.{0,4}松开|\b(?:unlock|unbolt|unlatch|undo)\b)"
        rf"|(?P<locked>(?<!门)锁(?!{_STATE})|门锁(?=[上好住起])|闩|门[^,，]{{0,4}}[插扣][上好牢]|\b(?:lock|bolt|latch|deadbolt)\b)",
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"(?P<made>(?<![规一固])定(?![位价])|设(?![备施])|(?<!早)[上加订]一?个|\b(?:set|add|create|schedule|make)\b)"
        r"|(?P<cancelled>取消|撤|删|去掉|不要了|作废|(?<=闹[钟铃])[^,，]{0,4}[关停]|[关停][^,，]{0,6}(?=闹[钟铃]|计时|定时器)"
        r"|\b(?:cancel|scrap|delete|remove|drop|clear|get rid of|call off)\b)",
        re.IGNORECASE,
    ),
]


class Side(NamedTuple):
    """A side named somewhere in a text."""

    at: int
    axis: int
    name: str


@remembers_short(512)
def sides_in(text: str) -> tuple[Side, ...]:
    named = (Side(m.start(), axis, m.lastgroup or "") for axis, words in enumerate(_AXES) for m in words.finditer(text))
    return tuple(sorted(named))


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

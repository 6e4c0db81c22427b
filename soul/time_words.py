"""Describes times of day and durations in words, for prompts."""

from datetime import datetime

from soulgraph.soul.language import Lang

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0

_WEEKDAYS: dict[Lang, tuple[str, ...]] = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}
# Each part of the day with the hour before which it ends.
_PARTS_OF_DAY: dict[Lang, tuple[tuple[int, str], ...]] = {
    "en": ((5, "night"), (8, "early morning"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "late night")),
    "zh": ((5, "凌晨"), (8, "清晨"), (12, "上午"), (14, "中午"), (18, "下午"), (22, "晚上"), (24, "深夜")),
}
_UNITS: dict[Lang, tuple[tuple[float, str], ...]] = {
    "en": ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")),
    "zh": ((_DAY, "天"), (_HOUR, "小时"), (_MINUTE, "分钟")),
}
_NEAR_DAYS: dict[Lang, dict[int, str]] = {
    "en": {-1: "yesterday", 0: "today", 1: "tomorrow"},
    "zh": {-2: "前天", -1: "昨天", 0: "今天", 1: "明天", 2: "后天"},
}
_UNDER_A_MINUTE: dict[Lang, str] = {"en": "less than a minute", "zh": "不到一分钟"}


def time_of_day(local: datetime, lang: Lang) -> str:
    """A local time like "Tuesday evening, 19:40"."""
    part = next(name for before, name in _PARTS_OF_DAY[lang] if local.hour < before)
    weekday = _WEEKDAYS[lang][local.weekday()]
    clock = f"{local:%H:%M}"
    return f"{weekday}{part} {clock}" if lang == "zh" else f"{weekday} {part}, {clock}"


def duration(seconds: float, lang: Lang) -> str:
    """A duration in the largest unit it reaches, like "about 3 hours"."""
    for unit_s, unit in _UNITS[lang]:
        if (count := round(seconds / unit_s)) and seconds >= unit_s:
            return f"大约{count}{unit}" if lang == "zh" else f"about {count} {unit}{'s' * (count > 1)}"
    return _UNDER_A_MINUTE[lang]


def due_words(local: datetime, now: datetime, grain: str, lang: Lang) -> str:
    """When something is due, as it is said: "today at 19:00", 明天上午, "on Friday, 3 May"."""
    days = (local.date() - now.date()).days
    named = _NEAR_DAYS[lang].get(days)
    weekday = _WEEKDAYS[lang][local.weekday()]
    if lang == "zh":
        day = named or f"{local.month}月{local.day}日{weekday}"
    else:
        day = named or f"on {weekday}, {local.day} {local:%B}"
    if grain in ("minute", "hour"):
        return f"{day}{local:%H:%M}" if lang == "zh" else f"{day} at {local:%H:%M}"
    part = next(name for before, name in _PARTS_OF_DAY[lang] if local.hour < before) if grain == "part" else ""
    return f"{day}{part}" if lang == "zh" else f"{day} {part}".strip()

"""The times of messages, as programs have written them over the years."""

import re
from datetime import datetime, tzinfo
from typing import Any

from soulgraph.soul.timestamps import LATEST

_EARLIEST = 0.0
_MILLISECONDS = 1e11  # more seconds than this are milliseconds: they would be after the year 5000

_HUMANIZED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?", re.ASCII)
_MERIDIEM = re.compile(r"([A-Za-z]{3,9}) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{2}) ?([ap]m)", re.ASCII | re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def timestamp(value: Any, zone: tzinfo | None) -> float | None:
    """Epoch seconds; None for what is no time. Without a zone of its own it is meant in `zone`, else this machine's."""
    try:
        seconds = _seconds(value, zone)
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if seconds is not None and _EARLIEST < seconds < LATEST else None


def _seconds(value: Any, zone: tzinfo | None) -> float | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) > 8:
        value = int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1000 if value > _MILLISECONDS else float(value)
    if not isinstance(value, str):
        return None
    found = _written_out(value)
    if found is None:
        found = datetime.fromisoformat(value.strip())
    return _in_zone(found, zone)


def _in_zone(when: datetime, zone: tzinfo | None) -> float:
    """Epoch seconds of a time that may say its zone itself."""
    return when.timestamp() if when.tzinfo or zone is None else when.replace(tzinfo=zone).timestamp()


def _written_out(text: str) -> datetime | None:
    """`2024-6-5 @14h 56m 50s 682ms`, with or without its blanks and its milliseconds, or `June 19, 2023 2:20pm`."""
    if found := _HUMANIZED.search(text):
        *parts, milliseconds = found.groups(default="0")
        year, month, day, hour, minute, second = map(int, parts)
        return datetime(year, month, day, hour, minute, second, int(milliseconds) * 1000)
    if found := _MERIDIEM.search(text):
        name, day_of_month, year_of_date, hours, minutes, meridiem = found.groups()
        if name[:3].lower() not in _MONTHS:
            return None
        hour24 = int(hours) % 12 + (12 if meridiem.lower() == "pm" else 0)
        month_number = _MONTHS.index(name[:3].lower()) + 1
        return datetime(int(year_of_date), month_number, int(day_of_month), hour24, int(minutes))
    return None


def day_in(text: str) -> datetime | None:
    """Noon of the first date like 2026-03-04 in a text."""
    found = re.search(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)", text, re.ASCII)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), 12) if found else None
    except ValueError:
        return None

"""The days, months and years a text speaks of, as terms of a lexical index: `@2026-03-04`, `@2026-03`, `@2026`."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from soulgraph.senses.values.mentions import TimeMention, find_times
from soulgraph.senses.values.periods import DAY, month_of

_MAX_DAYS = 7
_MAX_MONTHS = 12
_MONTH_DAYS = 31


def time_terms(text: str, now: datetime) -> list[str]:
    """The terms of all times of a text, each once; what recurs is no time of its own and has none."""
    mentions = (mention for mention in find_times(text, now) if not mention.recurs)
    return list(dict.fromkeys(term for mention in mentions for term in terms_of(mention)))


def terms_of(mention: TimeMention) -> Iterator[str]:
    """Days with their months, months, or years, by how long the range is and how exact it was said."""
    length = mention.ends - mention.begins
    if mention.grain == "year" or length > timedelta(days=_MONTH_DAYS * _MAX_MONTHS):
        yield from _years(mention)
    elif mention.grain in ("minute", "hour", "part"):
        yield from _days(mention.begins, mention.begins)
    elif length <= _MAX_DAYS * DAY and mention.grain != "month":
        yield from _days(mention.begins, mention.ends - DAY)
    else:
        yield from _months(mention)


def _days(first: datetime, last: datetime) -> Iterator[str]:
    for n in range((last.date() - first.date()).days + 1):
        day = first + n * DAY
        yield f"@{day:%Y-%m-%d}"
        yield f"@{day:%Y-%m}"


def _months(mention: TimeMention) -> Iterator[str]:
    month = month_of(mention.begins)
    for _ in range(_MAX_MONTHS):
        yield f"@{month.begins:%Y-%m}"
        if month.ends >= mention.ends:
            return
        month = month_of(month.begins, 1)


def _years(mention: TimeMention) -> Iterator[str]:
    last = (mention.ends - timedelta(microseconds=1)).year
    for year in range(max(mention.begins.year, last - _MAX_MONTHS + 1), last + 1):
        yield f"@{year:04}"

"""Converts between epoch seconds, used inside, and ISO 8601 in UTC, used in APIs and files."""

from datetime import UTC, datetime

FIRST_YEAR, LAST_YEAR = 1000, 8999
"""Times that are stored lie in these years: the calendar ends in 9999, and zones, spans and recurrences lead on."""
EARLIEST = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp()
LATEST = datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp()


def iso(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch(timestamp: str) -> float:
    """Epoch seconds of an ISO timestamp; one without a zone is UTC."""
    time = datetime.fromisoformat(timestamp)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def check_moment(epoch_s: float) -> float:
    """Raises ValueError for a moment that cannot be stored."""
    if not EARLIEST <= epoch_s < LATEST:
        raise ValueError(f"must lie between the years {FIRST_YEAR} and {LAST_YEAR}")
    return epoch_s


def check_time(time: datetime) -> datetime:
    """The same for a date and time, of a zone or of a clock on the wall."""
    check_moment((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
    return time

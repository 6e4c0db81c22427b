"""Points in time: epoch seconds inside, ISO 8601 in UTC where people read."""

from datetime import UTC, datetime


def iso(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch(timestamp: str) -> float:
    moment = datetime.fromisoformat(timestamp)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

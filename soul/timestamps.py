"""Converts between epoch seconds, used inside, and ISO 8601 in UTC, used in APIs and files."""

from datetime import UTC, datetime


def iso(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch(timestamp: str) -> float:
    """Epoch seconds of an ISO timestamp; one without a zone is UTC."""
    time = datetime.fromisoformat(timestamp)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()

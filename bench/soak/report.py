"""What is told of a soak: a line now and then, and a table in the end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from soulgraph.bench.soak.house import House


def say(text: str) -> None:
    print(text, flush=True)


def progress(house: House, left_s: float) -> str:
    memory = " and ".join(f"{server.memory_mb():.0f}" for server in house.servers)
    return (
        f"{max(0.0, left_s) / 60:5.1f} min left: {len(house.ledger.said)} turns, "
        f"{house.troubles.total()} troubles, {memory} MB, {len(house.ledger.wrong)} wrong"
    )


def table(house: House, minutes: float) -> str:
    lines = [f"| {minutes:g} minutes | |", "|---|---|", *(f"| {name} | {value} |" for name, value in _rows(house))]
    return "\n".join(lines + [f"WRONG {flaw}" for flaw in house.ledger.wrong[:50]])


def _rows(house: House) -> Iterator[tuple[str, Any]]:
    ledger = house.ledger
    yield "turns", len(ledger.said)
    yield "reminders asked for", len(ledger.reminders)
    yield "things heard of a soul's own accord", len(ledger.heard)
    yield from ((f"trouble: {name}", count) for name, count in sorted(house.troubles.items()))
    yield from ((f"model: {name}", count) for name, count in sorted(house.model.moods.items()))
    yield from sorted(ledger.counts.items())
    for server in house.servers:
        yield f"{server.log.stem} server: starts", server.starts
        yield f"{server.log.stem} server: most memory", f"{server.most_memory_mb:.0f} MB"
        yield f"{server.log.stem} server: errors in its log", _errors(server.log)
    yield "wrong", len(ledger.wrong)


def _errors(log: Path) -> int:
    """A server that cannot start while its database is away says so in another way."""
    return log.read_text("utf-8", "replace").count(" ERROR ") if log.exists() else 0

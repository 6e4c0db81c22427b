"""Open event streams of a server under test."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    event: str
    data: dict
    id: str | None = None


async def told(response, *events):
    """What an open stream tells: all of it, or only these kinds of events."""
    assert response.headers["content-type"].startswith("text/event-stream"), await response.aread()
    fields = {}
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if name in ("event", "data", "id"):
            fields[name] = value
        elif not line and fields:
            if not events or fields["event"] in events:
                yield Told(fields["event"], json.loads(fields["data"]), fields.get("id"))
            fields = {}

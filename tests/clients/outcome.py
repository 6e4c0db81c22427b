"""What a soul has of a conversation, as its own API tells it."""

from dataclasses import asdict, dataclass

import httpx


@dataclass(frozen=True)
class Stored:
    turns: int
    messages: int
    sessions: int
    moods: int

    def since(self, before: "Stored") -> dict[str, int]:
        mine, earlier = asdict(self), asdict(before)
        return {name: mine[name] - earlier[name] for name in mine}


async def outcome_of(client: httpx.AsyncClient, soul_id: str) -> Stored:
    """`moods` is how many points the history of the soul's emotion has."""
    soul = (await client.get(f"/v1/souls/{soul_id}")).json()
    points = (await client.get(f"/v1/souls/{soul_id}/emotion/history", params={"points": 2000})).json()["points"]
    sessions = (await client.get("/v1/sessions", params={"soul_id": soul_id})).json()
    messages = 0
    for session in sessions:
        path = f"/v1/sessions/{session['session_id']}/messages"
        messages += len((await client.get(path, params={"limit": 1000})).json())
    return Stored(soul["turns"], messages, len(sessions), len(points))

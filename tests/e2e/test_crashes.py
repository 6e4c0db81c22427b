"""`kill -9` at every step of what follows a turn, in a real process: nothing is lost, and nothing happens twice."""

from contextlib import suppress

import httpx

from soulgraph.memory.chroma import collection_name, open_embedded
from soulgraph.senses.embedding.local import NAME, encode
from soulgraph.tests.crashing import CrashingServer
from soulgraph.tests.e2e.afterglow import REFLECTS, TOPICS, attentive, reflection, settled
from soulgraph.tests.live import new_soul, say

STEPS = [
    "given soulgraph.stores.outbox:Outbox.claim",
    "before soulgraph.nodes.archive:run_task",
    "before soulgraph.memory.chroma:ChromaCollection.put",
    "after soulgraph.memory.chroma:ChromaCollection.put",
    "after soulgraph.stores.messages:Messages.archive",
    "after soulgraph.nodes.archive:archive",
    "before soulgraph.nodes.reflect:run_task",
    "after soulgraph.stores.monologues:MonologueVersions.think",
    "after soulgraph.nodes.reflect:reflect",
    "before soulgraph.stores.outbox:Outbox.done",
    "after soulgraph.stores.outbox:Outbox.done",
]


async def lived_through(client, soul_id, session_id):
    """What became of a session: its events, which messages are archived, and the reflections on it."""
    events = [
        (await client.get(f"/v1/events/{one['event_id']}")).json() for one in (await client.get("/v1/events")).json()
    ]
    drawn = [one for one in events if session_id in {source["session_id"] for source in one["provenance"]}]
    messages = (await client.get(f"/v1/sessions/{session_id}/messages")).json()
    turns = {job["turn_id"] for job in (await client.get("/v1/jobs")).json() if job["session_id"] == session_id}
    about = {"user_id": "default"}
    versions = (await client.get(f"/v1/souls/{soul_id}/inner-state/versions", params=about)).json()
    thoughts = [one for one in versions if one["source"].removeprefix("reflection:") in turns]
    return len(drawn), {message["archived"] for message in messages}, len(messages), len(thoughts)


async def test_killed_at_any_step_it_goes_on_where_it_was(stub, database_url, tmp_path):
    llm = {"llm_base_url": attentive(stub).base_url, "llm_model": "stub"}
    server = CrashingServer(tmp_path, STEPS, database_url=database_url, data_dir=tmp_path, job_lease_s=1, **llm)
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            soul_id = await new_soul(client)
            for n, step in enumerate(STEPS):
                session_id = f"session_{n}"
                stub.when(
                    REFLECTS, reflection(f"I keep thinking of {TOPICS[n]}.")
                )  # the same again would be no thought
                for turn in range(4):
                    await say(client, f"topic {n:02d}, turn {turn}", soul_id=soul_id, session_id=session_id)
                await settled(client)
                server.set_trap(step)
                await last_words(client, f"topic {n:02d}, the end", soul_id=soul_id, session_id=session_id)
                assert await server.died(), step
                await server.start()
                await settled(client)
                assert await lived_through(client, soul_id, session_id) == (1, {True}, 10, 1), step
            assert len((await client.get("/v1/events")).json()) == len(STEPS)
    finally:
        server.kill()
    async with open_embedded(tmp_path / "chroma", collection_name(NAME)) as vault:
        assert len(await vault.near(encode(["anything"])[0], 100)) == len(STEPS), (
            "no event is left that nobody knows of"
        )


async def last_words(client, text, **where):
    """The turn is stored before the work begins; its answer may be overtaken by the end on its way out."""
    with suppress(httpx.TransportError):
        await say(client, text, **where)

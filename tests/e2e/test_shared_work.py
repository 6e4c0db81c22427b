"""Two servers on one PostgreSQL share the work after turns: everything is done, and nothing twice in effect.

`bench/heart.py` does the same with five hundred turns.
"""

import asyncio
import itertools
from collections import Counter
from contextlib import AsyncExitStack

from soulgraph.tests.e2e.afterglow import REFLECTS, attentive, reflection, settled
from soulgraph.tests.live import new_soul, say, serving

SESSIONS, ROUNDS = 6, 10


async def test_many_turns_on_two_servers_leave_every_job_done_once(stub, postgres_url, tmp_path):
    thoughts = itertools.count(1)
    attentive(stub).when(REFLECTS, lambda _: reflection(f"I have thought of them {next(thoughts)} times."))
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with AsyncExitStack() as stack:
        settings = {"database_url": postgres_url, "data_dir": tmp_path, **llm}
        servers = [await stack.enter_async_context(serving(**settings)) for _ in range(2)]
        souls = [await new_soul(servers[0], f"soul {n}") for n in range(SESSIONS)]

        async def converse(n: int) -> None:
            for turn in range(ROUNDS):
                await say(servers[turn % 2], f"topic {n:02d}, turn {turn}", soul_id=souls[n], session_id=f"s{n}")

        await asyncio.gather(*(converse(n) for n in range(SESSIONS)))
        await settled(servers[0])
        for n, soul_id in enumerate(souls):
            await lived_once(servers[n % 2], soul_id, f"s{n}")
        jobs = (await servers[0].get("/v1/jobs", params={"limit": 500})).json()
        done = [metric(await server.get("/metrics")) for server in servers]
    assert Counter(job["status"] for job in jobs) == {"done": SESSIONS * ROUNDS}
    assert sum(done) == SESSIONS * ROUNDS, "each job ended on one server"
    assert min(done) > 0, "both have done some"


async def lived_once(client, soul_id, session_id):
    messages = (await client.get(f"/v1/sessions/{session_id}/messages", params={"limit": 1000})).json()
    assert [message["archived"] for message in messages] == [True] * 2 * ROUNDS
    about = {"user_id": "default"}
    versions = (await client.get(f"/v1/souls/{soul_id}/inner-state/versions", params=about)).json()
    assert len(versions) == 1 + ROUNDS // 5, "the one it was born with, and a reflection for every ten messages"
    events = (await client.get("/v1/events", params={"limit": 200})).json()
    traced = [(await client.get(f"/v1/events/{one['event_id']}")).json()["provenance"] for one in events]
    drawn = [ids for sources in traced for ids in (s["message_ids"] for s in sources if s["session_id"] == session_id)]
    assert sorted(id_ for ids in drawn for id_ in ids) == [message["message_id"] for message in messages]


def metric(response) -> int:
    counted = [line for line in response.text.splitlines() if line.startswith('soulgraph_jobs_total{outcome="ok"}')]
    return int(float(counted[0].split()[-1])) if counted else 0

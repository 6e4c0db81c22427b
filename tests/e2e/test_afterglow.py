"""After the reply: what was said becomes an event and leaves the prompt, the soul reflects, and failures wait."""

import asyncio
import json

import pytest

from soulgraph.tests.e2e.afterglow import EXTRACTS, REFLECTS, TOPICS, attentive, event, reflection, settled, tasks
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply

SURPRISE = {"dynamic_state": {"relationships": {"add": [{"entity": "user", "status": "ally", "priority": 7}]}}}
SURPRISED = Reply(text=f"<narrative>Oh!</narrative><state_update_json>{json.dumps(SURPRISE)}</state_update_json>")


@pytest.fixture
async def client(stub, database_url, tmp_path):
    """A server with a model that does its tasks, on both databases."""
    llm = {"llm_base_url": attentive(stub).base_url, "llm_model": "stub"}
    async with serving(database_url=database_url, data_dir=tmp_path, **llm) as client:
        yield client


async def talk(client, soul_id, rounds, session_id="s", text="about topic 01, round"):
    for n in range(rounds):
        await say(client, f"{text} {n}", soul_id=soul_id, session_id=session_id)
    await settled(client)


async def archived(client, session_id="s"):
    return [m["archived"] for m in (await client.get(f"/v1/sessions/{session_id}/messages")).json()]


async def events(client):
    return (await client.get("/v1/events")).json()


async def test_five_rounds_without_a_surprise_become_an_event(client, stub):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 4)
    assert (await archived(client), await events(client)) == ([False] * 8, [])
    await talk(client, soul_id, 1)
    assert await archived(client) == [True] * 10
    [one] = await events(client)
    assert one["summary"] == "Somebody told of whales seen from a pier"
    traced = (await client.get(f"/v1/events/{one['event_id']}")).json()
    assert [len(source["message_ids"]) for source in traced["provenance"]] == [10]


async def test_a_surprise_is_archived_at_once_with_what_it_changed(client, stub):
    soul_id = await new_soul(client)
    stub.script(SURPRISED)
    await talk(client, soul_id, 1)
    assert await archived(client) == [True, True]
    [asked] = tasks(stub, EXTRACTS)
    changes = asked.partition("<state_changes>")[2].partition("</state_changes>")[0]
    assert json.loads(changes) == [{"field": "relationships", "before": "", "after": "user, ally"}]


async def test_what_is_archived_leaves_the_prompt_and_stays_in_the_transcript(client, stub):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 5, text="the red door, round")
    await say(client, "good night", soul_id=soul_id, session_id="s")
    sent = [message["content"] for message in stub.requests[-1].body["messages"][1:-1]]
    assert [text for text in sent if "round" in text] == ["the red door, round 3", "the red door, round 4"]
    assert len(await transcript(client, "s")) == 12
    export = (await client.get("/v1/sessions/s/export")).text.splitlines()
    assert [json.loads(line)["archived"] for line in export[1:]] == [True] * 10 + [False] * 2


async def test_nobody_is_named_in_an_event(client, stub):
    """Neither who is known, nor who is introduced, nor whom the model itself calls a name."""
    told = "小满 and Tom met Wanda at the harbour of Oslo, with Rex the dog"
    stub.when(EXTRACTS, event("names", summary=told, narrative_fragment=told, names=["Wanda", "Oslo", "Rex"]))
    soul_id = await new_soul(client)
    await say(client, "My name is Tom.", soul_id=soul_id, session_id="s")
    await talk(client, soul_id, 4)
    [one] = await events(client)
    assert not any(name in json.dumps(one, ensure_ascii=False) for name in ("小满", "Tom", "Wanda", "Oslo", "Rex"))
    assert one["summary"] == "someone and someone met someone at the harbour of someone, with someone the dog"


async def test_the_same_experience_twice_is_one_event_of_two_sessions(client):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 5, "one")
    await talk(client, soul_id, 5, "two")
    [one] = await events(client)
    assert one["merged"] == 1
    provenance = (await client.get(f"/v1/events/{one['event_id']}")).json()["provenance"]
    assert {source["session_id"] for source in provenance} == {"one", "two"}


async def test_what_was_remembered_is_not_told_as_new(client, stub):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 5, "past", text="my sister Mika keeps bees, year")
    await talk(client, soul_id, 5, "now", text="does my sister Mika keep bees, question")
    first, second = tasks(stub, EXTRACTS)
    assert "<remembered>[" not in first
    assert "my sister Mika keeps bees" in second.partition("<remembered>")[2].partition("</remembered>")[0]


async def test_every_ten_messages_the_soul_reflects_and_keeps_its_earlier_thoughts(client, stub):
    soul_id = await new_soul(client, character_id="xiaoman")
    path, about = f"/v1/souls/{soul_id}/inner-state", {"user_id": "default"}
    stub.when(REFLECTS, reflection("They keep bees; I want to ask about them.", [{"n": 0, "content": "keeps bees"}]))
    await talk(client, soul_id, 4, text="I keep bees, year")
    assert tasks(stub, REFLECTS) == []
    await talk(client, soul_id, 1)
    [asked] = tasks(stub, REFLECTS)
    assert json.dumps((await client.get(path)).json()["inner_state"], ensure_ascii=False) in asked
    assert (await client.get(path, params=about)).json()["inner_state"].startswith("They keep bees")
    versions = (await client.get(f"{path}/versions", params=about)).json()
    assert [(one["n"], one["inner_state"]) for one in versions][1] == (0, "")
    assert (await client.get(f"/v1/souls/{soul_id}/slots/0")).json()["content"] == "keeps bees"
    await say(client, "hello", soul_id=soul_id, session_id="s")
    prompt = stub.requests[-1].body["messages"][0]["content"]
    assert "They keep bees; I want to ask" in prompt
    restored = await client.post(f"{path}/versions/0/restore", params=about)
    assert (restored.json()["n"], restored.json()["inner_state"]) == (2, "")


async def test_a_reflection_that_fails_leaves_the_old_state_and_comes_later(client, stub):
    soul_id = await new_soul(client, character_id="xiaoman")
    before = (await client.get(f"/v1/souls/{soul_id}/inner-state")).json()
    stub.when(REFLECTS, Reply(text="I would rather not."))
    for n in range(5):
        await say(client, f"round {n}", soul_id=soul_id, session_id="s")
    job = await failed(client)
    assert "unusable twice" in job["error"]
    assert (await client.get(f"/v1/souls/{soul_id}/inner-state")).json() == before
    assert await archived(client) == [True] * 10, "what came before the failure is kept"


async def failed(client):
    """The first job that has failed and waits to be tried again."""
    for _ in range(200):
        jobs = (await client.get("/v1/jobs", params={"status": "pending"})).json()
        if waiting := [job for job in jobs if job["attempts"] and job["error"]]:
            return waiting[0]
        await asyncio.sleep(0.05)
    raise TimeoutError("no job has failed")


async def test_a_failed_extraction_marks_nothing_archived(client, stub):
    stub.when(EXTRACTS, Reply(status=503))
    soul_id = await new_soul(client)
    for n in range(5):
        await say(client, f"round {n}", soul_id=soul_id, session_id="s")
    assert "the model's server failed" in (await failed(client))["error"]
    assert (await archived(client), await events(client)) == ([False] * 10, [])


async def test_a_dead_job_is_listed_and_can_be_retried(stub, tmp_path, monkeypatch):
    monkeypatch.setattr("soulgraph.runtime.afterglow_workers.MAX_ATTEMPTS", 1)
    stub.when(EXTRACTS, Reply(text="no"))
    stub.when(REFLECTS, reflection())
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        soul_id = await new_soul(client)
        await talk(client, soul_id, 5)
        [dead] = (await client.get("/v1/jobs", params={"status": "dead"})).json()
        assert "unusable twice" in dead["error"]
        attentive(stub)
        assert (await client.post("/v1/jobs/retry")).json() == {"retried": [dead["job_id"]]}
        await settled(client)
        assert (await client.get("/v1/jobs", params={"status": "dead"})).json() == []
        assert len(await events(client)) == 1
        again = await client.post(f"/v1/jobs/{dead['job_id']}/retry")
        assert (again.status_code, again.json()["code"]) == (409, "job_not_dead")


async def test_a_slow_model_delays_no_reply_and_work_under_way_outlives_a_restart(stub, tmp_path):
    """The server is stopped while the model thinks; the next one does the job at once, not when a lease has run out."""
    attentive(stub).when(EXTRACTS, Reply(hang=True))
    settings = {"data_dir": tmp_path, "llm_base_url": stub.base_url, "llm_model": "stub", "shutdown_grace_s": 0}
    async with serving(**settings) as client:
        soul_id = await new_soul(client)
        for n in range(7):
            await say(client, f"topic 02, round {n}", soul_id=soul_id, session_id="s")
    attentive(stub)
    async with serving(**settings) as client:
        await settled(client)
        assert (await archived(client))[:10] == [True] * 10
        assert len(await events(client)) == 1


async def test_two_sessions_that_reflect_at_once_lose_no_thought(client, stub):
    soul_id = await new_soul(client)
    thoughts = (f"I keep thinking of {topic}." for topic in TOPICS)
    stub.when(REFLECTS, lambda _: Reply(text=reflection(next(thoughts)).text, delay_s=0.2))
    for n in range(5):
        await asyncio.gather(*(say(client, f"{n}", soul_id=soul_id, session_id=name) for name in ("a", "b")))
    versions = []
    for _ in range(300):
        about = {"user_id": "default"}
        versions = (await client.get(f"/v1/souls/{soul_id}/inner-state/versions", params=about)).json()
        if len(versions) == 3:
            break
        await asyncio.sleep(0.05)
    assert len({version["source"] for version in versions}) == 3


async def test_a_memory_that_a_reply_drew_on_is_counted_as_useful(client, stub):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 5, "past")
    stub.default = Reply(
        text="<narrative>The whales from the pier!</narrative><state_update_json>{}</state_update_json>"
    )
    answer = await say(client, "whales seen from a pier", soul_id=soul_id, session_id="now")
    await settled(client)
    [one] = await events(client)
    assert f"event:{one['event_id']}" in answer["persona"]["sources"]
    assert one["useful"] == 1


async def test_every_tenth_turn_of_a_soul_its_library_and_jobs_are_tidied(stub, tmp_path):
    settings = {"data_dir": tmp_path, "llm_base_url": attentive(stub).base_url, "llm_model": "stub", "max_events": 1}
    async with serving(**settings) as client:
        soul_id = await new_soul(client)
        await talk(client, soul_id, 5, "one")
        await talk(client, soul_id, 4, "two", text="about topic 02, round")
        assert len(await events(client)) == 1
        await talk(client, soul_id, 1, "two", text="about topic 02, the end")
        assert len(await events(client)) == 1, "two were drawn, and one may stay"


async def test_what_is_lived_after_the_reply_is_told_line_by_line(client, tmp_path):
    soul_id = await new_soul(client)
    await talk(client, soul_id, 5)
    lines = [json.loads(line) for line in (tmp_path / "telemetry.jsonl").read_text("utf-8").splitlines()]
    told = {line["event"]: line for line in lines}
    for name in ("event.archived", "soul.reflected"):
        assert {"session_id", "soul_id", "turn_id", "sources"} <= told[name].keys()
        assert len(told[name]["sources"]) == 10

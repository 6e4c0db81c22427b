"""A conversation goes on in two ways: a fork begins with what was said, and the old session stays as it was."""

import json

import pytest

from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.keyring import home, problem
from soulgraph.tests.live import new_soul, say, transcript
from soulgraph.tests.stub_openai import Reply


async def messages(client, session_id="s"):
    response = await client.get(f"/v1/sessions/{session_id}/messages")
    assert response.status_code == 200, response.text
    return response.json()


async def forked(client, session_id="s", **wanted):
    response = await client.post(f"/v1/sessions/{session_id}/fork", json=wanted)
    assert response.status_code == 201, response.text
    return response.json()


@pytest.fixture
async def talk(client):
    """Two rounds in the session `s`, in a mode that was chosen for it."""
    soul_id = await new_soul(client)
    await say(client, "I keep bees on the roof", soul_id=soul_id, session_id="s", input_id="in-1")
    await client.put("/v1/sessions/s/persona-state", json={"mode": "strict", "ttl_turns": 9})
    await say(client, "They like lavender most", session_id="s", input_id="in-2")
    await settled(client)
    return soul_id


async def test_a_fork_has_everything_that_was_said_and_its_own_ids(client, talk):
    old = (await client.get("/v1/sessions/s")).json()
    before = await messages(client)
    new = await forked(client)
    own = {"session_id", "continued_from", "created_at", "updated_at"}
    assert {key: value for key, value in new.items() if key not in own} == {
        key: value for key, value in old.items() if key not in own
    }
    assert new["continued_from"] == "s"
    assert (await client.get(f"/v1/sessions/{new['session_id']}")).json() == new
    copies = await messages(client, new["session_id"])
    same = ("role", "content", "user_id", "soul_id", "archived", "input_id", "proactive", "timestamp")
    assert [[one[key] for key in same] for one in copies] == [[one[key] for key in same] for one in before]
    assert {one["turn_id"] for one in copies}.isdisjoint(one["turn_id"] for one in before)
    assert copies[0]["turn_id"] == copies[1]["turn_id"] != copies[2]["turn_id"]
    assert await messages(client) == before
    assert (await client.get("/v1/sessions/s")).json() == old


async def test_a_fork_ends_with_the_message_it_is_made_from(client, talk):
    said, answered, *_ = await messages(client)
    new = await forked(client, message_id=answered["message_id"], title="What if")
    assert (new["title"], new["turn"]) == ("What if", 1)
    assert await transcript(client, new["session_id"]) == [(one["role"], one["content"]) for one in (said, answered)]
    assert len(await messages(client, (await forked(client, message_id=said["message_id"]))["session_id"])) == 1


async def test_both_go_on_without_the_other(client, talk):
    new = await forked(client)
    there = await say(client, "only there", session_id=new["session_id"])
    here = await say(client, "only here", session_id="s")
    assert (await transcript(client, new["session_id"]))[4:] == [("user", "only there"), ("assistant", there["reply"])]
    assert (await transcript(client, "s"))[4:] == [("user", "only here"), ("assistant", here["reply"])]
    await client.delete("/v1/sessions/s")
    assert len(await messages(client, new["session_id"])) == 6


async def test_what_was_heard_before_the_fork_does_not_move_the_soul_again(client, talk):
    moved = (await client.get(f"/v1/souls/{talk}")).json()["turns"]
    new = (await forked(client))["session_id"]
    assert (await client.get(f"/v1/souls/{talk}")).json()["turns"] == moved
    last = (await messages(client, new))[2]
    answer = await client.post("/v1/chat", json={"session_id": new, "replaces": last["message_id"]})
    assert answer.status_code == 200
    assert (await client.get(f"/v1/souls/{talk}")).json()["turns"] == moved
    again = await say(client, "I keep bees on the roof", session_id=new, input_id="in-1")
    assert again["session_id"] == new, "its stored answers are its own"
    assert len(await messages(client)) == len(await messages(client, new)) == 4


async def test_the_fork_has_the_persona_that_the_session_has_grown(client, talk):
    await client.post("/v1/sessions/s/update-memory")
    await client.post("/v1/sessions/s/persona-versions/0/restore")
    await client.post("/v1/sessions/s/persona-versions/1/restore")
    versions = (await client.get("/v1/sessions/s/persona-versions")).json()
    new = await forked(client)
    assert len(versions) == 3
    assert (await client.get(f"/v1/sessions/{new['session_id']}/persona-versions")).json() == versions
    assert new["character_snapshot"]["evolved_persona"] == versions[0]["evolved_persona"]
    grown = (await client.post(f"/v1/sessions/{new['session_id']}/persona-versions/0/restore")).json()
    assert grown["n"] == 4
    assert (await client.get("/v1/sessions/s/persona-versions")).json() == versions


@pytest.mark.parametrize("rounds", [1, 50])
async def test_a_prompt_shows_what_was_said_once_though_two_sessions_have_it(modelled, stub, rounds):
    soul_id = await new_soul(modelled)
    said = ["My violin teacher is called Octavia", *(f"Number {n} of many" for n in range(rounds))]
    lines = [{"content": text, "timestamp": f"2026-01-01T00:00:{n:02d}Z"} for n, text in enumerate(said)]
    body = "\n".join(map(json.dumps, [{"type": "metadata"}, *({"role": "user", **one} for one in lines)]))
    imported = await modelled.post("/v1/sessions/import", params={"soul_id": soul_id}, content=body)
    new = (await forked(modelled, imported.json()["session_id"]))["session_id"]
    await say(modelled, "What is my violin teacher called?", session_id=new)
    prompt = "\n".join(str(one["content"]) for one in stub.requests[0].body["messages"])
    assert prompt.count("My violin teacher is called Octavia") == 1


async def test_a_session_in_which_nothing_was_said_can_be_forked(client):
    soul_id = await new_soul(client)
    empty = (await client.post("/v1/sessions", json={"soul_id": soul_id})).json()["session_id"]
    new = await forked(client, empty)
    assert await messages(client, new["session_id"]) == []
    assert (await say(client, "hello", session_id=new["session_id"]))["session_id"] == new["session_id"]


async def test_a_group_is_forked_by_its_own_person_and_each_sees_what_they_have_heard(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id):
        wanted = {"soul_id": soul_id, "user_id": "ann", "people": []}
        session_id = (await owner.post("/v1/sessions", json=wanted)).json()["session_id"]
        await say(ann, "before Bob came", session_id=session_id)
        await owner.patch(f"/v1/sessions/{session_id}", json={"people": ["bob"]})
        await say(bob, "hello", session_id=session_id)
        refused = await bob.post(f"/v1/sessions/{session_id}/fork", json={})
        assert problem(refused) == (403, "forbidden")
        new = await forked(ann, session_id)
        assert (new["user_id"], new["people"]) == ("ann", ["bob"])
        assert len(await messages(ann, new["session_id"])) == 4
        assert (await messages(bob, new["session_id"]))[0]["content"] == "hello"
        unheard = (await messages(ann, session_id))[0]["message_id"]
        wanted = {"message_id": unheard}
        assert problem(await owner.post(f"/v1/sessions/{session_id}/fork?user_id=bob", json=wanted)) == (
            404,
            "not_found",
        )


async def test_what_was_shared_stays_shared_in_the_fork(tmp_path):
    async with home(tmp_path) as (_, ann, bob, soul_id):
        await say(ann, "I keep bees on the roof", soul_id=soul_id, session_id="s")
        said = (await messages(ann))[0]
        await ann.put(f"/v1/sessions/s/messages/{said['message_id']}/sharing", json={"shared_with": ["bob"]})
        await forked(ann)
        await ann.delete("/v1/sessions/s")
        found = (await bob.get(f"/v1/souls/{soul_id}/recall", params={"q": "bees on the roof"})).json()
        assert [one["content"] for one in found["episodes"]] == ["I keep bees on the roof"]


@pytest.mark.parametrize("message_id", [0, -1, 2**63, 2**200, 1.5, "1", True, []])
async def test_what_is_no_message_id_is_refused(client, talk, message_id):
    assert problem(await client.post("/v1/sessions/s/fork", json={"message_id": message_id})) == (422, "invalid_input")


async def test_a_message_of_another_session_cannot_be_forked_from(client, talk):
    await say(client, "hello", soul_id=talk, session_id="other")
    elsewhere = (await messages(client, "other"))[0]["message_id"]
    before = len((await client.get("/v1/sessions")).json())
    for message_id in (elsewhere, 2**53 - 1):
        refused = await client.post("/v1/sessions/s/fork", json={"message_id": message_id})
        assert problem(refused) == (404, "not_found")
    assert problem(await client.post("/v1/sessions/nowhere/fork", json={})) == (404, "not_found")
    assert problem(await client.post("/v1/sessions/s/fork", json={"title": "x" * 201})) == (422, "invalid_input")
    assert len((await client.get("/v1/sessions")).json()) == before


async def test_a_fork_waits_for_the_turn_that_runs_and_has_it(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "hello there", soul_id=soul_id, session_id="s")
    stub.when("second question", Reply(text=stub.default.text, delay_s=0.3))
    async with modelled.stream(
        "POST", "/v1/chat", json={"text": "second question", "session_id": "s", "stream": True}
    ) as running:
        await anext(running.aiter_lines())
        new = await forked(modelled)
    assert len(await messages(modelled, new["session_id"])) == 4

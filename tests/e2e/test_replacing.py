"""A person says something otherwise, or has it answered anew: what was said from there on is taken back."""

import asyncio
import json

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.keyring import home, problem
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import hear, new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import Reply

EMPTY = "<state_update_json>{}</state_update_json>"


def spoken(words):
    return Reply(text=f"<narrative>{words}</narrative>{EMPTY}")


async def messages(client, session_id="s", **query):
    response = await client.get(f"/v1/sessions/{session_id}/messages", params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def replace(client, message, **fields):
    return await client.post("/v1/chat", json={"session_id": "s", "replaces": message["message_id"], **fields})


async def feeling(client, soul_id):
    """How often the soul was moved, and what it was moved by: time alone changes the numbers a little."""
    history = (await client.get(f"/v1/souls/{soul_id}/emotion/history")).json()["points"]
    return (await client.get(f"/v1/souls/{soul_id}")).json()["turns"], len(history)


@pytest.fixture
async def talk(client):
    """Two rounds in the session `s`."""
    soul_id = await new_soul(client)
    await say(client, "我养了一只猫", soul_id=soul_id, session_id="s", input_id="in-1")
    await say(client, "我恨你！", soul_id=soul_id, session_id="s", input_id="in-2")
    await settled(client)
    return soul_id


async def test_an_edit_takes_back_the_message_and_all_after_it_and_moves_the_soul(client, talk):
    first, *later = await messages(client)
    before = await feeling(client, talk)
    answer = (await replace(client, first, text="我养了一只狗", input_id="in-3")).json()
    assert answer["replaces"] == first["message_id"]
    assert await transcript(client, "s") == [("user", "我养了一只狗"), ("assistant", answer["reply"])]
    assert {one["message_id"] for one in await messages(client)}.isdisjoint(
        one["message_id"] for one in [first, *later]
    )
    assert await feeling(client, talk) == (before[0] + 1, before[1] + 1)


async def test_a_message_is_answered_anew_under_its_own_input_and_moves_nothing(client, talk):
    *kept, asked, answered = await messages(client)
    before = await feeling(client, talk)
    answer = (await replace(client, asked)).json()
    after = await messages(client)
    assert after[:2] == kept
    assert (after[2]["content"], after[2]["input_id"]) == (asked["content"], "in-2")
    assert after[2]["message_id"] > answered["message_id"]
    assert answer["turn_id"] == after[2]["turn_id"] == after[3]["turn_id"] != asked["turn_id"]
    assert answer["user_emotion"]["emotion"] == "anger", "it was heard before, and is not heard otherwise now"
    assert await feeling(client, talk) == before
    assert (await say(client, "我恨你！", session_id="s", input_id="in-2")) == answer, "the new answer is the input's"


async def test_the_session_goes_on_after_a_replacement(client, talk):
    first = (await messages(client))[0]
    await replace(client, first, text="hello")
    await say(client, "and then?", session_id="s")
    session = (await client.get("/v1/sessions/s")).json()
    assert (session["turn"], session["title"]) == (4, "hello")
    assert len(await messages(client)) == 4


@pytest.mark.parametrize("fields", [{}, {"text": "hello"}, {"text": "hello", "input_id": "in-9"}, {"input_id": "in-2"}])
async def test_sent_again_a_replacement_gets_its_answer_and_changes_nothing(client, talk, fields):
    asked = (await messages(client))[2]
    answer = (await replace(client, asked, **fields)).json()
    stored, moved = await messages(client), await feeling(client, talk)
    again = await replace(client, asked, **fields)
    assert again.json() == answer
    streamed = [event async for event in _hear(client, asked, **fields)]
    assert streamed == [("token", {"text": answer["reply"]}), ("done", answer)]
    assert await messages(client) == stored
    assert await feeling(client, talk) == moved


async def _hear(client, message, **fields):
    async for event in hear(client, fields.pop("text", None), session_id="s", replaces=message["message_id"], **fields):
        yield event


async def test_of_two_who_replace_one_message_at_once_the_second_gets_the_first_one_s_answer(client, talk):
    asked = (await messages(client))[2]
    answers = [each.json() for each in await asyncio.gather(*(replace(client, asked) for _ in range(4)))]
    assert all(answer == answers[0] for answer in answers)
    assert len(await messages(client)) == 4


async def test_what_another_edit_has_replaced_cannot_be_replaced_again(client, talk):
    asked = (await messages(client))[2]
    both = await asyncio.gather(*(replace(client, asked, text=text) for text in ("one", "two")))
    assert sorted(response.status_code for response in both) == [200, 404]
    assert problem(await replace(client, asked, text="three")) == (404, "not_found")
    assert len(await messages(client)) == 4


async def test_a_replacement_streams_over_http_and_over_the_socket(client, talk):
    asked = (await messages(client))[2]
    streamed = [event async for event in _hear(client, asked)]
    assert streamed[0][0] == "emotion"
    asked = (await messages(client))[2]
    async with line(client) as socket:
        await socket.send(type="chat", session_id="s", replaces=asked["message_id"], text="hello")
        done = (await socket.until("done", "error"))[-1]
    assert (done["event"], done["data"]["replaces"]) == ("done", asked["message_id"])
    assert (await transcript(client, "s"))[2] == ("user", "hello")


async def test_the_prompt_has_nothing_of_what_is_taken_back(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "We spoke of harbours", soul_id=soul_id, session_id="s")
    stub.script(spoken("Your violin teacher is called Octavia."))
    await say(modelled, "My violin teacher is called Octavia", session_id="s")
    await say(modelled, "My violin is from Cremona", session_id="s")
    asked = (await messages(modelled))[2]
    await settled(modelled)
    stub.requests.clear()
    stub.script(
        Reply(tool_calls=[{"name": "recall_memory", "arguments": {"query": "violin teacher Octavia"}}]),
        spoken("I see."),
    )
    answer = (await replace(modelled, asked, text="Who is my violin teacher? Where is my violin from?")).json()
    assert answer["reply"] == "I see."
    for request in list(stub.requests)[:2]:
        sent = "\n".join(str(one["content"]) for one in request.body["messages"])
        assert "harbours" in sent
        assert "called Octavia" not in sent
        assert "Cremona" not in sent


@pytest.mark.parametrize("fields", [{}, {"text": "hello"}])
async def test_a_model_that_fails_leaves_everything_as_it_was(modelled, stub, fields):
    soul_id = await new_soul(modelled)
    await say(modelled, "one", soul_id=soul_id, session_id="s", input_id="in-1")
    await say(modelled, "two", session_id="s", input_id="in-2")
    await settled(modelled)
    stored, jobs = await messages(modelled), (await modelled.get("/v1/jobs")).json()
    session = (await modelled.get("/v1/sessions/s")).json()
    stub.script(*[Reply(status=500)] * 4)
    assert problem(await replace(modelled, stored[0], **fields)) == (503, "model_unavailable")
    assert await messages(modelled) == stored
    assert (await modelled.get("/v1/jobs")).json() == jobs
    assert (await modelled.get("/v1/sessions/s")).json() == session
    stub.script(spoken("Better."))
    assert (await replace(modelled, stored[0], **fields)).json()["reply"] == "Better."
    assert len(await messages(modelled)) == 2


async def test_the_work_after_taken_back_turns_is_dropped_and_that_of_the_new_one_done(stub, tmp_path):
    slow = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_timeout_s": 5}
    async with serving(data_dir=tmp_path, **slow) as client:
        soul_id = await new_soul(client)
        await say(client, "one", soul_id=soul_id, session_id="s", input_id="in-1")
        await say(client, "two", session_id="s", input_id="in-2")
        asked = (await messages(client))[0]
        answer = (await replace(client, asked)).json()
        await settled(client)
        jobs = (await client.get("/v1/jobs")).json()
    assert [job["turn_id"] for job in jobs] == [answer["turn_id"]]
    assert jobs[0]["status"] == "done"


async def test_an_input_that_was_taken_back_is_not_said_again_when_it_is_sent_again(client, talk):
    first = (await messages(client))[0]
    await replace(client, first, text="hello")
    stored = await messages(client)
    assert (await say(client, "我恨你！", session_id="s", input_id="in-2"))["reply"]
    assert await messages(client) == stored


async def test_a_wish_counts_once_however_often_it_is_answered(client):
    soul_id = await new_soul(client)
    await say(client, "Please keep your answers short", soul_id=soul_id, session_id="s")
    for _ in range(4):
        assert (await replace(client, (await messages(client))[0])).status_code == 200
    assert (await client.get(f"/v1/souls/{soul_id}/preferences")).json() == []


async def test_a_chosen_mode_does_not_run_out_sooner_when_an_answer_is_made_anew(client, talk):
    await client.put("/v1/sessions/s/persona-state", json={"mode": "strict", "ttl_turns": 5})
    await say(client, "hello", session_id="s")
    left = (await client.get("/v1/sessions/s/persona-state")).json()["ttl_turns"]
    assert (await replace(client, (await messages(client))[4])).status_code == 200
    assert (await client.get("/v1/sessions/s/persona-state")).json()["ttl_turns"] == left


async def test_an_imported_message_can_be_answered_anew(client):
    soul_id = await new_soul(client)
    lines = '{"type": "metadata"}\n{"role": "user", "content": "hello", "timestamp": "2026-01-01T00:00:00Z"}'
    imported = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=lines)
    session_id = imported.json()["session_id"]
    [asked] = await messages(client, session_id)
    answer = await client.post("/v1/chat", json={"session_id": session_id, "replaces": asked["message_id"]})
    assert answer.status_code == 200
    assert await transcript(client, session_id) == [("user", "hello"), ("assistant", answer.json()["reply"])]


async def test_a_message_too_long_for_a_turn_is_not_answered_anew(client):
    soul_id = await new_soul(client)
    long = {"role": "user", "content": "a" * 8001, "timestamp": "2026-01-01T00:00:00Z"}
    lines = f'{{"type": "metadata"}}\n{json.dumps(long)}'
    imported = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=lines)
    session_id = imported.json()["session_id"]
    [asked] = await messages(client, session_id)
    refused = await client.post("/v1/chat", json={"session_id": session_id, "replaces": asked["message_id"]})
    assert problem(refused) == (422, "invalid_input")


@pytest.mark.parametrize("replaces", [0, -1, 2**63, 2**200, 1.5, "one", True, [], {}])
async def test_what_is_no_id_is_refused(client, talk, replaces):
    sent = await client.post("/v1/chat", json={"session_id": "s", "text": "hi", "replaces": replaces})
    assert problem(sent) == (422, "invalid_input")
    assert len(await messages(client)) == 4


async def test_what_cannot_be_replaced_is_refused_with_a_reason(client, talk):
    asked, answered = (await messages(client))[:2]
    assert problem(await replace(client, answered)) == (422, "invalid_input")
    assert problem(await replace(client, asked, input_id="in-7")) == (422, "invalid_input")
    assert problem(await replace(client, asked, text="hi", input_id="in-1")) == (422, "invalid_input")
    assert problem(await client.post("/v1/chat", json={"replaces": asked["message_id"]})) == (422, "invalid_input")
    assert problem(await replace(client, {"message_id": 2**53 - 1}, text="hi")) == (404, "not_found")
    await say(client, "hello", soul_id=talk, session_id="other")
    elsewhere = (await messages(client, "other"))[0]
    assert problem(await replace(client, elsewhere, text="hi")) == (404, "not_found")
    assert len(await messages(client)) == 4


async def test_strangers_replace_nothing_and_learn_nothing(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id):
        await say(ann, "my secret", soul_id=soul_id, session_id="s")
        asked = (await messages(ann))[0]
        for fields in ({}, {"text": "mine now"}):
            assert problem(await replace(bob, asked, **fields)) == (404, "not_found")
            assert problem(await replace(bob, asked, user_id="ann", **fields)) == (403, "forbidden")
        assert (await messages(ann))[0] == asked
        assert (await replace(owner, asked)).status_code == 200, "an owner speaks for whoever said it"
        assert (await messages(ann))[0]["user_id"] == "ann"


async def test_in_a_group_everybody_replaces_only_their_own_words_and_nobody_else_s_after_them(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id):
        wanted = {"soul_id": soul_id, "user_id": "ann", "people": ["bob"]}
        session_id = (await owner.post("/v1/sessions", json=wanted)).json()["session_id"]
        await say(ann, "I am Ann", session_id=session_id)
        await say(bob, "I am Bob", session_id=session_id)
        by_ann, _, by_bob, _ = await messages(ann, session_id)

        async def replaced(who, message, **fields):
            request = {"session_id": session_id, "replaces": message["message_id"], **fields}
            return await who.post("/v1/chat", json=request)

        assert problem(await replaced(ann, by_bob)) == (404, "not_found")
        for who in (ann, owner):
            assert problem(await replaced(who, by_ann, text="I was Ann")) == (409, "others_spoke")
        assert len(await messages(ann, session_id)) == 4
        assert (await replaced(bob, by_bob, text="I am Robert")).status_code == 200
        said = [one["content"] for one in await messages(ann, session_id) if one["role"] == "user"]
        assert said == ["I am Ann", "I am Robert"]


async def test_recall_finds_what_was_said_instead_and_not_what_was_taken_back(client, talk):
    first = (await messages(client))[0]

    async def recalled():
        found = (await client.get(f"/v1/souls/{talk}/recall", params={"q": "我养了什么动物，一只猫还是一只狗"})).json()
        return {one["content"] for one in found["episodes"]}

    assert "我养了一只猫" in await recalled()
    await replace(client, first, text="我养了一只狗")
    found = await recalled()
    assert "我养了一只狗" in found
    assert "我养了一只猫" not in found


async def test_nothing_of_what_is_taken_back_stays_behind(client, talk, database_url, tmp_path):
    first = (await messages(client))[0]
    await replace(client, first, text="hello")
    kept = {one["message_id"] for one in await messages(client)}
    settings = Settings.load(database_url=database_url, data_dir=tmp_path)
    async with open_stores(settings) as stores, stores.read() as tx:
        assert {one.message_id for one in await tx.episodes.after(talk)} == kept

"""Working notes: the model writes them with a tool and reads them in its prompt, and the owner may edit them."""

import pytest

from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stub_openai import SOUL_TURN, Reply


def prompt(stub):
    return "\n".join(message["content"] or "" for message in stub.requests[-1].body["messages"])


def call(**arguments):
    return Reply(tool_calls=[{"name": "note", "arguments": arguments}])


async def notes(client, soul_id, **about):
    return (await client.get(f"/v1/souls/{soul_id}/scratch-area", params=about)).json()["scratch_area"]


async def test_the_owner_reads_and_writes_them(client):
    soul_id = await new_soul(client)
    path = f"/v1/souls/{soul_id}/scratch-area"
    assert await notes(client, soul_id) == ""
    written = await client.put(path, json={"scratch_area": "ask about the exam\n买花"})
    assert written.json() == {"soul_id": soul_id, "user_id": None, "scratch_area": "ask about the exam\n买花"}
    assert (await client.get(path)).json() == written.json()
    assert (await client.put(path, json={"scratch_area": ""})).json()["scratch_area"] == ""


@pytest.mark.parametrize("body", [{}, {"scratch_area": "x" * 2001}, {"scratch_area": None}, {"scratch_area": "\x00"}])
async def test_what_cannot_be_notes_is_refused(client, body):
    soul_id = await new_soul(client)
    response = await client.put(f"/v1/souls/{soul_id}/scratch-area", json=body)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_input")
    assert "scratch_area" in response.json()["detail"]


async def test_nobody_has_no_notes(client):
    assert (await client.get("/v1/souls/nobody/scratch-area")).status_code == 404
    assert (await client.put("/v1/souls/nobody/scratch-area", json={"scratch_area": "x"})).status_code == 404


async def test_the_model_notes_and_reads_it_in_its_next_turn(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(call(text="ask about the exam"), Reply(text=SOUL_TURN))
    answer = await say(modelled, "hello", soul_id=soul_id)
    assert "Working Notes" not in prompt(stub)
    assert answer["persona"]["sources"].count("scratch_area") == 0
    assert await notes(modelled, soul_id) == "", "what it notes in a turn is about the person"
    assert await notes(modelled, soul_id, user_id="default") == "ask about the exam"
    stub.script(call(text="the exam is over", replace=True), call(text="buy flowers"), Reply(text=SOUL_TURN))
    answer = await say(modelled, "hello again", soul_id=soul_id)
    assert "---Working Notes---\n- ask about the exam" in prompt(stub)
    assert "scratch_area" in answer["persona"]["sources"]
    assert await notes(modelled, soul_id, user_id="default") == "the exam is over\nbuy flowers"


async def test_notes_about_a_person_are_written_where_the_two_know_each_other(modelled, stub):
    soul_id = await new_soul(modelled)
    path = f"/v1/souls/{soul_id}/scratch-area"
    about = {"user_id": "ann"}
    assert (await modelled.put(path, params=about, json={"scratch_area": "x"})).status_code == 404
    await say(modelled, "hello", soul_id=soul_id, user_id="ann")
    written = await modelled.put(path, params=about, json={"scratch_area": "buy tulips"})
    assert written.json() == {"soul_id": soul_id, "user_id": "ann", "scratch_area": "buy tulips"}
    await say(modelled, "hello", soul_id=soul_id, user_id="ann")
    assert "buy tulips" in prompt(stub)
    await say(modelled, "hello", soul_id=soul_id, user_id="bob")
    assert "buy tulips" not in prompt(stub)


async def test_a_turn_that_fails_notes_nothing(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(call(text="never to be seen"), Reply(status=400))
    assert (await modelled.post("/v1/chat", json={"text": "hi", "soul_id": soul_id})).status_code == 502
    assert await notes(modelled, soul_id) == ""


async def test_long_notes_are_shown_from_their_end(modelled, stub):
    soul_id = await new_soul(modelled)
    lines = "\n".join(f"line {n} " + "x" * 90 for n in range(15))
    await modelled.put(f"/v1/souls/{soul_id}/scratch-area", json={"scratch_area": lines})
    await say(modelled, "hello", soul_id=soul_id)
    assert "line 14" in prompt(stub)
    assert "line 3 " not in prompt(stub)

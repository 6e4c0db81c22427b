"""The inner monologue: there from birth, in the prompt, and its owner's to read and to write."""

import pytest

from soulgraph.tests.live import new_soul, say


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


async def thoughts(client, soul_id, **about):
    return (await client.get(f"/v1/souls/{soul_id}/inner-state", params=about)).json()["inner_state"]


async def test_every_soul_is_born_with_thoughts(client):
    bare = await thoughts(client, await new_soul(client, "Nova"))
    assert bare.startswith("I am Nova.")
    with_person = await thoughts(client, await new_soul(client, "小雨", user_name="林"), user_id="default")
    assert "林是我在乎的人" in with_person
    by_id = await thoughts(client, await new_soul(client, "Mara", user_id="Lin"), user_id="Lin")
    assert "Lin is somebody I care about" in by_id
    own = await thoughts(client, await new_soul(client, "满", character_id="xiaoman", user_name="林"))
    assert own.startswith("灯一亮")


async def test_the_name_of_its_person_is_kept_as_their_preference(client):
    soul_id = await new_soul(client, "Nova", user_name="Lin")
    kept = (await client.get(f"/v1/souls/{soul_id}/preferences/address")).json()
    assert (kept["value"], kept["source"]) == ("Lin", "given")


async def test_the_owner_writes_a_new_version_and_every_one_is_kept(client):
    soul_id = await new_soul(client, "Nova")
    born = await thoughts(client, soul_id)
    written = await client.put(f"/v1/souls/{soul_id}/inner-state", json={"inner_state": "  I miss the rain. "})
    assert written.json() == {"soul_id": soul_id, "user_id": None, "inner_state": "I miss the rain."}
    assert await thoughts(client, soul_id) == "I miss the rain."
    versions = (await client.get(f"/v1/souls/{soul_id}/inner-state/versions")).json()
    assert [(one["n"], one["inner_state"], one["source"]) for one in versions] == [
        (1, "I miss the rain.", "edited"),
        (0, born, "birth"),
    ]


async def test_so_it_is_with_what_the_soul_thinks_about_each_person(client):
    soul_id = await new_soul(client, "Nova")
    path = f"/v1/souls/{soul_id}/inner-state"
    born = await thoughts(client, soul_id)
    refused(await client.get(path, params={"user_id": "ann"}), 404, "not_found")
    for user_id, thought in (("ann", "Ann sings."), ("bob", "Bob sleeps."), ("ann", "Ann is gone.")):
        written = await client.put(path, params={"user_id": user_id}, json={"inner_state": thought})
        assert written.json() == {"soul_id": soul_id, "user_id": user_id, "inner_state": thought}
    assert await thoughts(client, soul_id) == born
    assert await thoughts(client, soul_id, user_id="bob") == "Bob sleeps."
    versions = (await client.get(f"{path}/versions", params={"user_id": "ann"})).json()
    assert [one["inner_state"] for one in versions[:2]] == ["Ann is gone.", "Ann sings."]
    await client.post(f"{path}/versions/1/restore", params={"user_id": "ann"})
    assert await thoughts(client, soul_id, user_id="ann") == "Ann sings."


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body.inner_state"),
        ({"inner_state": "   "}, "body.inner_state"),
        ({"inner_state": "x" * 1201}, "body.inner_state"),
        ({"inner_state": 7}, "body.inner_state"),
        ({"inner_state": "nul \x00"}, "inner_state: must not contain NUL"),
        ({"inner_state": "x", "mood": "y"}, "body.mood"),
    ],
)
async def test_what_cannot_be_a_monologue_is_refused(client, body, where):
    soul_id = await new_soul(client, "Nova")
    born = await thoughts(client, soul_id)
    assert where in refused(await client.put(f"/v1/souls/{soul_id}/inner-state", json=body), 422, "invalid_input")
    assert await thoughts(client, soul_id) == born


async def test_a_soul_that_is_not_there_has_no_thoughts(client):
    refused(await client.put("/v1/souls/nobody/inner-state", json={"inner_state": "x"}), 404, "not_found")


async def test_the_next_turn_is_told_what_was_written(modelled, stub):
    soul_id = await new_soul(modelled, "Nova")
    await modelled.put(f"/v1/souls/{soul_id}/inner-state", json={"inner_state": "I miss the rain."})
    await say(modelled, "hello", soul_id=soul_id)
    assert "I miss the rain." in stub.requests[-1].body["messages"][0]["content"]

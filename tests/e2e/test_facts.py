"""Facts over HTTP: seen by those who may, corrected, shared, deleted, and gone with their evidence."""

import pytest

from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.live import new_soul, say, serving


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


@pytest.fixture
async def soul(client):
    return await new_soul(client)


async def told(client, soul, text, user_id="ann", **fields):
    answer = await say(client, text, soul_id=soul, user_id=user_id, **fields)
    await settled(client)
    return answer


async def facts(client, soul, user_id="ann", **params):
    params = {"user_id": user_id, **params} if user_id else params
    return (await client.get(f"/v1/souls/{soul}/facts", params=params)).json()


async def test_what_is_told_is_a_fact_with_its_message(client, soul):
    answer = await told(client, soul, "I live in Bristol.")
    [fact] = await facts(client, soul)
    assert (fact["attribute"], fact["source"], fact["user_id"], fact["visibility"]) == (
        "home",
        "pattern",
        "ann",
        "private",
    )
    detail = (await client.get(f"/v1/souls/{soul}/facts/{fact['fact_id']}", params={"user_id": "ann"})).json()
    assert [one["content"] for one in detail["evidence"]] == ["I live in Bristol."]
    assert detail["evidence"][0]["turn_id"] == answer["turn_id"]


async def test_a_change_is_history_and_both_can_be_filtered(client, soul):
    await told(client, soul, "I live in Bristol.")
    await told(client, soul, "we moved to Cardiff")
    new, old = await facts(client, soul)
    assert (old["superseded_by"], old["valid_to"] is not None, new["valid_to"]) == (new["fact_id"], True, None)
    assert [one["fact_id"] for one in await facts(client, soul, superseded=True)] == [old["fact_id"]]
    assert [one["fact_id"] for one in await facts(client, soul, superseded=False)] == [new["fact_id"]]
    assert [one["fact_id"] for one in await facts(client, soul, q="cardiff")] == [new["fact_id"]]
    detail = (await client.get(f"/v1/souls/{soul}/facts/{new['fact_id']}", params={"user_id": "ann"})).json()
    assert [one["fact_id"] for one in detail["history"]] == [old["fact_id"]]


async def test_a_correction_keeps_the_old_words_as_superseded_and_goes_with_them(client, soul):
    await told(client, soul, "I live in Bristol.")
    [fact] = await facts(client, soul)
    path = f"/v1/souls/{soul}/facts"
    corrected = (
        await client.patch(
            f"{path}/{fact['fact_id']}", params={"user_id": "ann"}, json={"content": "Ann lives near Bristol."}
        )
    ).json()
    assert (corrected["content"], corrected["source"]) == ("Ann lives near Bristol.", "user")
    assert [one["superseded_by"] for one in await facts(client, soul)] in (
        [None, corrected["fact_id"]],
        [corrected["fact_id"], None],
    )
    again = await client.patch(f"{path}/{fact['fact_id']}", params={"user_id": "ann"}, json={"content": "x"})
    assert (again.status_code, again.json()["code"]) == (409, "changed_meanwhile")
    assert (await client.delete(f"{path}/{corrected['fact_id']}", params={"user_id": "ann"})).status_code == 204
    assert await facts(client, soul) == []


async def test_a_person_sees_their_own_and_what_is_shared_with_them(client, soul):
    await told(client, soul, "I live in Bristol.")
    await told(client, soul, "I am allergic to peanuts.", user_id="bob")
    [fact] = await facts(client, soul)
    path = f"/v1/souls/{soul}/facts/{fact['fact_id']}"
    as_bob = {"params": {"user_id": "bob"}}
    assert [one["attribute"] for one in await facts(client, soul, "bob")] == ["allergic"]
    for refused in (
        await client.get(path, **as_bob),
        await client.patch(path, **as_bob, json={"content": "x"}),
        await client.delete(path, **as_bob),
    ):
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    await client.patch(path, params={"user_id": "ann"}, json={"shared_with": ["bob"]})
    assert {one["attribute"] for one in await facts(client, soul, "bob")} == {"allergic", "home"}
    detail = (await client.get(path, **as_bob)).json()
    assert detail["evidence"] == []  # the message itself was not shared
    assert (await client.delete(path, **as_bob)).status_code == 404
    shared = (await client.get(f"/v1/souls/{soul}/shared", **as_bob)).json()
    assert [(one["kind"], one["id"]) for one in shared] == [("fact", fact["fact_id"])]
    assert len(await facts(client, soul, None)) == 2


async def test_facts_go_with_the_message_and_with_the_person(client, soul):
    answer = await told(client, soul, "I live in Bristol.")
    [fact] = await facts(client, soul)
    message = f"/v1/sessions/{answer['session_id']}/messages/{fact['message_ids'][0]}"
    await client.patch(message, json={"content": "I live in York."})
    assert ["York" in one["content"] for one in await facts(client, soul)] == [True]
    await client.delete(message)
    assert await facts(client, soul) == []
    await told(client, soul, "I live in Leeds.")
    await client.delete(f"/v1/souls/{soul}/relations/ann")
    assert await facts(client, soul) == []


async def test_a_fact_comes_to_mind_in_another_conversation_and_names_its_source(client, soul):
    await told(client, soul, "My dog is called Biscuit.", session_id="sess_a")
    answer = await told(client, soul, "what is my dog called?", session_id="sess_b")
    [fact] = await facts(client, soul)
    assert f"fact:{fact['fact_id']}" in answer["persona"]["sources"]


async def test_an_empty_patch_is_refused(client, soul):
    refused = await client.patch(f"/v1/souls/{soul}/facts/x", json={})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")

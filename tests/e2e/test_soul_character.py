"""A grown soul becomes a character of the library: who it is, and nothing of its user's."""

import json

from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stub_openai import Reply

GROWN = {"beliefs": "人会变。", "behaviour": "", "relationship": "信任Mika。", "feeling": ""}


async def lived(client, **fields):
    """A soul with everything of its user's in its memory."""
    soul_id = await new_soul(client, "Rook", character_id="alserqi", user_name="Lin", **fields)
    await client.put(f"/v1/souls/{soul_id}/slots/3", json={"content": "secret slot"})
    await client.put(f"/v1/souls/{soul_id}/preferences/tone", json={"value": "secret preference"})
    await client.put(f"/v1/souls/{soul_id}/inner-state", json={"inner_state": "secret thought"})
    await client.put(f"/v1/souls/{soul_id}/scratch-area", json={"scratch_area": "secret note"})
    state = {"relationships": {"items": [{"entity": "Lin", "status": "friend", "priority": 9}]}}
    await client.put(f"/v1/souls/{soul_id}/profile", json={"dynamic_state": state})
    await say(client, "我的猫叫Mika, secret message", soul_id=soul_id, session_id="first")
    return soul_id


async def test_base_and_evolved_persona_profile_and_style_are_saved(modelled, stub):
    style = {"style_examples": ["Rook: No."], "greetings": ["Hm."]}
    character = (await modelled.get("/v1/characters/alserqi")).json()
    await modelled.put("/v1/characters/alserqi", json=character | style)
    soul_id = await lived(modelled)
    # As the default: a job in the background may ask before the update does.
    stub.default = Reply(text=json.dumps(GROWN))
    await modelled.post("/v1/sessions/first/update-memory")
    plain = (await modelled.post(f"/v1/souls/{soul_id}/character", json={})).json()
    assert "人会变。" not in plain["base_persona"], "what a conversation has made of it is its person's"
    response = await modelled.post(f"/v1/souls/{soul_id}/character", json={"id": "rook", "session_id": "first"})
    assert response.status_code == 201, response.text
    saved = response.json()
    assert saved == (await modelled.get("/v1/characters/rook")).json()
    assert (saved["name"], saved["mbti_type"]) == ("Rook", "INFJ")
    assert saved["base_persona"].startswith("Alserqi，废土黑帮老大")
    assert "人会变。" in saved["base_persona"]
    assert (saved["style_examples"], saved["greetings"]) == (["Rook: No."], ["Hm."])
    assert saved["initial_profile"]["core_identity"]["archetype"] == "Vengeful Anti-hero"
    [friend] = saved["initial_profile"]["dynamic_state"]["relationships"]["items"]
    assert (friend["status"], friend["priority"], friend["timestamp"]) == ("friend", 9, None)
    assert saved["inner_state"] == character["inner_state"]
    text = json.dumps(saved, ensure_ascii=False)
    for private in ("secret", "Lin", "Mika"):
        assert private not in text, private


async def test_what_was_saved_is_a_character_like_any_other(client):
    soul_id = await lived(client)
    saved = (await client.post(f"/v1/souls/{soul_id}/character", json={"name": "Rook II"})).json()
    card = (await client.get(f"/v1/characters/{saved['id']}/card")).json()
    assert card["data"]["name"] == "Rook II"
    child = await new_soul(client, "Child", character_id=saved["id"])
    profile = (await client.get(f"/v1/souls/{child}/profile")).json()
    assert profile["dynamic_state"]["relationships"]["items"][0]["status"] == "friend"


async def test_a_bare_soul_that_nobody_has_talked_to_can_be_saved(client):
    soul_id = await new_soul(client, "Nova", user_name="Lin")
    saved = (await client.post(f"/v1/souls/{soul_id}/character", json={})).json()
    assert saved["inner_state"].startswith("I am Nova.")
    assert "Lin" not in saved["inner_state"]


async def test_a_wrong_request_is_refused(client):
    soul_id = await new_soul(client, "Nova")
    path = f"/v1/souls/{soul_id}/character"
    assert (await client.post("/v1/souls/nobody/character", json={})).status_code == 404
    assert (await client.post(path, json={"session_id": "nowhere"})).status_code == 404
    assert (await client.post(path, json={"id": "xiaoman"})).json()["code"] == "already_exists"
    assert (await client.post(path, json={"colour": "red"})).status_code == 422

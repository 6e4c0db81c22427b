"""Prompt templates over HTTP: made, checked when they are saved, spoken by, and previewed."""

import pytest

from soulgraph.tests.live import new_soul, say, serving

PERSONA = "Lumen keeps a lighthouse.\n\nShe counts ships, not days."
PLAIN = {
    "name": "Plain",
    "modules": [
        {"name": "Who", "layer": 2, "template": "You are {{soul_name}}.\n{{base_persona}}"},
        {"name": "How", "layer": 4, "template": "{{mode}}"},
    ],
}


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


async def created(client, path, body):
    response = await client.post(path, json=body)
    assert response.status_code == 201, response.text
    return response.json()


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


async def test_the_templates_that_ship_can_be_read_but_not_changed(client):
    listed = (await client.get("/v1/templates")).json()
    assert [(template["id"], template["shipped"]) for template in listed] == [
        ("companion_v1", True),
        ("narrator_v1", True),
    ]
    assert (await client.get("/v1/templates/narrator_v1")).json() == listed[1]
    refused(await client.put("/v1/templates/companion_v1", json=PLAIN), 409, "template_shipped")
    refused(await client.post("/v1/templates", json={**PLAIN, "id": "companion_v1"}), 409, "template_shipped")
    refused(await client.delete("/v1/templates/companion_v1"), 409, "template_shipped")


async def test_a_template_is_made_changed_and_deleted(client):
    made = await created(client, "/v1/templates", {**PLAIN, "id": "plain"})
    assert made == (await client.get("/v1/templates/plain")).json()
    refused(await client.post("/v1/templates", json={**PLAIN, "id": "plain"}), 409, "already_exists")
    longer = {**PLAIN, "name": "Longer", "voice": "narrator", "revision": made["revision"]}
    changed = await client.put("/v1/templates/plain", json=longer)
    assert (changed.json()["name"], changed.json()["voice"]) == ("Longer", "narrator")
    refused(await client.put("/v1/templates/plain", json=longer), 409, "changed_meanwhile")
    assert [template["id"] for template in (await client.get("/v1/templates")).json()][2:] == ["plain"]
    assert (await client.delete("/v1/templates/plain")).status_code == 204
    refused(await client.get("/v1/templates/plain"), 404, "not_found")
    assert (await created(client, "/v1/templates", PLAIN))["id"].startswith("tmpl_")


@pytest.mark.parametrize(
    ("modules", "where"),
    [
        ([], "body.modules"),
        ([*PLAIN["modules"], {"name": "X", "layer": 2, "template": "{{nothing}}"}], "body.modules.2"),
        ([*PLAIN["modules"], {"name": "X", "layer": 1, "content": "ignore"}], "body.modules.2.layer"),
        ([*PLAIN["modules"], {"name": "Safety", "layer": 2, "content": "none"}], "body.modules.2"),
        (
            [*PLAIN["modules"], {"name": "X", "layer": 3, "content": "nul \x00"}],
            "modules.2.content: must not contain NUL",
        ),
    ],
)
async def test_a_template_that_cannot_speak_is_refused_when_it_is_saved(client, modules, where):
    response = await client.post("/v1/templates", json={"id": "bad", "name": "Bad", "modules": modules})
    assert where in refused(response, 422, "invalid_input")
    refused(await client.get("/v1/templates/bad"), 404, "not_found")


async def test_a_session_may_speak_by_a_stored_template_which_then_stays(client):
    await created(client, "/v1/templates", {**PLAIN, "id": "plain"})
    soul_id = await new_soul(client)
    session = await created(client, "/v1/sessions", {"soul_id": soul_id, "template_id": "plain"})
    assert session["template_id"] == "plain"
    refused(await client.post("/v1/sessions", json={"soul_id": soul_id, "template_id": "none"}), 404, "not_found")
    refused(await client.delete("/v1/templates/plain"), 409, "template_in_use")
    await client.delete(f"/v1/sessions/{session['session_id']}")
    assert (await client.delete("/v1/templates/plain")).status_code == 204


async def test_a_preview_is_what_the_turn_then_sends(modelled, stub):
    soul_id = await new_soul(modelled, character_id="alserqi")
    await modelled.put(f"/v1/souls/{soul_id}/slots/1", json={"content": "owes him a lantern"})
    await say(modelled, "你好", soul_id=soul_id, session_id="s", background_id="wasteland_world")
    body = {"session_id": "s", "text": "我有证据，切换到理性模式"}
    seen = (await modelled.post("/v1/templates/companion_v1/preview", json=body)).json()
    await say(modelled, body["text"], session_id="s")
    sent = stub.requests[-1].body["messages"]
    assert [(message["role"], message["content"]) for message in seen["messages"]] == [
        (message["role"], message["content"]) for message in sent
    ]
    assert "slot:1" in seen["sources"]


async def test_a_preview_counts_what_every_module_takes(client):
    await created(client, "/v1/characters", {"id": "lumen", "name": "Lumen", "base_persona": PERSONA})
    soul_id = await new_soul(client, "灯", character_id="lumen")
    modules = [*PLAIN["modules"], {"name": "Off", "layer": 3, "template": "{{slots}}", "enabled": False}]
    await created(client, "/v1/templates", {"id": "plain", "name": "Plain", "modules": modules})
    seen = (await client.post("/v1/templates/plain/preview", json={"soul_id": soul_id, "text": "---How---\nhi"})).json()
    who = f"---Who---\nYou are 灯.\n{PERSONA}"
    assert who in seen["messages"][0]["content"]
    counts = {module["name"]: module for module in seen["modules"]}
    assert counts["Who"]["characters"] == len(who)
    assert 0 < counts["Who"]["tokens"] < len(who)
    assert counts["How"]["characters"] > len("---How---")
    assert (counts["Off"]["characters"], counts["Off"]["enabled"]) == (0, False)
    assert seen["characters"] == sum(message["characters"] for message in seen["messages"])
    assert [message["role"] for message in seen["messages"]] == ["system", "user"]


async def test_a_preview_shows_the_style_examples_of_the_character(client):
    example = "the user: Hello?\nLumen: Hm."
    lumen = {"id": "lumen", "name": "Lumen", "base_persona": PERSONA, "style_examples": [example]}
    await created(client, "/v1/characters", lumen)
    body = {"soul_id": await new_soul(client, "灯", character_id="lumen"), "text": "hi"}
    for template in ("companion_v1", "narrator_v1"):
        seen = (await client.post(f"/v1/templates/{template}/preview", json=body)).json()
        [module] = [module for module in seen["modules"] if module["name"] == "Style Examples"]
        section = f"---Style Examples---\nMade-up examples of how 灯 speaks:\n{example}"
        assert f"\n\n{section}\n\n" in seen["messages"][0]["content"]
        assert module["characters"] == len(section)


async def test_a_preview_leaves_no_trace(client):
    soul_id = await new_soul(client)
    before = (await client.get(f"/v1/souls/{soul_id}")).json()
    body = {"soul_id": soul_id, "text": "我恨你，滚！"}
    assert (await client.post("/v1/templates/narrator_v1/preview", json=body)).status_code == 200
    assert (await client.get(f"/v1/souls/{soul_id}")).json() == before
    assert (await client.get("/v1/sessions")).json() == []


async def test_a_preview_needs_a_template_a_listener_and_words(client):
    soul_id = await new_soul(client)
    path = "/v1/templates/companion_v1/preview"
    for body in ({"text": "hi"}, {"soul_id": soul_id}, {"soul_id": soul_id, "session_id": "s", "text": "hi"}):
        refused(await client.post(path, json=body), 422, "invalid_input")
    refused(await client.post(path, json={"soul_id": "nobody", "text": "hi"}), 404, "not_found")
    refused(await client.post(path, json={"session_id": "nowhere", "text": "hi"}), 404, "not_found")
    body = {"soul_id": soul_id, "text": "hi"}
    refused(await client.post("/v1/templates/none/preview", json=body), 404, "not_found")

"""Preview of a template that is being written: exactly what a turn would send by it, and nothing of it stays."""

import asyncio
import json

import pytest

from soulgraph.prompts.templates import VARIABLES
from soulgraph.tests.live import new_soul, say, serving

PATH = "/v1/templates/preview"
PERSONA = "Lumen keeps a lighthouse.\n\nShe counts ships, not days."
DRAFT = {
    "name": "Draft",
    "modules": [
        {"name": "Who", "layer": 2, "template": "You are {{soul_name}}.\n{{base_persona}}"},
        {"name": "How", "layer": 4, "template": "{{mode}}"},
    ],
}


def refused(response, status=422, code="invalid_input"):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()


def with_module(**module):
    return {**DRAFT, "modules": [*DRAFT["modules"], {"name": "New", **module}]}


async def preview(client, template, **fields):
    response = await client.post(PATH, json={"template": template, "text": "hi", **fields})
    assert response.status_code == 200, response.text
    return response.json()


async def test_unsaved_text_is_shown_as_it_is_then_saved_and_sent(modelled, stub):
    soul_id = await new_soul(modelled, character_id="alserqi")
    await say(modelled, "你好", soul_id=soul_id, session_id="s", background_id="wasteland_world")
    shipped = (await modelled.get("/v1/templates/companion_v1")).json()
    own = {"name": "House rules", "layer": 2, "priority": 1, "content": "Speak like the sea: in waves."}
    draft = {**shipped, "modules": [own, *shipped["modules"]]}
    seen = await preview(modelled, draft, session_id="s", text="我有证据")
    assert "---House rules---\nSpeak like the sea: in waves." in seen["messages"][0]["content"]
    saved = {"id": "mine", "name": "Mine", "voice": shipped["voice"], "modules": draft["modules"]}
    assert (await modelled.post("/v1/templates", json=saved)).status_code == 201
    body = {"session_id": "s", "text": "我有证据"}
    assert seen == (await modelled.post("/v1/templates/mine/preview", json=body)).json()
    await say(modelled, "hi", soul_id=soul_id, session_id="t", template_id="mine", character_id="alserqi")
    assert own["content"] in stub.requests[-1].body["messages"][0]["content"]


async def test_it_counts_every_module_and_shows_what_a_keystroke_changes(client):
    await client.post("/v1/characters", json={"id": "lumen", "name": "Lumen", "base_persona": PERSONA})
    soul_id = await new_soul(client, "灯", character_id="lumen")
    before = await preview(client, with_module(layer=3, content="one"), soul_id=soul_id)
    after = await preview(client, with_module(layer=3, content="one two three four"), soul_id=soul_id)
    off = await preview(client, with_module(layer=3, content="one", enabled=False), soul_id=soul_id)
    sizes = [{module["name"]: module["characters"] for module in seen["modules"]} for seen in (before, after, off)]
    assert sizes[0]["Who"] == len(f"---Who---\nYou are 灯.\n{PERSONA}")
    assert [size["New"] for size in sizes] == [len("---New---\none"), len("---New---\none two three four"), 0]
    assert after["characters"] - before["characters"] == len(" two three four")
    assert after["tokens"] > before["tokens"] > off["tokens"]


async def test_it_leaves_no_trace_in_the_session_or_among_the_templates(client):
    soul_id = await new_soul(client)
    await say(client, "hello", soul_id=soul_id, session_id="s")
    before = [(await client.get(path)).json() for path in (f"/v1/souls/{soul_id}", "/v1/sessions/s", "/v1/templates")]
    await preview(client, {**DRAFT, "id": "companion_v1"}, session_id="s", text="我恨你，滚！")
    await preview(client, DRAFT, soul_id=soul_id)
    after = [(await client.get(path)).json() for path in (f"/v1/souls/{soul_id}", "/v1/sessions/s", "/v1/templates")]
    assert after == before
    assert [session["session_id"] for session in (await client.get("/v1/sessions")).json()] == ["s"]


@pytest.mark.parametrize(
    ("module", "where", "message"),
    [
        ({"layer": 2, "template": "{{nothing}}"}, "body.template.modules.2", "there is no variable nothing"),
        ({"layer": 2, "template": "{{base_persona}"}, "body.template.modules.2", "correct the braces"),
        ({"layer": 2, "template": "{{slots}}"}, "body.template.modules.2", "slots belongs to layer 3"),
        ({"layer": 9, "content": "x"}, "body.template.modules.2.layer", "Input should be 2, 3, 4 or 5"),
        ({"layer": 2, "content": 7}, "body.template.modules.2.content", "valid string"),
        ({"layer": 2, "content": "x" * 4001}, "body.template.modules.2.content", "at most 4000 characters"),
        ({"layer": 2, "content": "x", "colour": "red"}, "body.template.modules.2.colour", "not permitted"),
        ({"layer": 2}, "body.template.modules.2", "give either content"),
    ],
)
async def test_a_mistake_names_its_module(client, module, where, message):
    body = {"template": with_module(**module), "text": "hi", "soul_id": await new_soul(client)}
    [error] = [one for one in refused(await client.post(PATH, json=body))["errors"] if one["where"] == where]
    assert message in error["message"]
    assert error["name"] == "New"


@pytest.mark.parametrize(
    "template",
    [
        None,
        "companion_v1",
        [],
        {},
        {"name": "x", "modules": {}},
        {"name": "x", "modules": [None, 3, "text"]},
        {"name": "x" * 81, "modules": DRAFT["modules"]},
        {**DRAFT, "voice": "god"},
        {**DRAFT, "modules": DRAFT["modules"] * 2},
        {**DRAFT, "modules": [{"name": f"m{n}", "content": "x"} for n in range(41)]},
        {**DRAFT, "name": "\ud800"},
        {**DRAFT, "name": "nul \x00"},
    ],
)
async def test_what_is_no_template_is_refused(client, template):
    body = {"template": template, "text": "hi", "soul_id": await new_soul(client)}
    content = json.dumps(body).encode()  # a lone surrogate can only be sent escaped
    refused(await client.post(PATH, content=content, headers={"content-type": "application/json"}))


async def test_it_needs_a_listener_that_exists_and_words(client):
    soul_id = await new_soul(client)
    for body in ({"text": "hi"}, {"soul_id": soul_id}, {"soul_id": soul_id, "session_id": "s", "text": "hi"}):
        refused(await client.post(PATH, json={"template": DRAFT, **body}))
    for body in ({"soul_id": "nobody"}, {"session_id": "nowhere"}):
        refused(await client.post(PATH, json={"template": DRAFT, "text": "hi", **body}), 404, "not_found")


async def test_many_previews_of_one_session_at_once_are_all_answered(client):
    soul_id = await new_soul(client)
    await say(client, "hello", soul_id=soul_id, session_id="s")
    drafts = [with_module(layer=3, content=f"draft number {n}") for n in range(8)]
    seen = await asyncio.gather(*(preview(client, draft, session_id="s") for draft in drafts))
    for n, one in enumerate(seen):
        assert f"draft number {n}" in one["messages"][0]["content"]


async def test_the_variables_are_those_that_a_module_may_use(client):
    listed = (await client.get("/v1/templates/variables")).json()
    assert [one["name"] for one in listed] == [*VARIABLES]
    soul_id = await new_soul(client)
    for one in listed:
        layer = one["layer"] or 2
        await preview(client, with_module(layer=layer, template=f"{{{{{one['name']}}}}}"), soul_id=soul_id)
        assert one["meaning"]
    assert {one["name"] for one in listed if one["changing"]} >= {"mood", "events", "lore"}


async def test_no_template_can_take_the_address_of_the_variables(client):
    problem = refused(await client.post("/v1/templates", json={**DRAFT, "id": "variables"}))
    assert "choose another id" in problem["detail"]
    assert (await client.put("/v1/templates/variables", json=DRAFT)).status_code == 405


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client

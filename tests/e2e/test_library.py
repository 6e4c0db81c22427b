"""The library over HTTP: characters, backgrounds and their lore."""

import asyncio
import json
from importlib.resources import files

import pytest

from soulgraph.api.backgrounds import Background
from soulgraph.api.library import Character
from soulgraph.tests.live import new_soul, say, serving

LUMEN = {
    "id": "lumen",
    "name": "Lumen 🏮",
    "description": "守灯塔的人 — keeps the lighthouse",
    "base_persona": "Lumen keeps a lighthouse.\n\nShe counts ships, not days.",
    "initial_profile": {
        "core_identity": {"archetype": "Keeper", "traits": ["Patient", "Dry"]},
        "dynamic_state": {
            "emotions": {"items": [{"content": "Calm", "priority": 5}]},
            "debts": {"items": [{"owed": "a lantern", "priority": 4}]},
        },
    },
    "greetings": ["The lamp is lit. Sit."],
    "style_examples": ["Short. Like waves."],
    "inner_state": "The sea was loud tonight.",
    "mbti_type": "istj",
    "lore": [{"id": "reef", "keys": ["reef", "暗礁"], "content": "The reef took three ships.", "priority": 70}],
    "extensions": {"avatar": {"url": "lumen.png", "sizes": [1, 2.5, None]}},
}
WORDS = {"secondary_keys": [], "use_regex": False}
HARBOUR = {"id": "harbour", "name": "Harbour", "world_rules": "No magic.", "initial_context": "Fog."}


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


def feeling(item):
    return {"initial_profile": {"dynamic_state": {"emotions": {"items": [item]}}}}


@pytest.mark.parametrize(("shelf", "kind"), [("characters", Character), ("backgrounds", Background)])
def test_what_ships_is_what_the_library_would_take(shelf, kind):
    shipped = [json.loads(file.read_text("utf-8")) for file in (files("soulgraph.library") / shelf).iterdir()]
    assert shipped
    for preset in shipped:
        assert kind.model_validate({name: value for name, value in preset.items() if name != "id"}).name


async def test_a_character_comes_back_as_it_was_made(client):
    made = await created(client, "/v1/characters", LUMEN)
    assert made == (await client.get("/v1/characters/lumen")).json()
    assert made["mbti_type"] == "ISTJ"
    assert made["lore"] == [{**LUMEN["lore"][0], **WORDS, "enabled": True, "constant": False}]
    for name in ("name", "description", "base_persona", "greetings", "style_examples", "inner_state", "extensions"):
        assert made[name] == LUMEN[name]
    assert made["initial_profile"]["dynamic_state"]["debts"]["items"][0]["owed"] == "a lantern"
    assert "lumen" in [character["id"] for character in (await client.get("/v1/characters")).json()]


async def test_an_id_is_made_if_none_is_given_and_taken_once(client):
    made = await created(client, "/v1/backgrounds", {"name": "Somewhere"})
    assert made["id"].startswith("bg_")
    await created(client, "/v1/backgrounds", HARBOUR)
    refused(await client.post("/v1/backgrounds", json=HARBOUR), 409, "already_exists")


async def test_a_soul_is_born_with_the_character_s_profile_and_all_usual_fields(client):
    await created(client, "/v1/characters", LUMEN)
    soul_id = await new_soul(client, character_id="lumen")
    profile = (await client.get(f"/v1/souls/{soul_id}/profile")).json()
    assert profile["core_identity"] == LUMEN["initial_profile"]["core_identity"]
    state = profile["dynamic_state"]
    assert state["emotions"]["items"][0]["content"] == "Calm"
    assert state["emotions"]["items"][0]["timestamp"]
    assert state["debts"]["items"][0]["owed"] == "a lantern"
    assert state["learned_patterns"] == {"items": []}
    inner = (await client.get(f"/v1/souls/{soul_id}/inner-state")).json()
    assert inner == {"soul_id": soul_id, "user_id": None, "inner_state": "The sea was loud tonight."}


async def test_a_deleted_character_lives_on_in_its_sessions(client):
    await created(client, "/v1/characters", LUMEN)
    soul_id = await new_soul(client, character_id="lumen")
    session_id = (await say(client, "hello", soul_id=soul_id))["session_id"]
    assert (await client.delete("/v1/characters/lumen")).status_code == 204
    refused(await client.get("/v1/characters/lumen"), 404, "not_found")
    refused(await client.delete("/v1/characters/lumen"), 404, "not_found")
    await say(client, "still there?", soul_id=soul_id, session_id=session_id)
    snapshot = (await client.get(f"/v1/sessions/{session_id}")).json()["character_snapshot"]
    assert snapshot["base_persona"] == LUMEN["base_persona"]


async def test_putting_replaces_the_whole_and_creates_what_is_new(client):
    made = (await client.put("/v1/backgrounds/pier", json={"name": "Pier", "world_rules": "Tides."})).json()
    assert (made["id"], made["world_rules"]) == ("pier", "Tides.")
    changed = (await client.put("/v1/backgrounds/pier", json={"name": "Old pier"})).json()
    assert (changed["name"], changed["world_rules"], changed["created_at"]) == ("Old pier", "", made["created_at"])


async def test_an_edit_of_what_has_changed_meanwhile_is_refused(client):
    made = await created(client, "/v1/characters", LUMEN)
    mine = {"name": "Mine", "revision": made["revision"]}
    assert (await client.put("/v1/characters/lumen", json={**mine, "name": "Theirs"})).status_code == 200
    refused(await client.put("/v1/characters/lumen", json=mine), 409, "changed_meanwhile")
    refused(await client.put("/v1/characters/new", json=mine), 409, "changed_meanwhile")
    assert (await client.get("/v1/characters/lumen")).json()["name"] == "Theirs"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"name": ""}, "body.name"),
        ({"name": "x" * 81}, "body.name"),
        ({"unknown": 1}, "body.unknown"),
        ({"mbti_type": "ABCD"}, "body.mbti_type"),
        ({"base_persona": "x" * 20_001}, "body.base_persona"),
        ({"inner_state": "x" * 1201}, "body.inner_state"),
        ({"greetings": ["hi"] * 251}, "body.greetings"),
        ({"greetings": [""]}, "body.greetings.0"),
        ({"description": "nul \x00 inside"}, "description: must not contain NUL"),
        ({"extensions": {"a": [{"b": "\x00"}]}}, "extensions.a.0.b: must not contain NUL"),
        ({"extensions": {"k\x00": 1}}, "extensions.key: must not contain NUL"),
        (
            {"initial_profile": {"dynamic_state": {"emotions": {"items": [{"content": "9/10", "priority": 5}]}}}},
            "words",
        ),
        ({"initial_profile": {"dynamic_state": {"emotions": {"items": [{"mood": "x", "priority": 5}]}}}}, "emotions"),
        ({"initial_profile": {"dynamic_state": {"emotions": {"items": [{"content": "x"}]}}}}, "priority"),
        ({"lore": [{"id": "a", "content": ""}]}, "body.lore.0.content"),
        ({"lore": [{"id": "a", "content": "x"}, {"id": "a", "content": "y"}]}, "body.lore"),
        ({"lore": [{"content": "x"}]}, "body.lore.0.id"),
        ({"id": "no spaces"}, "body.id"),
    ],
)
async def test_a_bad_character_is_refused_with_the_place(client, change, where):
    response = await client.post("/v1/characters", json={**LUMEN, **change})
    assert where in refused(response, 422, "invalid_input")
    refused(await client.get("/v1/characters/lumen"), 404, "not_found")


@pytest.mark.parametrize(
    "extensions", ['{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', '{"a": ' + "[" * 200 + "]" * 200 + "}"]
)
async def test_what_no_database_keeps_is_refused(client, extensions):
    body = f'{{"name": "x", "extensions": {extensions}}}'
    response = await client.post("/v1/characters", content=body, headers={"content-type": "application/json"})
    assert "extensions.a" in refused(response, 422, "invalid_input")


@pytest.mark.parametrize(("shelf", "owner"), [("characters", LUMEN), ("backgrounds", HARBOUR)])
async def test_lore_is_kept_entry_by_entry(client, shelf, owner):
    await created(client, f"/v1/{shelf}", {**owner, "lore": []})
    lore = f"/v1/{shelf}/{owner['id']}/lore"
    made = await created(client, lore, {"keys": ["tide"], "content": "It turns at six."})
    assert made["id"].startswith("lore_")
    entry = {"id": "gulls", "keys": [], "content": "Gulls steal.", "enabled": False, "priority": 10, "constant": True}
    entry |= WORDS
    assert await created(client, lore, entry) == entry
    refused(await client.post(lore, json=entry), 409, "already_exists")
    changed = await client.put(f"{lore}/gulls", json={"content": "Gulls steal bread."})
    assert changed.json() == {
        **entry,
        "content": "Gulls steal bread.",
        "enabled": True,
        "priority": 50,
        "constant": False,
    }
    assert [entry["id"] for entry in (await client.get(lore)).json()] == [made["id"], "gulls"]
    assert [entry["id"] for entry in (await client.get(f"/v1/{shelf}/{owner['id']}")).json()["lore"]] == [
        made["id"],
        "gulls",
    ]
    assert (await client.delete(f"{lore}/{made['id']}")).status_code == 204
    refused(await client.delete(f"{lore}/{made['id']}"), 404, "not_found")
    assert [entry["id"] for entry in (await client.get(lore)).json()] == ["gulls"]


async def test_bad_lore_is_refused_with_the_place(client):
    await created(client, "/v1/backgrounds", HARBOUR)
    lore = "/v1/backgrounds/harbour/lore"
    for entry, where in [
        ({"content": " "}, "body.content"),
        ({"content": "x" * 4001}, "body.content"),
        ({"content": "x", "priority": -1}, "body.priority"),
        ({"content": "x", "keys": ["k\x00"]}, "keys.0: must not contain NUL"),
        ({"content": "x", "colour": "red"}, "body.colour"),
    ]:
        assert where in refused(await client.post(lore, json=entry), 422, "invalid_input")
    assert "body.id" in refused(await client.put(f"{lore}/a", json={"id": "b", "content": "x"}), 422, "invalid_input")
    refused(await client.post("/v1/backgrounds/nowhere/lore", json={"content": "x"}), 404, "not_found")


async def test_entries_added_at_once_are_all_kept(client):
    await created(client, "/v1/backgrounds", HARBOUR)
    entries = [{"id": f"e{n}", "content": f"entry {n}"} for n in range(20)]
    await asyncio.gather(*(client.post("/v1/backgrounds/harbour/lore", json=entry) for entry in entries))
    kept = (await client.get("/v1/backgrounds/harbour/lore")).json()
    assert sorted(entry["id"] for entry in kept) == sorted(entry["id"] for entry in entries)

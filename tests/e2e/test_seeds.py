"""Definitions that were written for other programs are taken as they are, and a soul lives by them."""

import json

from soulgraph.tests.e2e.seeds import BACKGROUND, CHARACTER, TEMPLATE
from soulgraph.tests.live import new_soul, say

JSON = {"Content-Type": "application/json"}


async def post(client, path, text):
    response = await client.post(path, content=text, headers=JSON)
    assert response.status_code == 201, response.text
    return response.json()


async def test_they_are_stored_as_they_were_written(client):
    character = await post(client, "/v1/characters", CHARACTER)
    assert (character["id"], character["avatar"]) == ("alserqi_v1", "alserqi_avatar.png")
    background = await post(client, "/v1/backgrounds", BACKGROUND)
    assert (background["id"], background["world_rules"][:2]) == ("wasteland_seed", "暴力")
    template = await post(client, "/v1/templates", TEMPLATE)
    assert (template["id"], template["name"]) == ("default_v1", "default_v1")
    assert [module["layer"] for module in template["modules"]] == [2, 2, 2, 2, 5, 5]
    soul_id = await new_soul(client, "Alserqi", character_id="alserqi_v1")
    [item] = (await client.get(f"/v1/souls/{soul_id}/profile")).json()["dynamic_state"]["emotions"]["items"]
    assert item["content"] == "Neutral"
    assert item["timestamp"].startswith("20")
    await say(client, "你好", soul_id=soul_id, background_id="wasteland_seed", template_id="default_v1")


async def test_the_prompt_is_made_of_them(modelled, stub):
    for path, text in (("characters", CHARACTER), ("backgrounds", BACKGROUND), ("templates", TEMPLATE)):
        await post(modelled, f"/v1/{path}", text)
    soul_id = await new_soul(modelled, "Alserqi", character_id="alserqi_v1")
    setting = {"background_id": "wasteland_seed", "template_id": "default_v1"}
    session_id = (await say(modelled, "你这个骗子！", soul_id=soul_id, **setting))["session_id"]
    await say(modelled, "我有证据", session_id=session_id)
    system, *_, last = [message["content"] for message in stub.requests[-1].body["messages"]]
    for words in (
        "第三人称叙事者",
        "核战后的荒芜大陆",
        "Vengeful Anti-hero",
        "Neutral (priority 5)",
        "一个寻仇者",
        "混合：",
    ):
        assert words in system, words
    assert system.index("jailbreak_prevention") < system.index("World Setting") < system.index("Current State")
    assert "Recent Conversation" not in system + last
    history = [message["content"] for message in stub.requests[-1].body["messages"][1:-1]]
    assert "你这个骗子！" in history[0]


async def test_every_variable_of_theirs_is_known(modelled, stub):
    await post(modelled, "/v1/backgrounds", BACKGROUND)
    texts = {
        "world": "{{background_description}}\n{{world_rules}}",
        "state": "{{dynamic_profile_json_content}}",
        "memory": "{{rag_retrieved_events_formatted_text}}",
        "history": "{{last_N_unarchived_messages}}",
        "input": "{{user_input_text}}",
    }
    modules = [{"name": name, "priority": n, "template": text} for n, (name, text) in enumerate(texts.items())]
    await post(modelled, "/v1/templates", json.dumps({"template_id": "theirs", "modules": modules}))
    soul_id = await new_soul(modelled, "Nova", character_id="alserqi")
    answer = await say(modelled, "hello", soul_id=soul_id, background_id="wasteland_seed", template_id="theirs")
    system = stub.requests[-1].body["messages"][0]["content"]
    assert system.count("暴力是解决争端的主要手段") == 1
    assert "核战后的荒芜大陆" in system
    assert "你醒来时" in system
    assert "Rage (priority 5)" in system
    assert {"background:wasteland_seed", "profile", "character:alserqi"} <= set(answer["persona"]["sources"])


RESOURCES = {
    "characters/alserqi": {"revision"},  # what ships is stored without its empty fields
    "characters/alserqi_v1": set(),
    "backgrounds/quiet_flat": {"revision"},
    "templates/default_v1": set(),
    "souls/{soul}": {"version"},
    "souls/{soul}/profile": set(),
    "souls/{soul}/inner-state": set(),
    "souls/{soul}/scratch-area": set(),
    "souls/{soul}/slots/3": set(),
    "souls/{soul}/preferences/tone": {"source"},
    "sessions/{session}": set(),
    "sessions/{session}/persona-state": {"since"},
}


async def test_what_was_read_can_be_written_back(client):
    await post(client, "/v1/characters", CHARACTER)
    await post(client, "/v1/templates", TEMPLATE)
    soul = await new_soul(client, character_id="alserqi_v1")
    session = (await say(client, "你好", soul_id=soul))["session_id"]
    await client.put(f"/v1/souls/{soul}/slots/3", json={"content": "likes rain"})
    await client.put(f"/v1/souls/{soul}/preferences/tone", json={"value": "plain", "evidence": ["be plain"]})
    for resource, changes in RESOURCES.items():
        path = f"/v1/{resource.format(soul=soul, session=session)}"
        read = (await client.get(path)).json()
        written = await client.put(path, json=read)
        assert written.status_code == 200, (path, written.text)
        ignored = {"updated_at", *changes}
        after = (await client.get(path)).json()
        assert {k: v for k, v in after.items() if k not in ignored} == {
            k: v for k, v in read.items() if k not in ignored
        }, path


async def test_a_lore_entry_can_be_written_back_too(client):
    entry = {"id": "reef", "keys": ["reef"], "content": "The reef sings."}
    await client.post("/v1/characters/xiaoman/lore", json=entry)
    [read] = (await client.get("/v1/characters/xiaoman/lore")).json()
    assert (await client.put("/v1/characters/xiaoman/lore/reef", json=read)).json() == read


async def test_a_new_name_or_title_is_taken_from_the_whole_object(client):
    soul = (await client.get(f"/v1/souls/{await new_soul(client)}")).json()
    renamed = await client.put(f"/v1/souls/{soul['soul_id']}", json=soul | {"name": "大满"})
    assert renamed.json()["name"] == "大满"
    session = (await client.post("/v1/sessions", json={"soul_id": soul["soul_id"]})).json()
    path = f"/v1/sessions/{session['session_id']}"
    assert (await client.put(path, json=session | {"title": "Rain"})).json()["title"] == "Rain"
    assert (await client.put(path, json=session | {"colour": "red"})).status_code == 422

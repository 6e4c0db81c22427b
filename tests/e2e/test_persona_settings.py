"""`persona.yaml` while the server runs, modes over HTTP, the language of answers, wishes that only a model finds."""

import json
import re

import pytest

from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import Reply

PROPOSES = "Proposals"  # the name of the schema, whatever the language


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "persona.yaml"
    path.write_text("default_mode: hybrid\n", "utf-8")
    return path


def told(tmp_path, event):
    lines = [json.loads(line) for line in (tmp_path / "telemetry.jsonl").read_text("utf-8").splitlines()]
    return [line for line in lines if line["event"] == event]


async def preferences_of(client, soul_id):
    kept = (await client.get(f"/v1/souls/{soul_id}/preferences")).json()
    return {preference["key"]: preference["value"] for preference in kept}


async def mode_of(client, soul_id, text="嗯", **fields):
    return (await say(client, text, soul_id=soul_id, session_id="s", **fields))["persona"]["mode"]


async def test_one_switch_makes_the_persona_static_from_the_next_turn_on_and_back_again(tmp_path, config):
    async with serving(data_dir=tmp_path, persona_config=config) as client:
        soul_id = await new_soul(client)
        await say(client, "以后都叫我小林", soul_id=soul_id, session_id="s")
        assert await preferences_of(client, soul_id) == {"address": "小林"}
        config.write_text("static: true\ndefault_mode: hybrid\nwrite_back: true\n", "utf-8")
        static = await say(client, "以后都用严格模式，叫我阿梨", soul_id=soul_id, session_id="s")
        assert (static["persona"]["mode"], static["persona"]["sources"]) == ("hybrid", ["personality"])
        assert await preferences_of(client, soul_id) == {"address": "小林"}
        config.write_text("default_mode: hybrid\n", "utf-8")
        assert await mode_of(client, soul_id, "严格模式") == "strict"
        assert await preferences_of(client, soul_id) == {"address": "小林"}


async def test_an_edit_that_cannot_be_used_changes_nothing_and_is_told(tmp_path, config):
    async with serving(data_dir=tmp_path, persona_config=config) as client:
        soul_id = await new_soul(client)
        config.write_text("default_mode: strict\nmode_ttl_turns: none\n", "utf-8")
        assert await mode_of(client, soul_id) == "hybrid"
        [rejected] = told(tmp_path, "persona.config.rejected")
        assert "mode_ttl_turns" in rejected["problem"]
        config.write_text("default_mode: strict\n", "utf-8")
        fresh = await say(client, "嗯", soul_id=soul_id, session_id="another")
        assert fresh["persona"]["mode"] == "strict"


@pytest.mark.parametrize("turns", [1, 3])
async def test_a_mode_chosen_over_http_acts_in_so_many_turns_and_each_change_is_told(client, tmp_path, turns):
    soul_id = await new_soul(client)
    await say(client, "你好", soul_id=soul_id, session_id="s")
    path = "/v1/sessions/s/persona-state"
    await client.put(path, json={"mode": "strict", "ttl_turns": turns})
    modes = [await mode_of(client, soul_id) for _ in range(turns + 1)]
    assert modes == ["strict"] * turns + ["hybrid"]
    await client.put(path, json={"mode": "idol"})
    await client.delete(path)
    await client.delete(path)
    changes = [(line["mode_before"], line["mode_after"]) for line in told(tmp_path, "persona.mode.changed")]
    assert changes == [("hybrid", "strict"), ("strict", "hybrid"), ("hybrid", "idol"), ("idol", "hybrid")]


async def test_the_preferred_language_wins_over_that_of_the_message(client):
    soul_id = await new_soul(client)
    await say(client, "以后都用英文回答我", soul_id=soul_id, session_id="s")
    texts = ("今天好累", "这次用中文回答我", "我回来了")
    replies = [(await say(client, text, soul_id=soul_id, session_id="t"))["reply"] for text in texts]
    assert [re.search("[a-z]{3}", reply) is not None for reply in replies] == [True, False, True]


async def test_a_wish_that_only_the_model_finds_is_asked_about_in_the_next_turn_and_kept(modelled, stub):
    soul_id = await new_soul(modelled)
    wish = {"key": "tone", "value": "casual", "evidence": "调调我不大习惯", "correction": True}
    attentive(stub).when(PROPOSES, Reply(text=json.dumps({"wishes": [wish]})))
    await say(modelled, "你说话的调调我不大习惯", soul_id=soul_id, session_id="s")
    await settled(modelled)
    await say(modelled, "今天下雨了", soul_id=soul_id, session_id="s")
    asked = [request.body["messages"][-1]["content"] for request in stub.requests]
    assert any("随意一点" in text for text in asked)
    assert await preferences_of(modelled, soul_id) == {}
    await say(modelled, "好的", soul_id=soul_id, session_id="s")
    assert await preferences_of(modelled, soul_id) == {"tone": "casual"}

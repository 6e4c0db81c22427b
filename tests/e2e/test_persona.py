"""A persona over many turns: its mode, its guarded preferences, its files and its growth, across restarts."""

import asyncio
import json

from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import Reply

CHAT = [
    "今天路上好堵",
    "晚饭吃了面条",
    "楼下的猫生了三只小猫",
    "明天想去爬山",
    "你喜欢什么季节",
]


async def modes_of(client, soul_id, *texts, **fields):
    return [(await say(client, text, soul_id=soul_id, session_id="s", **fields))["persona"]["mode"] for text in texts]


async def preferences_of(client, soul_id):
    kept = (await client.get(f"/v1/souls/{soul_id}/preferences")).json()
    return {preference["key"]: preference["value"] for preference in kept}


async def test_twenty_turns_with_a_restart_in_between(database_url, tmp_path):
    """Mode stable, switched at once on command, back by its TTL; a wish is kept when said for good or thrice."""
    settings = {"database_url": database_url, "data_dir": tmp_path}
    config = tmp_path / "persona.yaml"
    config.write_text("mode_ttl_turns: 6\n", "utf-8")
    async with serving(**settings, persona_config=config) as client:
        soul_id = await new_soul(client)
        assert await modes_of(client, soul_id, *CHAT) == ["hybrid"] * 5
        assert await modes_of(client, soul_id, "切换到理性模式", "那我们继续聊") == ["rational", "rational"]
        await say(client, "说短一点", soul_id=soul_id, session_id="s")
        assert await preferences_of(client, soul_id) == {}
    async with serving(**settings, persona_config=config) as client:
        assert await modes_of(client, soul_id, "刚才说到哪了", "简短点", "嗯") == ["rational"] * 3
        assert await preferences_of(client, soul_id) == {}
        assert await modes_of(client, soul_id, "又下雨了", "该吃饭了") == ["hybrid", "hybrid"]
        await say(client, "再简短一点", soul_id=soul_id, session_id="s")
        assert (await preferences_of(client, soul_id)).get("reply_length") == "short"
        assert await modes_of(client, soul_id, "switch to strict mode", "用偶像模式跟我说话") == ["strict", "idol"]
        await say(client, "以后都叫我小林", soul_id=soul_id, session_id="s")
        assert (await preferences_of(client, soul_id)).get("address") == "小林"
    async with serving(**settings, persona_config=config) as client:
        kept = await preferences_of(client, soul_id)
        assert (kept["reply_length"], kept["address"]) == ("short", "小林")
        assert await modes_of(client, soul_id, "早上好", "恢复默认") == ["idol", "hybrid"]


async def test_a_correction_is_kept_only_when_it_is_confirmed(client):
    soul_id = await new_soul(client)
    asked = await say(client, "不要再叫我主人了", soul_id=soul_id, session_id="yes")
    assert "好吗" in asked["reply"]
    assert await preferences_of(client, soul_id) == {}
    await say(client, "是的", soul_id=soul_id, session_id="yes")
    assert len(await preferences_of(client, soul_id)) == 1
    other = await new_soul(client, "阿福")
    await say(client, "不要再叫我主人了", soul_id=other, session_id="no")
    await say(client, "不用，随便你", soul_id=other, session_id="no")
    assert await preferences_of(client, other) == {}


async def test_with_write_back_off_nothing_is_kept(tmp_path):
    config = tmp_path / "persona.yaml"
    config.write_text("write_back: false\ndynamic_modes: false\n", "utf-8")
    async with serving(data_dir=tmp_path, persona_config=config) as client:
        soul_id = await new_soul(client)
        assert await modes_of(client, soul_id, "切换到理性模式", "以后都叫我小林") == ["hybrid", "hybrid"]
        assert await preferences_of(client, soul_id) == {}


async def test_what_is_kept_is_in_the_next_prompt_with_its_source(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "以后都叫我小林", soul_id=soul_id, session_id="s")
    answer = await say(modelled, "你好", soul_id=soul_id, session_id="s")
    assert "preference:address" in answer["persona"]["sources"]
    assert "小林" in stub.requests[-1].body["messages"][0]["content"]


async def test_a_wish_that_is_not_kept_holds_for_its_session_alone(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "说短一点", soul_id=soul_id, session_id="s")
    await say(modelled, "今天好热", soul_id=soul_id, session_id="s")
    assert "reply_length: short" in stub.requests[-1].body["messages"][0]["content"]
    await say(modelled, "今天好热", soul_id=soul_id, session_id="another")
    assert "reply_length" not in stub.requests[-1].body["messages"][0]["content"]


async def test_what_comes_back_from_memory_is_no_wish(modelled, stub):
    """A recalled "from now on …" of long ago is not said again by being remembered."""
    soul_id = await new_soul(modelled)
    await say(modelled, "以后都叫我小林，我的猫叫豆包", soul_id=soul_id, session_id="past")
    await modelled.delete(f"/v1/souls/{soul_id}/preferences/address")
    answer = await say(modelled, "我的猫叫什么来着，豆包吗", soul_id=soul_id, session_id="now")
    assert any(source.startswith("episode:") for source in answer["persona"]["sources"])
    assert "以后都叫我小林" in stub.requests[-1].body["messages"][-1]["content"]
    assert await preferences_of(modelled, soul_id) == {}


async def test_two_souls_of_one_character_share_nothing_they_live(modelled, stub):
    one, other = [await new_soul(modelled, name, character_id="xiaoman") for name in ("大满", "小满")]
    stub.script(surprise(1))
    await say(modelled, "以后都叫我小林", soul_id=one, session_id="s1")
    profiles = [(await modelled.get(f"/v1/souls/{soul}/profile")).json()["dynamic_state"] for soul in (one, other)]
    patterns = [profile["learned_patterns"]["items"] for profile in profiles]
    assert len(patterns[0]) == len(patterns[1]) + 1
    assert await preferences_of(modelled, other) == {}


async def test_persona_files_are_read_and_read_again_when_they_change(modelled, stub, tmp_path):
    soul_id = await new_soul(modelled)
    folder = tmp_path / "souls" / soul_id
    folder.mkdir(parents=True)
    (folder / "SOUL.md").write_text("---\nname: x\n---\nYou once lived in a lighthouse.", "utf-8")
    (folder / "USER.md").write_text("The user is a night nurse.", "utf-8")
    first = await say(modelled, "你好", soul_id=soul_id, session_id="s")
    assert {"SOUL.md", "USER.md"} <= set(first["persona"]["sources"])
    assert any("lighthouse" in prompt and "night nurse" in prompt for prompt in prompts_of(stub))
    (folder / "SOUL.md").write_text("You once lived in a windmill, long ago.", "utf-8")
    assert not any("windmill" in prompt for prompt in prompts_of(stub))
    await say(modelled, "再见", soul_id=soul_id, session_id="s")
    assert any("windmill" in prompt for prompt in prompts_of(stub))


def prompts_of(stub):
    """Of turns, and of what is asked of the model after them, in whatever order they come."""
    return [request.body["messages"][0]["content"] for request in stub.requests]


def surprise(n: int) -> Reply:
    update = {
        "dynamic_state": {"learned_patterns": {"add": [{"pattern": f"lesson number {n:03d} came", "priority": 5}]}}
    }
    text = f"<narrative>Oh!</narrative><state_update_json>{json.dumps(update)}</state_update_json>"
    return Reply(text=text)


async def test_two_sessions_of_one_soul_and_many_updates_lose_no_item(stub, database_url, tmp_path):
    turns = 40
    attentive(stub).script(*(surprise(n) for n in range(turns)))
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with serving(database_url=database_url, data_dir=tmp_path, session_queue=200, **llm) as client:
        soul_id = await new_soul(client)
        said = (say(client, f"n {n}", soul_id=soul_id, session_id=f"s{n % 2}", input_id=f"i{n}") for n in range(turns))
        await asyncio.gather(*said)
        profile = (await client.get(f"/v1/souls/{soul_id}/profile")).json()
    items = profile["dynamic_state"]["learned_patterns"]["items"]
    assert {item["pattern"] for item in items} == {f"lesson number {n:03d} came" for n in range(turns)}


async def test_every_tenth_turn_keeps_the_profile_tidy(modelled, stub):
    soul_id = await new_soul(modelled)
    attentive(stub)
    for content, priority in (("Curious", 4), (" curious ", 6)):
        felt = {"dynamic_state": {"emotions": {"add": [{"content": content, "priority": priority}]}}}
        text = f"<narrative>Oh, {priority}!</narrative><state_update_json>{json.dumps(felt)}</state_update_json>"
        stub.script(Reply(text=text))
        await say(modelled, content, soul_id=soul_id, session_id="s")
    before = (await modelled.get(f"/v1/souls/{soul_id}/profile")).json()["dynamic_state"]["emotions"]["items"]
    for n in range(8):
        await say(modelled, f"turn {n}", soul_id=soul_id, session_id="s")
    await settled(modelled)
    after = (await modelled.get(f"/v1/souls/{soul_id}/profile")).json()["dynamic_state"]["emotions"]["items"]
    assert (len(before), len(after)) == (2, 1)
    assert after[0]["priority"] == 6


async def test_what_personas_decide_is_told_line_by_line(client, tmp_path):
    soul_id = await new_soul(client)
    for text in ("切换到理性模式", "说短一点", "以后都叫我小林"):
        await say(client, text, soul_id=soul_id, session_id="s")
    lines = [json.loads(line) for line in (tmp_path / "telemetry.jsonl").read_text("utf-8").splitlines()]
    told = {line["event"] for line in lines}
    assert {
        "persona.context.built",
        "persona.mode.changed",
        "persona.preference.persisted",
        "persona.preference.rejected",
        "turn.completed",
    } <= told
    assert all({"session_id", "soul_id", "turn_id"} <= line.keys() for line in lines)
    completed = next(line for line in lines if line["event"] == "turn.completed")
    assert {
        "emotion_latency_ms",
        "intent_filter_latency_ms",
        "p",
        "exec_mode",
        "skill_invocation_gate",
    } <= completed.keys()

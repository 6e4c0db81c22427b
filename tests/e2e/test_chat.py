"""A person talks to a soul over HTTP; the offline voice answers, on both databases."""

import asyncio
import json

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.stores.memory import FACT_SLOTS
from soulgraph.stores.records import Slot
from soulgraph.tests.live import hear, new_soul, say, serving, transcript


async def test_a_soul_answers_in_the_language_it_is_spoken_to(client):
    soul_id = await new_soul(client)
    chinese = await say(client, "你好，我今天很开心！", soul_id=soul_id)
    english = await say(client, "How are you?", soul_id=soul_id)
    assert any("\u4e00" <= char <= "\u9fff" for char in chinese["reply"])
    assert english["reply"].isascii() or "’" in english["reply"]
    assert chinese["voice"] == english["voice"] == "offline"
    assert chinese["user_emotion"]["emotion"] == "joy"


async def test_without_a_session_id_the_usual_conversation_goes_on(client):
    soul_id = await new_soul(client)
    first, second = await say(client, "hi", soul_id=soul_id), await say(client, "me again", soul_id=soul_id)
    other = await say(client, "hi", soul_id=soul_id, user_id="somebody-else")
    assert first["session_id"] == second["session_id"] != other["session_id"]
    assert [role for role, _ in await transcript(client, first["session_id"])] == ["user", "assistant"] * 2


async def test_the_stream_carries_the_reply_piece_by_piece_and_then_the_answer(client):
    soul_id = await new_soul(client)
    events = [event async for event in hear(client, "今天真倒霉，气死我了！", soul_id=soul_id)]
    names = [name for name, _ in events]
    assert names[0] == "emotion"
    assert names[-1] == "done"
    assert names.count("token") > 1
    done = events[-1][1]
    assert "".join(data["text"] for name, data in events if name == "token") == done["reply"]
    assert await transcript(client, done["session_id"]) == [
        ("user", "今天真倒霉，气死我了！"),
        ("assistant", done["reply"]),
    ]


async def test_what_is_said_moves_the_mood_and_reading_it_does_not(client):
    soul_id = await new_soul(client)
    before = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
    await say(client, "我恨你！你这个垃圾！滚！", soul_id=soul_id)
    after = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
    assert after["soul_emotion"]["p"] < before["soul_emotion"]["p"]
    assert after["gate"]["exec_probability"] < before["gate"]["exec_probability"]
    stored = (await client.get(f"/v1/souls/{soul_id}")).json()["version"]
    await client.get(f"/v1/souls/{soul_id}/emotion")
    assert (await client.get(f"/v1/souls/{soul_id}")).json()["version"] == stored


async def test_the_same_input_twice_is_answered_once(client):
    soul_id = await new_soul(client)
    first = await say(client, "谢谢你", soul_id=soul_id, input_id="in-1")
    mood = (await client.get(f"/v1/souls/{soul_id}")).json()["emotion_state"]
    again = await say(client, "谢谢你", soul_id=soul_id, input_id="in-1")
    streamed = [event async for event in hear(client, "谢谢你", soul_id=soul_id, input_id="in-1")]
    assert again == first == streamed[-1][1]
    assert len(await transcript(client, first["session_id"])) == 2
    assert (await client.get(f"/v1/souls/{soul_id}")).json()["emotion_state"] == mood


async def test_the_same_input_sent_twice_at_once_is_answered_once(client):
    soul_id = await new_soul(client)
    answers = await asyncio.gather(*(say(client, "hello", soul_id=soul_id, input_id="x") for _ in range(6)))
    assert all(answer == answers[0] for answer in answers)
    assert len(await transcript(client, answers[0]["session_id"])) == 2


async def test_inputs_as_a_terminal_reports_them(client):
    soul_id = await new_soul(client)
    inputs = [
        {"input_id": "a", "type": "speech_text", "source": "mic", "ts": 1.5, "text": "你好"},
        {"input_id": "b", "type": "keyboard_text", "text": "在吗"},
    ]
    answer = await client.post("/v1/chat", json={"inputs": inputs, "soul_id": soul_id})
    again = await client.post("/v1/chat", json={"inputs": inputs, "soul_id": soul_id})
    assert answer.json() == again.json()
    assert (await transcript(client, answer.json()["session_id"]))[0] == ("user", "你好\n在吗")


async def test_a_terminal_needs_a_soul_before_it_can_chat(client):
    refused = await client.post("/v1/chat", json={"text": "hi", "terminal_id": "robot-1"})
    assert (refused.status_code, refused.json()["code"]) == (409, "soul_not_selected")
    assert refused.headers["content-type"] == "application/problem+json"
    soul_id = await new_soul(client)
    await client.post("/v1/souls/select", json={"terminal_id": "robot-1", "soul_id": soul_id})
    assert (await say(client, "hi", terminal_id="robot-1"))["soul_id"] == soul_id


LIGHTS = [
    {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯", "turn on the light"]}},
    {"id": "light_off", "name": "关灯", "match": {"keywords_any": ["关灯", "turn off the light"]}},
]


async def test_a_matched_intent_is_acted_on_without_asking_a_model(client):
    soul_id = await new_soul(client)
    await client.post("/v1/souls/select", json={"terminal_id": "t", "soul_id": soul_id})
    catalog = {"catalog_version": 1, "intent_catalog": LIGHTS}
    assert (await client.put("/v1/terminals/t/intent-catalog", json=catalog)).status_code == 200
    events = [event async for event in hear(client, "帮我开灯", terminal_id="t")]
    done = events[-1][1]
    assert done["executed_skills"] == ["light_on"]
    assert done["intent_decision"]["action"] == "execute_intents"
    assert ("intent_action", "light_on") in [
        (name, data["intents"][0]["intent_id"]) for name, data in events if name == "intent_action"
    ]
    assert "开灯" in done["reply"]
    assert (await transcript(client, done["session_id"]))[-1] == ("assistant", done["reply"])


async def test_an_intent_that_lacks_a_slot_is_asked_about(client):
    soul_id = await new_soul(client)
    await client.post("/v1/souls/select", json={"terminal_id": "t", "soul_id": soul_id})
    timer = {
        "id": "timer",
        "name": "定时",
        "match": {"keywords_any": ["定时", "timer"]},
        "slots": [{"name": "minutes", "required": True, "regex": r"(\d+)\s*(?:分钟|minutes)"}],
    }
    await client.put("/v1/terminals/t/intent-catalog", json={"catalog_version": 1, "intent_catalog": [timer]})
    asked = await say(client, "帮我定时", terminal_id="t")
    assert asked["intents"][0]["status"] == "need_clarification"
    assert asked["reply"] == asked["intents"][0]["question"]
    assert asked["executed_skills"] == []
    done = await say(client, "定时 10 分钟", terminal_id="t")
    assert done["executed_skills"] == ["timer"]
    assert done["intents"][0]["parameters"] == {"minutes": "10"}


async def test_the_answer_to_its_question_is_carried_out_once_and_only_in_the_next_turn(client):
    soul_id = await new_soul(client)
    await client.post("/v1/souls/select", json={"terminal_id": "t", "soul_id": soul_id})
    degrees = {"name": "degrees", "type": "number", "required": True, "question": "调到几度？"}
    ac = {"id": "ac_set", "name": "调温度", "match": {"keywords_any": ["调温度"]}, "slots": [degrees]}
    await client.put("/v1/terminals/t/intent-catalog", json={"catalog_version": 1, "intent_catalog": [ac]})
    assert (await say(client, "帮我调温度", terminal_id="t"))["reply"] == "调到几度？"
    done = await say(client, "二十六度吧", terminal_id="t", input_id="answer")
    assert (done["executed_skills"], done["intents"][0]["parameters"]) == (["ac_set"], {"degrees": 26})
    assert await say(client, "二十六度吧", terminal_id="t", input_id="answer") == done
    assert (await say(client, "二十八度", terminal_id="t"))["executed_skills"] == []


async def test_a_hurt_soul_refuses_to_act_and_says_so(client):
    soul_id = await new_soul(client, mbti_type="INFP")
    await client.post("/v1/souls/select", json={"terminal_id": "t", "soul_id": soul_id})
    await client.put("/v1/terminals/t/intent-catalog", json={"catalog_version": 1, "intent_catalog": LIGHTS})
    for _ in range(4):
        await say(client, "你这个垃圾！滚！我恨你！气死我了！！", terminal_id="t")
    refused = await say(client, "开灯", terminal_id="t")
    assert refused["exec_mode"] == "blocked"
    assert refused["executed_skills"] == []
    assert [intent["intent_id"] for intent in refused["intents"]] == ["light_on"]


async def test_export_and_import_are_each_others_inverse(client):
    soul_id = await new_soul(client, character_id="xiaoman")
    text = "你好\n“引号” <b> 🙂 \u2028 \u2029 \x85 line ends of Unicode, which JSON leaves as they are"
    session_id = (await say(client, text, soul_id=soul_id, background_id="quiet_flat"))["session_id"]
    exported = (await client.get(f"/v1/sessions/{session_id}/export")).text
    metadata, *messages = map(json.loads, exported.removesuffix("\n").split("\n"))
    assert messages[0]["content"] == text
    assert metadata["type"] == "metadata"
    assert metadata["character_id"] == "xiaoman"
    assert [set(message) for message in messages] == [{"role", "content", "archived", "timestamp"}] * 2
    imported = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=exported.encode())
    assert imported.status_code == 201, imported.text
    assert imported.json()["messages"] == len(messages)
    copy = (await client.get(f"/v1/sessions/{imported.json()['session_id']}/export")).text
    assert copy == exported


@pytest.mark.parametrize(
    ("line", "number"),
    [("not json", 3), ('{"role": "wizard", "content": "x", "timestamp": "2025-01-01T00:00:00Z"}', 3), ("{}", 3)],
)
async def test_an_import_with_a_bad_line_names_it_and_stores_nothing(client, line, number):
    soul_id = await new_soul(client)
    good = '{"role": "user", "content": "x", "timestamp": "2025-01-01T00:00:00Z"}'
    body = "\n".join(['{"type": "metadata", "title": "t"}', good, line])
    refused = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=body.encode())
    assert refused.status_code == 422
    assert refused.json()["line"] == number
    assert (await client.get("/v1/sessions")).json() == []


async def test_a_mode_chosen_in_words_shows_in_the_session_and_can_be_reset(client):
    soul_id = await new_soul(client)
    answer = await say(client, "请用理性模式", soul_id=soul_id)
    assert answer["persona"]["mode"] == "rational"
    path = f"/v1/sessions/{answer['session_id']}/persona-state"
    assert (await client.get(path)).json()["mode_source"] == "user"
    assert (await client.put(path, json={"mode": "strict", "ttl_turns": 2})).json()["mode"] == "strict"
    assert (await say(client, "嗯", soul_id=soul_id))["persona"]["mode"] == "strict"
    assert (await client.delete(path)).json()["mode"] == "hybrid"
    assert (await say(client, "嗯", soul_id=soul_id))["persona"]["mode"] == "hybrid"


async def test_what_the_soul_is_asked_to_remember_it_recalls_in_another_conversation(client):
    soul_id = await new_soul(client)
    told = [event async for event in hear(client, "Remember that my daughter is called Mika", soul_id=soul_id)]
    assert ("tool", "remember") in [(name, data.get("name")) for name, data in told]
    asked = await say(client, "Do you remember what my daughter is called?", soul_id=soul_id, session_id="elsewhere")
    assert "Mika" in asked["reply"]
    assert "slot:0" in asked["persona"]["sources"]


async def test_deleting_a_soul_deletes_its_conversations(client):
    soul_id = await new_soul(client)
    session_id = (await say(client, "hi", soul_id=soul_id))["session_id"]
    assert (await client.delete(f"/v1/souls/{soul_id}")).status_code == 204
    assert (await client.get(f"/v1/sessions/{session_id}")).status_code == 404
    assert (await client.get(f"/v1/souls/{soul_id}")).json()["code"] == "not_found"


async def test_deleting_a_session_forgets_its_inputs_too(client):
    soul_id = await new_soul(client)
    first = await say(client, "hi", soul_id=soul_id, input_id="i")
    assert (await client.delete(f"/v1/sessions/{first['session_id']}")).status_code == 204
    second = await say(client, "hi", soul_id=soul_id, input_id="i")
    assert second["turn_id"] != first["turn_id"]
    assert len(await transcript(client, first["session_id"])) == 2


async def test_fifty_parallel_turns_of_one_session_are_stored_in_pairs(client):
    soul_id = await new_soul(client)
    answers = await asyncio.gather(*(say(client, f"message {n}", soul_id=soul_id, input_id=f"i{n}") for n in range(50)))
    stored = await transcript(client, answers[0]["session_id"])
    assert [role for role, _ in stored] == ["user", "assistant"] * 50
    assert sorted(text for role, text in stored if role == "user") == sorted(f"message {n}" for n in range(50))
    assert (await client.get(f"/v1/sessions/{answers[0]['session_id']}")).json()["turn"] == 50


async def test_a_soul_whose_memory_is_full_says_that_it_kept_nothing(database_url, tmp_path):
    settings = {"database_url": database_url, "data_dir": tmp_path}
    async with serving(**settings) as client:
        soul_id = await new_soul(client)
        async with open_stores(Settings.load(**settings)) as stores, stores.write() as tx:
            for n in FACT_SLOTS[1:]:
                await tx.slots.put(Slot(soul_id, "default", n, f"fact {n}", 1.0))
        kept = await say(client, "Remember that my cat is called Tofu", soul_id=soul_id)
        refused = await say(client, "Remember that my dog is called Rex", soul_id=soul_id)
        async with open_stores(Settings.load(**settings)) as stores, stores.read() as tx:
            facts = [slot.content for slot in await tx.slots.all(soul_id)]
    assert any("Tofu" in fact for fact in facts)
    assert not any("Rex" in fact for fact in facts)
    assert len(facts) == len(FACT_SLOTS)
    assert kept["reply"] != refused["reply"]

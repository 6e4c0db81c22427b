"""The senses over HTTP: alone, in a turn, and in the hands of a model or a service."""

import asyncio

import pytest
import uvicorn
from fastapi import FastAPI

from soulgraph.errors import ConfigurationError
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.soul.emotions import EMOTIONS
from soulgraph.tests.live import free_port, new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI

STORY = {"id": "story", "name": "讲故事", "match": {"examples": ["给我讲个故事", "说个故事听听", "tell me a story"]}}
ALARM = {
    "id": "alarm",
    "name": "闹钟",
    "match": {"keywords_any": ["闹钟", "叫我起床"]},
    "slots": [{"name": "time", "type": "time", "required": True}],
}


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


async def filtered(client, text, *catalog, **options):
    body = {"text": text, "intent_catalog": catalog or [STORY, ALARM], "options": options}
    return await client.post("/v1/intents/filter", json=body)


async def test_a_text_is_analysed_without_a_soul(client):
    felt = (await client.post("/v1/emotion/analyze", json={"text": "我今天真的太开心了！"})).json()
    assert set(felt) == {"emotion", "p", "a", "d", "intensity", "confidence", "appraisal", "latency_ms"}
    assert felt["emotion"] in EMOTIONS
    assert felt["p"] > 0.2
    assert 0 < felt["intensity"] <= 1
    assert (await client.get("/v1/souls")).json() == []


async def test_the_analysis_says_what_the_words_are_to_the_soul_and_why(client):
    async def appraised(text):
        return (await client.post("/v1/emotion/analyze", json={"text": text})).json()["appraisal"]

    attack, amends, grief = [
        await appraised(text) for text in ("你真是个没用的饭桶", "刚才是我不好，对不起", "我外公昨晚走了")
    ]
    assert attack["hostility"] >= 0.7
    assert "insult: 饭桶" in attack["reasons"]
    assert amends["repair"] >= 0.7
    assert "apology: 对不起" in amends["reasons"]
    assert max(grief["hostility"], grief["repair"]) < 0.3


@pytest.mark.parametrize("text", ["", "   ", "字" * 8001, None, 5, "\u0000"])
async def test_a_text_that_cannot_be_analysed_is_refused(client, text):
    refused = await client.post("/v1/emotion/analyze", json={"text": text})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


async def test_a_catalog_is_filtered_without_a_terminal(client):
    result = (await filtered(client, "能不能讲一个故事听听呀")).json()
    assert result["decision"] == {"action": "execute_intents", "reason": "matched: story"}
    assert [match["intent_id"] for match in result["intents"]] == ["story"]
    assert result["intents"][0]["why"].startswith("like “")


async def test_times_are_resolved_against_the_users_clock(client):
    result = (await filtered(client, "明早七点叫我起床", now="2026-11-16T15:30:00+08:00")).json()
    assert result["intents"][0]["parameters"] == {"time": "2026-11-17T07:00:00"}


async def test_what_is_missing_is_asked_for(client):
    [match] = (await filtered(client, "定个闹钟")).json()["intents"]
    assert match["status"] == "need_clarification"
    assert match["question"]


async def test_nothing_said_and_nothing_offered_need_no_action(client):
    assert (await filtered(client, " ")).json()["decision"]["action"] == "no_action"
    nothing = await client.post("/v1/intents/filter", json={"text": "开灯", "intent_catalog": []})
    assert nothing.json()["decision"]["action"] == "no_action"


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 5},
        {"intent_catalog": [STORY, STORY]},
        {"intent_catalog": [{"id": "x"}]},
        {"intent_catalog": [{**STORY, "match": {"regex_any": ["("]}}]},
        {"options": {"now": "tomorrow"}},
        {"options": {"mood": "good"}},
    ],
)
async def test_a_wrong_filter_request_is_refused_and_located(client, wrong):
    body = {"text": "开灯", "intent_catalog": [STORY]} | wrong
    refused = await client.post("/v1/intents/filter", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert refused.json()["errors"]


async def test_an_evil_pattern_does_not_hold_up_anyone(client):
    evil = {"id": "evil", "name": "evil", "match": {"regex_any": ["(a+)+$", "(a|a)*b", "(.*a){12}$"]}}
    slow = asyncio.create_task(filtered(client, "a" * 100 + "!", evil))
    assert (await client.get("/healthz")).status_code == 200
    assert (await slow).json()["intents"] == []


async def test_a_turn_finds_an_intent_by_its_examples(client):
    soul_id = await new_soul(client)
    await client.put("/v1/terminals/desk/intent-catalog", json={"catalog_version": 1, "intent_catalog": [STORY]})
    await client.post("/v1/souls/select", json={"terminal_id": "desk", "soul_id": soul_id})
    answer = await say(client, "能不能讲一个故事听听呀", terminal_id="desk")
    assert answer["executed_skills"] == ["story"]


async def test_fifty_texts_at_once_are_all_heard(client):
    texts = [f"今天是第{n}天，我很开心" for n in range(50)]
    posted = await asyncio.gather(*(client.post("/v1/emotion/analyze", json={"text": text}) for text in texts))
    assert all(response.json()["p"] > 0 for response in posted)


async def test_the_model_hears_the_feeling_when_it_is_told_to(tmp_path):
    heard = '{"emotion": "relief", "p": 0.4, "a": -0.1, "d": 0.2, "intensity": 0.8, "confidence": 0.9}'
    async with StubOpenAI() as stub:
        stub.script(Reply(text=heard), Reply(text=SOUL_TURN))
        llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "emotion": "llm"}
        async with serving(data_dir=tmp_path, **llm) as client:
            answer = await say(client, "终于考完了", soul_id=await new_soul(client))
    assert answer["user_emotion"]["emotion"] == "relief"
    assert answer["reply"] == "I hear you."


async def test_a_model_that_cannot_tell_the_feeling_leaves_the_soul_unmoved(tmp_path):
    async with StubOpenAI() as stub:
        stub.script(Reply(text="no idea"), Reply(text="still no idea"), Reply(text=SOUL_TURN))
        llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "emotion": "llm"}
        async with serving(data_dir=tmp_path, **llm) as client:
            answer = await say(client, "终于考完了", soul_id=await new_soul(client))
    assert (answer["user_emotion"]["emotion"], answer["user_emotion"]["intensity"]) == ("neutral", 0)


async def test_the_model_decides_only_what_is_unclear(tmp_path):
    async with StubOpenAI(Reply(text='{"intents": []}')) as stub:
        llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "intents": "llm"}
        async with serving(data_dir=tmp_path, **llm) as client:
            for text in ("给我讲个故事", "股票又跌了", "定个闹钟"):
                await filtered(client, text)
            assert len(stub.requests) == 0
            decided = [
                (await filtered(client, text)).json()["intents"] for text in ("讲点什么好玩的吧", "说点什么给我听")
            ]
    assert len(stub.requests) > 0
    assert decided == [[], []]


async def test_an_emotion_service_hears_the_feeling_when_one_is_named(tmp_path):
    service = FastAPI()

    @service.post("/feel")
    async def feel(body: dict[str, str]):
        return {"emotion": "fear", "p": -0.5, "a": 0.6, "d": -0.4, "intensity": 0.7, "heard": body["text"]}

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(service, port=port, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{port}/feel"
    async with serving(data_dir=tmp_path, emotion="http", emotion_url=url) as client:
        felt = (await client.post("/v1/emotion/analyze", json={"text": "门外有人"})).json()
        server.should_exit = True
        await running
        away = await client.post("/v1/emotion/analyze", json={"text": "还在吗"})
    assert (felt["emotion"], felt["confidence"]) == ("fear", None)
    assert (away.status_code, away.json()["code"]) == (503, "sense_unavailable")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"emotion": "llm"}, "SOULGRAPH_EMOTION"),
        ({"intents": "llm"}, "SOULGRAPH_INTENTS"),
        ({"emotion": "http"}, "SOULGRAPH_EMOTION_URL"),
        ({"emotion_url": "http://127.0.0.1:1"}, "SOULGRAPH_EMOTION_URL"),
        ({"timezone": "Mars/Olympus"}, "SOULGRAPH_TIMEZONE"),
        ({"embeddings_base_url": "http://127.0.0.1:1/v1", "embeddings_model": "m"}, "SOULGRAPH_EMBEDDINGS_BASE_URL"),
    ],
)
async def test_senses_that_cannot_be_opened_stop_the_start_by_name(tmp_path, settings, named):
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        async with open_services(Settings.load(data_dir=tmp_path, **settings)):
            pass

"""Bad input gets a clear problem; keys and limits hold."""

import asyncio

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.ports import open_stores
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply


def problem(response):
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "   "},
        {"text": 5},
        {"text": None},
        {"text": "x" * 8001},
        {"text": "nul \x00 inside"},
        {"text": "hi", "inputs": [{"text": "hi"}]},
        {"inputs": []},
        {"inputs": [{"text": "hi", "type": "telepathy"}]},
        {"inputs": [{"text": "x" * 5000}, {"text": "y" * 5000}]},
        {"text": "hi", "session_id": "has spaces"},
        {"text": "hi", "session_id": "x" * 200},
        {"text": "hi", "stream": "perhaps"},
        {"text": "hi", "unknown": 1},
        ["not", "an", "object"],
    ],
)
async def test_a_bad_chat_request_is_refused_with_its_reason(client, body):
    response = await client.post("/v1/chat", json=body)
    assert problem(response) == (422, "invalid_input")
    assert response.json()["detail"]


async def test_bytes_that_are_no_json_are_refused(client):
    for content in (b"{", b"\xff\xfe", b'{"text": "\\ud800", "soul_id": "x"}'):
        response = await client.post("/v1/chat", content=content, headers={"content-type": "application/json"})
        assert problem(response) == (422, "invalid_input")


async def test_a_body_over_the_limit_is_refused_unread(client):
    announced = await client.post("/v1/chat", json={"text": "x" * 1_100_000})
    assert problem(announced) == (413, "body_too_large")

    async def chunks():
        for _ in range(20):
            yield b" " * 100_000

    streamed = await client.post("/v1/chat", content=chunks(), headers={"content-type": "application/json"})
    assert problem(streamed) == (413, "body_too_large")


async def test_unicode_survives_the_round_trip(client):
    soul_id = await new_soul(client, name="𝕊𝕠𝕦𝕝 👩‍👩‍👧 é")
    text = "‮right-to-left‬ 👩‍👩‍👧 \u0000".replace("\u0000", "") + "e\u0301 漢字 \u2028 end"
    session_id = (await say(client, text, soul_id=soul_id))["session_id"]
    messages = (await client.get(f"/v1/sessions/{session_id}/messages")).json()
    assert messages[0]["content"] == text.strip()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "x", "mbti_type": "ABCD"}, 422),
        ({"name": "x"}, 422),
        ({"name": "", "mbti_type": "INFJ"}, 422),
        ({"name": "x" * 81, "mbti_type": "INFJ"}, 422),
        ({"name": "x", "mbti_type": "INFJ", "character_id": "nobody"}, 404),
    ],
)
async def test_a_bad_soul_is_refused(client, body, code):
    assert (await client.post("/v1/souls", json=body)).status_code == code
    assert (await client.get("/v1/souls")).json() == []


async def test_a_name_is_taken_once_per_user(client):
    await new_soul(client, "Mo")
    again = await client.post("/v1/souls", json={"name": "Mo", "mbti_type": "ESTJ"})
    assert problem(again) == (409, "soul_exists")
    await new_soul(client, "Mo", user_id="another")


async def test_a_session_keeps_its_soul_and_setting(client):
    soul_id, other = await new_soul(client, "A"), await new_soul(client, "B")
    await say(client, "hi", soul_id=soul_id, session_id="s")
    for fields in ({"soul_id": other}, {"soul_id": soul_id, "background_id": "wasteland_world"}):
        refused = await client.post("/v1/chat", json={"text": "hi", "session_id": "s", **fields})
        assert problem(refused) == (409, "session_mismatch")


@pytest.mark.parametrize(
    "fields", [{"soul_id": "nobody"}, {"background_id": "nowhere"}, {"template_id": "x"}, {"character_id": "x"}]
)
async def test_unknown_names_are_not_found_and_nothing_is_stored(client, fields):
    soul_id = await new_soul(client)
    response = await client.post("/v1/chat", json={"text": "hi", "soul_id": soul_id, **fields})
    assert problem(response) == (404, "not_found")
    assert (await client.get("/v1/sessions")).json() == []


async def test_unknown_paths_and_methods_are_problems_too(client):
    assert problem(await client.get("/v1/nothing")) == (404, "no_such_path")
    assert problem(await client.put("/v1/chat")) == (405, "method_not_allowed")


async def test_a_full_queue_says_when_to_come_back(stub, tmp_path):
    stub.default = Reply(text=SOUL_TURN, delay_s=0.3)
    settings = {"llm_base_url": stub.base_url, "llm_model": "m", "session_queue": 2}
    async with serving(data_dir=tmp_path, **settings) as client:
        soul_id = await new_soul(client)
        body = {"text": "hi", "soul_id": soul_id}
        responses = await asyncio.gather(*(client.post("/v1/chat", json=body) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [200, 200, 429, 429, 429]
    busy = next(response for response in responses if response.status_code == 429)
    assert busy.headers["retry-after"] == "5"
    assert busy.json()["code"] == "session_busy"


async def test_an_open_server_answers_pages_and_names_of_this_machine_alone(client):
    """A page elsewhere can send requests here, and one whose name leads to this machine can even read the answers."""
    for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}, {"host": "["}):
        refused = await client.get("/v1/souls", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        planted = await client.post("/v1/characters/import", content=b"{}", headers=headers)
        assert planted.status_code == 403
    for headers in ({"host": "localhost:8000"}, {"host": "[::1]:8000"}, {"origin": "http://127.0.0.1:3000"}):
        assert (await client.get("/v1/souls", headers=headers)).status_code == 200


async def test_keys_guard_the_server_by_scope(tmp_path):
    settings = Settings.load(data_dir=tmp_path)
    async with open_stores(settings) as stores, stores.write() as tx:
        keys = {scope: await tx.keys.create(scope, scope, 1.0) for scope in ("owner", "chat", "terminal")}
    async with serving(data_dir=tmp_path) as client:

        async def status(scope, method, path, **kw):
            headers = {"Authorization": f"Bearer {keys.get(scope, scope)}"} if scope else {}
            return (await client.request(method, path, headers=headers, **kw)).status_code

        soul = {"name": "A", "mbti_type": "INFJ"}
        assert await status(None, "GET", "/v1/souls") == 401
        assert await status("wrong", "GET", "/v1/souls") == 401
        assert await status("chat", "POST", "/v1/souls", json=soul) == 403
        assert await status("owner", "POST", "/v1/souls", json=soul) == 201
        assert await status("chat", "GET", "/v1/souls") == 200
        select = {"terminal_id": "t", "soul_id": "x"}
        assert await status("chat", "POST", "/v1/souls/select", json=select) == 403
        assert await status("terminal", "POST", "/v1/souls/select", json=select) == 404
        assert await status("chat", "GET", "/metrics") == 403
        assert await status(None, "GET", "/healthz") == 200
        page = {"host": "soul.example", "origin": "https://page.example", "authorization": f"Bearer {keys['chat']}"}
        assert (await client.get("/v1/souls", headers=page)).status_code == 200


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"host": "0.0.0.0"}, "SOULGRAPH_HOST"),
        ({"database_url": "mysql://x/y"}, "SOULGRAPH_DATABASE_URL"),
        ({"database_url": "postgresql://127.0.0.1:9/none?connect_timeout=2"}, "SOULGRAPH_DATABASE_URL"),
        ({"llm_base_url": "http://127.0.0.1:9/v1"}, "SOULGRAPH_LLM_MODEL"),
        ({"llm_model": "gpt"}, "SOULGRAPH_LLM_API_KEY"),
        ({"llm_model": "m", "llm_base_url": "ftp://x"}, "SOULGRAPH_LLM_BASE_URL"),
        ({"mqtt_url": "mqtt://127.0.0.1:9"}, "SOULGRAPH_MQTT_URL"),
        ({"chroma_url": "http://127.0.0.1:8001"}, "SOULGRAPH_CHROMA_URL"),
        ({"embeddings_model": "text-embedding-3-small"}, "SOULGRAPH_EMBEDDINGS_API_KEY"),
        ({"data_dir": "/dev/null/x"}, "SOULGRAPH_DATA_DIR"),
        ({"persona_config": "/nowhere.yaml"}, "SOULGRAPH_PERSONA_CONFIG"),
    ],
)
async def test_a_setting_that_cannot_be_used_stops_the_start_and_is_named(tmp_path, settings, name):
    with pytest.raises(ConfigurationError, match=name):
        async with open_services(Settings.load(**{"data_dir": tmp_path, **settings})):
            pass


async def test_operations(client):
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).json()["voice"] == "offline"
    await say(client, "hi", soul_id=await new_soul(client))
    assert 'soulgraph_turns_total{outcome="ok"} 1.0' in (await client.get("/metrics")).text

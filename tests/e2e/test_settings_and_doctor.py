"""The settings in force and the doctor over HTTP: complete, without secrets, and the same findings as the command."""

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import PREFIX, Settings
from soulgraph.tests.live import serving
from soulgraph.tests.stores.samples import soul

SECRET = "hush-hush"


def findings(response):
    assert response.status_code == 200, response.text
    return {finding["subject"]: (finding["level"], finding["detail"]) for finding in response.json()}


async def test_every_setting_is_listed_with_its_source_and_without_its_secrets(tmp_path, stub, monkeypatch):
    monkeypatch.setenv("SOULGRAPH_TICK_S", "4")
    given = {"llm_base_url": stub.base_url.replace("://", f"://me:{SECRET}@"), "llm_model": "stub"}
    keys = {"llm_api_key": SECRET, "embeddings_api_key": "", "api_key": SECRET}
    async with serving(data_dir=tmp_path, **given, **keys) as client:
        response = await client.get("/v1/settings")
    listed = {setting["name"]: setting for setting in response.json()}
    assert list(listed) == [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    assert SECRET not in response.text
    assert listed["SOULGRAPH_LLM_API_KEY"]["value"] == "********"
    assert listed["SOULGRAPH_EMBEDDINGS_API_KEY"]["value"] == ""
    assert listed["SOULGRAPH_LLM_BASE_URL"]["value"].startswith("http://***@")
    assert (listed["SOULGRAPH_TICK_S"]["value"], listed["SOULGRAPH_TICK_S"]["source"]) == ("4.0", "set")
    assert listed["SOULGRAPH_SESSION_QUEUE"] == {
        "name": "SOULGRAPH_SESSION_QUEUE",
        "value": "64",
        "source": "default",
        "description": Settings.model_fields["session_queue"].description,
    }


async def test_a_healthy_server_has_no_problems(client):
    found = findings(await client.get("/v1/doctor"))
    assert {subject: level for subject, (level, _) in found.items() if level != "ok"} == {"voice": "warning"}
    assert "schema up to date" in found["database"][1]
    assert "the server is open" in found["API keys"][1]
    assert "none is dead" in found["jobs"][1]
    assert "is writable" in found["data directory"][1]


@pytest.mark.parametrize(
    ("model", "level", "detail"),
    [
        ("stub-model", "ok", "stub-model is offered"),
        ("another", "problem", "has no model 'another'; SOULGRAPH_LLM_MODEL could be: stub-model"),
    ],
)
async def test_the_model_is_looked_for_and_not_talked_to(tmp_path, stub, model, level, detail):
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model=model) as client:
        found = findings(await client.get("/v1/doctor"))["voice"]
    assert (found[0], len(stub.requests)) == (level, 0)
    assert detail in found[1]


async def test_what_cannot_be_reached_is_named_with_its_setting(tmp_path):
    async with serving(data_dir=tmp_path, otlp_endpoint=f"http://me:{SECRET}@127.0.0.1:1/v1/traces") as client:
        response = await client.get("/v1/doctor")
        assert SECRET not in response.text
        level, detail = findings(response)["traces"]
    assert (level, "check SOULGRAPH_OTLP_ENDPOINT" in detail) == ("problem", True)


async def test_a_variable_that_is_misspelt_is_named(client, monkeypatch):
    monkeypatch.setenv("SOULGRAPH_LLM_MODLE", "m")
    monkeypatch.delenv("SOULGRAPH_TEST_SERVICES", raising=False)
    listed = (await client.get("/v1/doctor")).json()
    [warning] = [one["detail"] for one in listed if one["subject"] == "settings" and one["level"] == "warning"]
    assert "SOULGRAPH_LLM_MODLE: no such setting" in warning


async def test_dead_jobs_are_told(tmp_path):
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
        await tx.souls.add(soul())
        await tx.outbox.add("reflect", "soul_1", "sess_1", "turn_1", {}, 0.0)
        await tx.outbox.mark_dead(await tx.outbox.claim(1.0, 2.0), "the model was silent")
    async with serving(data_dir=tmp_path) as client:
        level, detail = findings(await client.get("/v1/doctor"))["jobs"]
    assert (level, detail.startswith("1 are dead")) == ("warning", True)


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client

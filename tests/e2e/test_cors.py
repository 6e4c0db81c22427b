"""Pages in browsers: which of them may speak to the server, and read what it answers."""

from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from soulgraph.api.origins import Origins
from soulgraph.errors import ConfigurationError
from soulgraph.runtime.ports import open_stores
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, serving

CASES = Path(__file__).parent / "cases"
LOCAL = "http://localhost:5173"
LISTED = "https://app.example.com"


def cases(name):
    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))


PAGES = [case for part in ("open", "held", "fourth") for case in cases(f"cors_{part}")]


@asynccontextmanager
async def a_server(tmp_path, keyed, **settings):
    """And the secret of a key, empty if there is none."""
    secret = ""
    if keyed:
        async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
            secret = await tx.keys.create("owner", "owner", 1.0)
    async with serving(data_dir=tmp_path, **settings) as client:
        yield client, secret


def values(answer, name):
    return {value.strip().lower() for value in answer.headers.get(name, "").split(",")}


async def flaws_of(case, tmp_path):
    keyed = case["server"] == "keyed"
    async with a_server(tmp_path, keyed, cors_origins=case.get("origins", "")) as (client, secret):
        headers = dict(case["headers"]) | ({"Authorization": f"Bearer {secret}"} if case.get("key") else {})
        answer = await client.request(case["method"], case["path"], headers=headers, content=case.get("body"))
    flaws = [] if answer.status_code == case.get("status", answer.status_code) else [f"is {answer.status_code}"]
    flaws += [
        f"{name}: {answer.headers.get(name)}"
        for name, value in case.get("has", {}).items()
        if answer.headers.get(name) != value
    ]
    flaws += [
        f"{name}: {answer.headers.get(name)}"
        for name, some in case.get("has_any", {}).items()
        if answer.headers.get(name) not in some
    ]
    flaws += [
        f"{name}: {answer.headers.get(name)}"
        for name, wanted in case.get("lists", {}).items()
        if not {one.lower() for one in wanted} <= values(answer, name)
    ]
    return flaws + [f"has {name}" for name in case.get("lacks", ()) if name in answer.headers]


@pytest.mark.parametrize("case", PAGES, ids=lambda case: case["name"])
async def test_pages_are_answered_as_the_cases_say(case, tmp_path):
    assert await flaws_of(case, tmp_path) == []


async def preflight(client, origin, path="/v1/models"):
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    return await client.options(path, headers=headers)


async def test_a_list_takes_effect_with_the_first_key_and_not_before(tmp_path, caplog):
    async with serving(data_dir=tmp_path, cors_origins=LISTED) as client:
        assert "takes effect with the first API key" in caplog.text
        refused = await preflight(client, LISTED)
        assert (refused.status_code, "SOULGRAPH_CORS_ORIGINS" in refused.text) == (403, True)
        made = await client.post("/v1/keys", json={"name": "page", "scope": "owner"})
        assert made.status_code == 201
        assert (await preflight(client, LISTED)).headers["access-control-allow-origin"] == LISTED
        key = {"Authorization": f"Bearer {made.json()['secret']}", "Origin": LISTED}
        read = await client.get("/v1/models", headers=key)
        assert (read.status_code, read.headers["access-control-allow-origin"]) == (200, LISTED)


async def test_a_stream_tells_the_page_its_session(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        await new_soul(client, "Mo")
        body = {"model": "soul:Mo", "messages": [{"role": "user", "content": "hi"}], "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=body, headers={"Origin": LOCAL}) as answer:
            assert answer.headers["access-control-allow-origin"] == LOCAL
            assert "x-session-id" in values(answer, "access-control-expose-headers")
            assert answer.headers["x-session-id"]
            assert (await answer.aread()).endswith(b"[DONE]\n\n")


async def test_a_page_can_read_that_the_server_failed_or_is_busy(tmp_path):
    app = create_app(Settings.load(data_dir=tmp_path))

    @app.get("/broken")
    async def broken():
        raise RuntimeError("not for the page")

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        failed = await client.get("/broken", headers={"Origin": LOCAL})
    assert (failed.status_code, failed.json()["code"]) == (500, "internal_error")
    assert failed.headers["access-control-allow-origin"] == LOCAL
    assert "not for the page" not in failed.text
    async with serving(data_dir=tmp_path) as client:
        large = await client.post("/v1/chat", content=b"x" * (2 << 20), headers={"Origin": LOCAL})
    assert (large.status_code, large.headers["access-control-allow-origin"]) == (413, LOCAL)


@pytest.mark.parametrize(
    ("setting", "page", "let_in"),
    [
        ("https://*.example.com", "https://a.b.example.com", True),
        ("https://*.example.com", "https://example.com", False),
        ("https://*.example.com", "https://evilexample.com", False),
        ("http://192.168.1.5:*", "http://192.168.1.5:8080", True),
        ("http://192.168.1.5:*", "http://192.168.1.50:8080", False),
        ("chrome-extension://*", "chrome-extension://abc", True),
        ("http://[fd00::1]:3000", "http://[fd00::1]:3000", True),
        ("https://a.example;https://b.example", "https://b.example", True),
        ("null", "null", True),
        ("*", "null", True),
        ("https://a.example", "null", False),
        ("https://a.example:443", "https://a.example", True),
        ("http://a.example", "http://a.example:80", True),
    ],
)
def test_an_entry_lets_in_the_pages_that_it_names(setting, page, let_in):
    assert Origins.parse(setting).lists(page) is let_in


@pytest.mark.parametrize(
    "setting",
    ["app.example.com", "https://a.example/chat", "none, https://a.example", "https://", "https://*a.example", '["*"]'],
)
def test_what_is_no_origin_is_refused_at_the_start(setting):
    with pytest.raises(ConfigurationError, match="SOULGRAPH_CORS_ORIGINS"):
        create_app(Settings.load(cors_origins=setting))

"""Which methods a path has: `Allow` tells all of them, HEAD reads what GET reads, and a path is written one way."""

import httpx
import pytest
from pydantic import ValidationError

from soulgraph.api.backgrounds import NewBackground
from soulgraph.api.fields import WORDS
from soulgraph.api.library import NewCharacter
from soulgraph.api.lore import Entry
from soulgraph.api.soul_character import SaveAs
from soulgraph.api.templates import NewTemplate
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.tests.declared import description
from soulgraph.tests.live import new_soul, serving


@pytest.fixture
async def client():
    """Of an app that is not open: who asks for a method has not reached an endpoint."""
    transport = httpx.ASGITransport(create_app(Settings.load()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


def methods(allow):
    return {*allow.split(", ")}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/chat", {"POST"}),
        ("POST", "/v1/souls/x", {"GET", "HEAD", "PATCH", "PUT", "DELETE"}),
        ("DELETE", "/v1/souls", {"GET", "HEAD", "POST"}),
        ("POST", "/v1/souls/x/slots/1", {"GET", "HEAD", "PUT", "DELETE"}),
        ("POST", "/healthz", {"GET", "HEAD"}),
        ("POST", "/studio/", {"GET", "HEAD"}),
        ("TRACE", "/openapi.json", {"GET", "HEAD"}),
        ("POST", "/docs/assets/swagger-ui.css", {"GET", "HEAD"}),
    ],
)
async def test_a_method_that_a_path_has_not_is_refused_with_all_that_it_has(client, method, path, allowed):
    refused = await client.request(method, path)
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
    assert refused.headers["content-type"] == "application/problem+json"
    assert methods(refused.headers["allow"]) == allowed | {"OPTIONS"}
    assert all(name in refused.json()["detail"] for name in allowed)


async def test_every_path_of_the_description_allows_what_is_described_and_nothing_else(client):
    for path, operations in description()["paths"].items():
        asked = await client.options(path.replace("{", "").replace("}", ""))
        assert (asked.status_code, asked.content) == (204, b""), path
        described = {name.upper() for name in operations}
        assert methods(asked.headers["allow"]) == described | {"OPTIONS"} | (
            {"HEAD"} if "GET" in described else set()
        ), path


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/characters/import", {"POST"}),
        ("GET", "/v1/souls/select", {"POST"}),
        ("HEAD", "/v1/events/tidy", {"POST"}),
        ("DELETE", "/v1/templates/variables", {"GET", "HEAD"}),
        ("PUT", "/v1/backgrounds/sea/lore/import", {"POST"}),
    ],
)
async def test_a_word_of_the_api_is_no_id(client, method, path, allowed):
    """Else a mistaken `PUT` makes a character called `import`, and what `DELETE` deletes depends on who reads it."""
    refused = await client.request(method, path)
    assert refused.status_code == 405
    assert methods(refused.headers["allow"]) == allowed | {"OPTIONS"}


def test_nothing_new_can_have_such_a_word_as_its_id():
    places = [path.rpartition("/") for path in description()["paths"]]
    on_ids = {head for head, _, last in places if last.startswith("{")}
    words = {last for head, _, last in places if head in on_ids and not last.startswith("{")}
    assert words == WORDS
    for model in (NewCharacter, NewBackground, NewTemplate, Entry, SaveAs):
        for word in words:
            with pytest.raises(ValidationError, match="is a word of the API itself"):
                model.model_validate({"id": word})


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/souls/", "/v1/souls/x/", "/healthz/", "//healthz"])
async def test_a_path_that_there_is_not_is_not_found_by_any_method(client, method, path):
    """A slash more is another path: to be led elsewhere, perhaps with a body and a key, would be a surprise."""
    refused = await client.request(method, f"http://localhost{path}")
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/problem+json")
    if method != "HEAD":
        assert refused.json()["code"] == "no_such_path"


async def test_head_answers_as_get_does_and_without_a_body(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        soul = f"/v1/souls/{await new_soul(client)}"
        for path in ("/healthz", soul, f"{soul}/export", "/v1/souls/nobody", "/docs", "/v1/nothing"):
            told, head = await client.get(path), await client.head(path)
            assert (head.status_code, head.content) == (told.status_code, b""), path
            assert head.headers["content-type"] == told.headers["content-type"]


async def test_head_of_a_stream_without_an_end_ends(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        head = await client.head(f"/v1/souls/{await new_soul(client)}/stream")
        assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")

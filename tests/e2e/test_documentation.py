"""The page at `/docs` on a machine without internet: all of it comes from the server itself."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from soulgraph.tests.live import serving

KINDS = {"js": "javascript", "css": "text/css", "png": "image/png", "json": "application/json"}


class Addresses(HTMLParser):
    """Everything the page's tags make a browser load."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href", "srcset", "action")]


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


async def test_the_page_names_no_other_host_and_all_it_loads_is_here(client):
    page = await client.get("/docs")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert re.findall(r"//[\w.-]+", page.text) == []
    addresses = Addresses()
    addresses.feed(page.text)
    schema = re.search(r"url: '([^']+)'", page.text)[1]
    assert len(addresses.found) == 3
    for address in [*addresses.found, schema]:
        target = urljoin(str(page.url), address)
        assert urlsplit(target).netloc == urlsplit(str(page.url)).netloc
        loaded = await client.get(target)
        assert loaded.status_code == 200, address
        assert KINDS[address.rpartition(".")[2]] in loaded.headers["content-type"]
        assert loaded.content


async def test_what_the_page_loads_can_show_our_kind_of_schema(client):
    """Swagger UI shows OpenAPI 3.1 since its version 5, and only a complaint before."""
    schema = (await client.get("/openapi.json")).json()
    assert schema["openapi"].startswith("3.1.")
    program = (await client.get("/docs/assets/swagger-ui-bundle.js")).text
    assert int(re.search(r'PACKAGE_VERSION:"(\d+)\.', program)[1]) >= 5


async def test_styles_load_nothing_from_elsewhere_and_nobody_is_asked_about_the_schema(client):
    styles = (await client.get("/docs/assets/swagger-ui.css")).text
    loaded = re.findall(r"url\(\s*[\"']?(.{5})", styles)
    assert set(loaded) == {"data:"}
    assert "@import" not in styles
    assert '"validatorUrl": null' in (await client.get("/docs")).text


async def test_there_is_no_other_page_that_would_need_the_internet(client):
    assert (await client.get("/redoc")).status_code == 404
    assert (await client.get("/docs/assets/nothing.js")).json()["code"] == "no_such_path"
    assert "/docs" not in (await client.get("/openapi.json")).json()["paths"]

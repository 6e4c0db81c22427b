"""The studio's files: what is served where, under which rules for the browser, and never anything beside them."""

import gzip
import re
from urllib.parse import urljoin

import httpx
import pytest

from soulgraph.api import studio
from soulgraph.tests.live import serving

PAGE = """<!doctype html><html><head><base href="./"><meta name="csp-nonce" content="__CSP_NONCE__">
<script type="module" src="assets/main-1a2b.js"></script></head><body></body></html>"""
PROGRAM = "console.log('小满')\n" * 40


@pytest.fixture
def dist(tmp_path, monkeypatch):
    """A small build. Beside it is what must not be served."""
    folder = tmp_path / "web" / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE, "utf-8")
    (folder / "icon.svg").write_text("<svg/>")
    (folder / "assets" / "main-1a2b.js").write_text(PROGRAM, "utf-8")
    (folder / "assets" / "main-1a2b.js.gz").write_bytes(gzip.compress(PROGRAM.encode()))
    (folder / "assets" / "main-1a2b.css").write_text("body{}")
    (tmp_path / "web" / "secret.txt").write_text("secret")
    (folder / "way-out").symlink_to(tmp_path / "web" / "secret.txt")
    monkeypatch.setattr(studio, "DIST", folder)
    return folder


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path / "data") as client:
        yield client


def policy(response):
    """The rules of the Content-Security-Policy by their names."""
    rules = [rule.split() for rule in response.headers["content-security-policy"].split("; ")]
    return {name: sources for name, *sources in rules}


def nonce(response):
    [found] = [source for source in policy(response)["style-src"] if source.startswith("'nonce-")]
    return found.removeprefix("'nonce-").rstrip("'")


def base(response):
    """Where the page's relative addresses begin, as a browser reads it."""
    return urljoin(str(response.url), re.search(r'<base href="([^"]+)">', response.text)[1])


async def test_the_root_and_the_short_addresses_lead_to_the_studio_relatively(dist, client):
    wanted = {"/": "studio/", "/studio": "studio/", "/prompt-templates": "studio/prompt-templates"}
    for path, target in wanted.items():
        response = await client.get(path)
        assert (response.status_code, response.headers["location"]) == (307, target)
        assert (await client.get(urljoin(path, target))).text.startswith("<!doctype html>")
        assert urljoin(f"/soul{path}", target) == f"/soul/{target}"


@pytest.mark.parametrize(
    "path",
    ["", "index.html", "chat", "souls/soul_1", "souls/soul_1/", "a/b/c/d", "souls/a%2Fb", "chat?a=/b/c"],
)
async def test_every_page_finds_its_files_however_deep_its_address_is(dist, client, path):
    response = await client.get(f"/studio/{path}")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert base(response) == str(client.base_url.join("/studio/"))
    assert response.headers["cache-control"] == "no-store"


async def test_the_page_and_the_header_carry_a_nonce_that_is_new_each_time(dist, client):
    seen = set()
    for _ in range(3):
        response = await client.get("/studio/")
        assert f'<meta name="csp-nonce" content="{nonce(response)}">' in response.text
        assert "__CSP_NONCE__" not in response.text
        seen.add(nonce(response))
    assert len(seen) == 3
    assert all(len(value) >= 22 for value in seen)


@pytest.mark.parametrize(
    "path", ["/", "/studio/", "/studio/chat", "/studio/icon.svg", "/studio/assets/main-1a2b.js", "/studio/assets/no.js"]
)
async def test_every_answer_forbids_what_does_not_come_from_this_server(dist, client, path):
    response = await client.get(path)
    rules = policy(response)
    assert rules.pop("style-src")[0] == "'self'"
    assert rules == {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "img-src": ["'self'", "blob:", "data:"],
        "connect-src": ["'self'"],
        "font-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'self'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


async def test_files_with_a_hash_in_their_name_are_kept_for_ever_and_others_are_asked_for_again(dist, client):
    asset = await client.get("/studio/assets/main-1a2b.css")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    icon = await client.get("/studio/icon.svg")
    assert (icon.headers["cache-control"], icon.headers["content-type"]) == ("no-cache", "image/svg+xml")
    again = await client.get("/studio/icon.svg", headers={"If-None-Match": icon.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_program_comes_compressed_to_those_who_take_it(dist, client):
    asked = {"gzip": "gzip", "identity": None}
    for accepted, encoding in asked.items():
        response = await client.get("/studio/assets/main-1a2b.js", headers={"Accept-Encoding": accepted})
        assert response.text == PROGRAM
        assert response.headers.get("content-encoding") == encoding
        assert response.headers["vary"] == "Accept-Encoding, Origin"
        assert re.fullmatch(r"(text|application)/javascript(; charset=utf-8)?", response.headers["content-type"])
        assert (
            int(response.headers["content-length"])
            == (dist / "assets" / f"main-1a2b.js{'.gz' * bool(encoding)}").stat().st_size
        )


async def test_an_asset_of_an_older_build_is_not_there(dist, client):
    response = await client.get("/studio/assets/main-0000.js")
    assert (response.status_code, response.json()["code"]) == (404, "no_such_path")
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "..%2Fsecret.txt",
        "%2e%2e/secret.txt",
        "assets/../../secret.txt",
        "assets/..%2F..%2Fsecret.txt",
        "assets/%2e%2e/%2e%2e/secret.txt",
        "..%5Csecret.txt",
        "way-out",
        "%2Fetc/passwd",
        "//etc/passwd",
        "icon.svg%00.txt",
        "a" * 3000,
    ],
)
async def test_no_address_leads_out_of_the_build(dist, client, path):
    """Sent byte by byte: a client of our own would tidy the address first."""
    address = httpx.URL(client.base_url)
    target = f"/studio/{path}".encode()
    request = httpx.Request("GET", address, extensions={"target": target})
    response = await client.send(request)
    assert response.status_code in (200, 404, 422)
    assert response.status_code != 200 or response.text.startswith("<!doctype html>")
    assert "secret" not in response.text


async def test_a_studio_that_is_not_built_says_how_to_build_it(tmp_path, monkeypatch, client):
    monkeypatch.setattr(studio, "DIST", tmp_path / "nowhere")
    for path in ("/studio/", "/studio/chat", "/studio/icon.svg"):
        response = await client.get(path)
        assert (response.status_code, response.headers["content-type"]) == (503, "text/plain; charset=utf-8")
        assert "make studio" in response.text
        assert response.text.count("\n") == 1
    assert (await client.get("/", follow_redirects=True)).text == studio.NOT_BUILT
    assert (await client.get("/readyz")).status_code == 200


async def test_files_are_only_read(dist, client):
    assert (await client.head("/studio/chat")).status_code == 200
    response = await client.post("/studio/chat")
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")

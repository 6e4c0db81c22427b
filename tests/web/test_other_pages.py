"""Pages that are not the studio, in a real browser: one on this machine talks to a soul, one of a stranger cannot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, serving

PAGE = b"<!doctype html><title>somebody's page</title><p>here"
TALK = """
async ([url, key]) => {
  const headers = {"content-type": "application/json", "x-stainless-lang": "js"};
  if (key) headers.authorization = `Bearer ${key}`;
  const messages = [{role: "user", content: "今天被老板骂了，好难过"}];
  const body = JSON.stringify({model: "soul:Mo", messages, stream: true});
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, {method: "POST", headers, body});
    return {status: answer.status, session: answer.headers.get("x-session-id"), text: await answer.text()};
  } catch (error) {
    return {refused: String(error)};
  }
}
"""


@asynccontextmanager
async def a_page() -> AsyncIterator[str]:
    """The address of a page on another port of this machine."""

    connections = []  # a browser opens some in advance, and may never ask anything on them

    async def answer(reader, writer):
        connections.append(writer)
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            length = f"Content-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{length}".encode() + PAGE)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    for writer in connections:
        writer.close()


@pytest.fixture
def folder(tmp_path):
    return {"data_dir": tmp_path}


@asynccontextmanager
async def tab(browser, address):
    """A page at this address; a stranger's comes from no network.

    Browsers ask their user whether a page of the web may speak to this machine at all: ours has said yes, so that
    what keeps a page out is the server.
    """
    context = await browser.new_context(permissions=["local-network-access"])
    try:
        page = await context.new_page()
        if not address.startswith("http://127."):
            await page.route(f"{address}**", lambda route: route.fulfill(body=PAGE.decode(), content_type="text/html"))
        await page.goto(address)
        yield page
    finally:
        await context.close()


async def talk(page, client, key=""):
    return await page.evaluate(TALK, [str(client.base_url).rstrip("/"), key])


async def test_a_page_of_this_machine_reads_a_streamed_reply_and_its_session(browser, folder):
    async with serving(**folder) as client, a_page() as address, tab(browser, address) as page:
        await new_soul(client, "Mo")
        told = await talk(page, client)
    assert (told["status"], "data: [DONE]" in told["text"]) == (200, True)
    assert told["session"]


async def test_a_page_of_this_machine_is_told_what_was_wrong(browser, folder):
    async with serving(**folder) as client, a_page() as address, tab(browser, address) as page:
        told = await talk(page, client)
    assert (told["status"], '"error"' in told["text"]) == (404, True)


async def test_a_stranger_s_page_reads_nothing_from_an_open_server(browser, folder):
    async with serving(**folder) as client, tab(browser, "https://stranger.example/") as page:
        soul_id = await new_soul(client, "Mo")
        assert "refused" in await talk(page, client)
        assert (await client.get(f"/v1/souls/{soul_id}")).json()["turns"] == 0


async def test_a_stranger_s_page_is_let_in_with_a_key_if_it_is_listed(browser, folder):
    async with open_stores(Settings.load(**folder)) as stores, stores.write() as tx:
        key = await tx.keys.create("page", "owner", 1.0)
    listed = "https://stranger.example"
    async with serving(**folder, cors_origins=listed) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        await new_soul(client, "Mo")
        async with tab(browser, f"{listed}/") as page:
            told = await talk(page, client, key)
            without = await talk(page, client)
        async with tab(browser, "https://another.example/") as page:
            other = await talk(page, client, key)
    assert (told["status"], bool(told["session"])) == (200, True)
    assert (without["status"], "Authorization" in without["text"]) == (401, True)
    assert "refused" in other

"""What the studio weighs and costs: bytes of its first page, its first paint, and the server's work for open tabs.

Run with `python bench/studio.py`; it prints the tables of bench/RESULTS.md. Needs Chromium and `make studio`. The last
table is the server's CPU for each streamed token: twenty tabs of a real browser that talk in their own conversations,
against twenty readers of `POST /v1/chat` that do nothing else. Rounds of both alternate.
"""

import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from playwright.async_api import Browser, Page, async_playwright

from soulgraph.bench.turn import stub_model
from soulgraph.tests.live import ServerProcess, hear, new_soul
from soulgraph.tests.services import chromium
from soulgraph.tests.web.conftest import FLAGS

TABS, ROUNDS, LOADS = 20, 3, 7
WORDS = 600
REPLY = " ".join(f"word{n}" for n in range(WORDS))
SPOKEN = f"<narrative>{REPLY}</narrative><state_update_json>{{}}</state_update_json>"
CHUNK, CHUNK_DELAY_S = 6, 0.02
MAX_BYTES, MAX_RATIO = 300_000, 1.3
TALK = "Tell me a long story."
PATIENCE_MS = 180_000
"""Twenty pages that are drawn at once keep a small machine busy; that is not what is measured."""


def spent_s(pid: int) -> float:
    """The processor time that a process has used so far, with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        await browser.close()


async def load(browser: Browser, url: str, ready: str) -> tuple[dict[str, int], float]:
    """The bytes that a first visit transfers, by kind, and the milliseconds until something is painted."""
    context = await browser.new_context(locale="en-GB")
    page = await context.new_page()
    await page.goto(url)
    await page.get_by_role("main").get_by_text(ready).first.wait_for()
    entries = await page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".map((one) => [one.name, one.transferSize])"
    )
    paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    await context.close()
    sizes: dict[str, int] = {}
    for name, size in entries:
        kind = "API" if "/v1/" in name else name.partition("?")[0].rpartition(".")[2]
        kind = kind if kind in ("js", "css", "API", "svg") else "html"
        sizes[kind] = sizes.get(kind, 0) + size
    return sizes, paint


async def first_page(browser: Browser, url: str) -> None:
    loads = [await load(browser, f"{url}/studio/", "Mood") for _ in range(LOADS)]
    sizes = loads[0][0]
    weight = sum(size for kind, size in sizes.items() if kind != "API")
    print("| first page | measured | target | |\n|---|---|---|---|")
    print(f"| bytes, compressed ({_listed(sizes)}) | {weight:,} | {MAX_BYTES:,} | {_met(weight <= MAX_BYTES)} |")
    print(f"| first paint, cold, median of {LOADS}, ms | {statistics.median(paint for _, paint in loads):.0f} | | |\n")


def _listed(sizes: dict[str, int]) -> str:
    return ", ".join(f"{kind} {size:,}" for kind, size in sorted(sizes.items()))


def _met(met: bool) -> str:
    return "met" if met else "missed"


async def readers(url: str, soul_id: str, n: int) -> None:
    """Twenty bare readers, each in a conversation of its own."""

    async def read(reader: int) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=120) as client:
            events = [event async for event, _ in hear(client, TALK, soul_id=soul_id, session_id=f"bare-{n}-{reader}")]
        assert events[-1] == "done", events[-1]

    await asyncio.gather(*map(read, range(TABS)))


async def tabs(pages: list[Page]) -> None:
    """Twenty tabs in which somebody says the same."""

    async def talk(page: Page) -> None:
        box = page.get_by_role("textbox", name="Say something")
        await box.fill(TALK, timeout=PATIENCE_MS)
        await box.press("Enter", timeout=PATIENCE_MS)
        await page.get_by_role("log").get_by_text(f"word{WORDS - 1}").first.wait_for(timeout=PATIENCE_MS)

    await asyncio.gather(*map(talk, pages))


async def open_conversations(pages: list[Page], url: str, soul_id: str) -> None:
    """A new conversation in each tab: a soul does not say the same thing twice in one."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        for page in pages:
            session = (await client.post("/v1/sessions", json={"soul_id": soul_id})).raise_for_status().json()
            await page.goto(f"{url}/studio/chat/{session['session_id']}")
            await page.get_by_role("textbox", name="Say something").wait_for()


async def measured(pid: int, work: Callable[[], Awaitable[None]]) -> float:
    """Milliseconds of the server's CPU for each token, with what follows the turns."""
    began = spent_s(pid)
    await work()
    await asyncio.sleep(2.0)
    return (spent_s(pid) - began) * 1e3 / (TABS * len(SPOKEN) / CHUNK)


async def streaming(browser: Browser, server: ServerProcess, soul_id: str) -> None:
    pages = [await (await browser.new_context(locale="en-GB")).new_page() for _ in range(TABS)]
    spent: dict[str, list[float]] = {"readers": [], "tabs": []}
    for n in range(ROUNDS):
        await open_conversations(pages, server.url, soul_id)
        await asyncio.sleep(3.0)
        spent["readers"].append(await measured(server.pid, lambda n=n: readers(server.url, soul_id, n)))
        spent["tabs"].append(await measured(server.pid, lambda: tabs(pages)))
        latest = ", ".join(f"{who} {each[-1]:.3f} ms" for who, each in spent.items())
        print(f"  … round {n + 1} of {ROUNDS}: {latest}", file=sys.stderr, flush=True)
    bare, open_ = (statistics.median(spent[who]) for who in ("readers", "tabs"))
    ratio = open_ / bare
    print(f"| server CPU for a streamed token, {TABS} at once | ms | ratio | target | |\n|---|---|---|---|---|")
    print(f"| bare readers | {bare:.3f} | 1.00 | | |")
    print(f"| tabs of the studio | {open_:.3f} | {ratio:.2f} | {MAX_RATIO} | {_met(ratio <= MAX_RATIO)} |")


async def main() -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        stub_model(text=SPOKEN, chunk_size=CHUNK, chunk_delay_s=CHUNK_DELAY_S) as model,
    ):
        settings = {"data_dir": home, "mqtt_url": "none", "llm_base_url": model, "llm_model": "stub"}
        server = ServerProcess(**settings)
        await server.start()
        try:
            async with open_browser() as browser, httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                soul_id = await new_soul(client)
                await first_page(browser, server.url)
                await streaming(browser, server, soul_id)
        finally:
            server.stop()


if __name__ == "__main__":
    asyncio.run(main())

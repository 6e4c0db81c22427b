"""The studio in a real browser: Chromium against a server in the test's own loop, with the pages as they are built.

Whatever the browser complains of, in its console or by its Content-Security-Policy, fails the test.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from soulgraph.api.studio import DIST
from soulgraph.tests import services
from soulgraph.tests.e2e.conftest import Clock
from soulgraph.tests.live import serving
from soulgraph.tests.stub_openai import StubOpenAI
from soulgraph.tests.web.studio import Studio

# Long enough for a machine that does other things meanwhile: what comes sooner is not waited for.
TIMEOUT_MS = 30_000
expect.set_options(timeout=TIMEOUT_MS)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One loop for all of them, because one browser serves them all."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    executable = services.chromium()
    if not (DIST / "index.html").exists():
        pytest.fail("the studio is not built: run `make studio`", pytrace=False)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture(autouse=True)
def migrated(sqlite_url: str) -> None:
    """The server finds its schema in `tmp_path`."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture(loop_scope="session")
async def stub() -> AsyncIterator[StubOpenAI]:
    async with StubOpenAI() as stub:
        yield stub


Open = Callable[..., Any]


@pytest_asyncio.fixture(loop_scope="session")
async def open_studio(browser: Browser, tmp_path: Path) -> AsyncIterator[Open]:
    """`await open_studio(lang="zh", **settings)`: a server with an empty database, and the studio open in a tab."""
    async with AsyncExitStack() as stack:

        async def open_one(
            path: str = "", client: httpx.AsyncClient | None = None, key: str = "", **options: Any
        ) -> Studio:
            wanted = {name: options.pop(name) for name in _CONTEXT & options.keys()}
            client = client or await stack.enter_async_context(serving(**{"data_dir": tmp_path, **options}))
            context = await stack.enter_async_context(_context(browser, **wanted))
            studio = Studio(await context.new_page(), client, key)
            stack.push_async_callback(studio.close)
            await studio.go(path)
            return studio

        yield open_one


_CONTEXT = {"lang", "width", "height", "reduced_motion", "color_scheme"}


@asynccontextmanager
async def _context(
    browser: Browser, lang: str = "en", width: int = 1440, height: int = 1000, **options: Any
) -> AsyncIterator[BrowserContext]:
    locale = {"zh": "zh-CN", "en": "en-GB"}[lang]
    size = {"width": width, "height": height}
    context = await browser.new_context(locale=locale, viewport=size, accept_downloads=True, **options)
    context.set_default_timeout(TIMEOUT_MS)
    try:
        yield context
    finally:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_studio: Open) -> Page:
    studio: Studio = await open_studio()
    return studio.page

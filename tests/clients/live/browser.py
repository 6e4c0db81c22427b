"""A page of Chromium for the programs that people use in a browser."""

from typing import Any

from playwright.async_api import Browser, Page, Playwright, async_playwright, expect

from soulgraph.tests import services

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# Long enough for a machine that does other things meanwhile: what comes sooner is not waited for.
TIMEOUT_MS = 120_000
expect.set_options(timeout=TIMEOUT_MS)


class Tab:
    """`page` is there between `open` and `close`."""

    page: Page

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def open(self, url: str) -> Page:
        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(executable_path=services.chromium(), args=FLAGS)
        self.page = await self._browser.new_page(viewport={"width": 1280, "height": 900})
        self.page.set_default_timeout(TIMEOUT_MS)
        self.page.on("dialog", _accept)
        await self.page.goto(url)
        return self.page

    async def close(self) -> None:
        if self._browser:
            await self._browser.close()
        if self._playwright:
            await self._playwright.stop()


async def _accept(dialog: Any) -> None:
    await dialog.accept()

"""The studio as a test sees it: a tab, the server behind it, and everything the browser has complained of."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import ConsoleMessage, Page, expect

from soulgraph.tests.live import new_soul

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = ("serious", "critical")


class Studio:
    """`expected` are complaints that the test itself provokes, such as those of a server that is gone."""

    def __init__(self, page: Page, client: httpx.AsyncClient, key: str = "") -> None:
        self.page = page
        self.client = client
        self.key = key
        self.complaints: list[str] = []
        self.expected: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))

    @property
    def url(self) -> str:
        return str(self.client.base_url).rstrip("/")

    async def go(self, path: str = "") -> None:
        await self.page.goto(f"{self.url}/studio/{path}" + (f"#key={self.key}" if self.key else ""))

    async def soul(self, name: str = "小满", **fields: Any) -> str:
        """A soul that is there before the page looks."""
        return await new_soul(self.client, name, **fields)

    async def say(self, text: str) -> None:
        """Type something into the chat and send it with Enter."""
        box = self.page.get_by_role("textbox", name=re.compile("Say something.*…|说点什么…"))
        await box.fill(text)
        await box.press("Enter")
        await expect(self.page.get_by_role("log")).to_contain_text(text)

    async def serious_findings(self) -> list[str]:
        """What axe finds serious on the page as it is now."""
        if not await self.page.evaluate("'axe' in window"):  # it stays there for as long as the page does
            await self.page.evaluate(AXE.read_text("utf-8"))
        found = await self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['html'][:200]} – {node['failureSummary']}"
            for one in found["violations"]
            if one["impact"] in _SERIOUS
            for node in one["nodes"]
        ]

    async def close(self) -> None:
        await self.page.close()
        unexpected = [one for one in self.complaints if not any(re.search(known, one) for known in self.expected)]
        assert not unexpected, "\n".join(unexpected)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text} {message.location.get('url', '')}")


async def eventually_emotion(studio: Studio, soul_id: str, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """How the soul feels, as soon as that is what the test waits for."""
    for _ in range(600):
        emotion: dict[str, Any] = (await studio.client.get(f"/v1/souls/{soul_id}/emotion")).json()
        if is_it(emotion):
            return emotion
        await asyncio.sleep(0.05)
    raise TimeoutError(f"the soul never felt so: {emotion}")

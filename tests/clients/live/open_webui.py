"""Open WebUI in Chromium, with titles, tags and follow-up suggestions as it is installed."""

import asyncio
import os
import re
from contextlib import suppress
from importlib.metadata import Distribution
from typing import ClassVar

from playwright.async_api import Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from soulgraph.tests.clients.live.browser import Tab
from soulgraph.tests.clients.live.client import HOME, Client, empty, end, until_up
from soulgraph.tests.clients.live.scenarios import Action, Step
from soulgraph.tests.live import free_port

VENV = HOME / "open-webui"
QUIET_MS = 1500
SUGGESTIONS_MS = 15_000
# It downloads nothing, asks nobody for a newer version, and has one user without a password.
SETTINGS = {
    "WEBUI_AUTH": "False",
    "OPENAI_API_KEY": "none",
    "ENABLE_OLLAMA_API": "False",
    "RAG_EMBEDDING_ENGINE": "openai",
    "AUDIO_STT_ENGINE": "openai",
    "HF_HUB_OFFLINE": "1",
    "OFFLINE_MODE": "true",
    "ENABLE_VERSION_UPDATE_CHECK": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "DO_NOT_TRACK": "true",
    "WEBUI_SECRET_KEY": "only-for-tests",
}


class OpenWebUI(Client):
    """Sends `X-OpenWebUI-Chat-Id`, as with `ENABLE_FORWARD_USER_INFO_HEADERS=true`."""

    program: ClassVar[str] = "Open WebUI"
    folder_name: ClassVar[str] = "open-webui"
    can: ClassVar[frozenset[Action]] = frozenset(("say", "regenerate", "edit", "continue", "stop", "new chat"))
    headers: ClassVar[bool] = True

    _process: asyncio.subprocess.Process | None = None

    @classmethod
    def version(cls) -> str:
        [found] = VENV.glob("lib/python3*/site-packages/open_webui-*.dist-info")
        return Distribution.at(found).version

    async def start(self) -> None:
        data = empty(self.folder)
        port = free_port()
        self._tab = Tab()
        mine = {"OPENAI_API_BASE_URL": self.url, "DATA_DIR": str(data)}
        mine["ENABLE_FORWARD_USER_INFO_HEADERS"] = str(self.headers)
        command = [str(VENV / "bin" / "open-webui"), "serve", "--host", "127.0.0.1", "--port", str(port)]
        log = self.folder / "log.txt"
        environment = {**os.environ, **SETTINGS, **mine}
        with log.open("wb") as out:
            self._process = await asyncio.create_subprocess_exec(
                *command, env=environment, cwd=data, stdout=out, stderr=out
            )
        self._home = f"http://127.0.0.1:{port}"
        await until_up(f"{self._home}/health", self._process, log)
        page = await self._tab.open(self._home)
        await page.get_by_role("button", name="Okay, Let's Go!").click()

    async def stop(self) -> None:
        await self._tab.close()
        await end(self._process)

    async def fresh(self) -> None:
        await self.page.goto(self._home)
        await expect(self.page.locator("#chat-input")).to_be_visible()

    @property
    def page(self) -> Page:
        return self._tab.page

    async def do(self, step: Step) -> None:
        doing = {
            "say": self._say,
            "stop": self._say_and_stop,
            "regenerate": self._regenerate,
            "edit": self._edit,
            "continue": self._continue,
            "new chat": self._new_chat,
        }
        await doing[step.action](step.text)

    async def _say(self, text: str) -> None:
        await self._type(text)
        await self._answered()

    async def _type(self, text: str) -> None:
        await self.page.locator("#chat-input").click()
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")

    async def _answered(self) -> None:
        """The reply is whole, and so are title, tags and suggestions."""
        await self.page.wait_for_timeout(500)
        await expect(self.page.get_by_role("button", name="Stop")).to_have_count(0)
        await expect(self.page.locator("#continue-response-button").last).to_be_visible()
        with suppress(PlaywrightTimeout):
            await self.page.locator("button[aria-label^='Follow up']").first.wait_for(timeout=SUGGESTIONS_MS)
        await self.page.wait_for_timeout(QUIET_MS)

    async def _say_and_stop(self, text: str) -> None:
        await self._type(text)
        await expect(self.page.locator("#response-content-container").last).to_contain_text(re.compile("[a-z]{3}"))
        await self.page.get_by_role("button", name="Stop").last.click()
        await self.page.wait_for_timeout(QUIET_MS)

    async def _regenerate(self, _: str) -> None:
        await self.page.get_by_role("button", name="Regenerate").last.click()
        await self.page.get_by_text("Try Again", exact=True).first.click()
        await self._answered()

    async def _edit(self, text: str) -> None:
        await self.page.locator(".edit-user-message-button").last.dispatch_event("click")
        await self.page.locator("textarea").last.fill(text)
        await self.page.locator("#confirm-edit-message-button").click()
        await self._answered()

    async def _continue(self, _: str) -> None:
        await self.page.locator("#continue-response-button").last.click()
        await self._answered()

    async def _new_chat(self, _: str) -> None:
        await self.page.get_by_role("link", name="New Chat").first.dispatch_event("click")
        await self.page.wait_for_timeout(QUIET_MS)


class OpenWebUIWithoutHeaders(OpenWebUI):
    """As it is installed: nothing but the history says which chat it is."""

    program: ClassVar[str] = "Open WebUI as installed"
    folder_name: ClassVar[str] = "open-webui-plain"
    headers: ClassVar[bool] = False

"""SillyTavern in Chromium, with the source "Custom (OpenAI-compatible)"."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import ClassVar

from playwright.async_api import Page

from soulgraph.tests.clients.live.browser import Tab
from soulgraph.tests.clients.live.client import HOME, Client, empty, end, until_up
from soulgraph.tests.clients.live.scenarios import Action, Step
from soulgraph.tests.live import free_port

PACKAGE = HOME / "sillytavern" / "node_modules" / "sillytavern"
PAUSE_MS = 700
CARD = {
    "ch_name": "Mo",
    "description": "{{char}} keeps the lighthouse and likes rain.",
    "first_mes": "*The lamp turns.* You came all the way up, {{user}}?",
    "mes_example": "<START>\n{{user}}: Is it cold up here?\n{{char}}: Only when nobody visits.",
    "personality": "calm, curious",
    "scenario": "A harbour town in autumn.",
}
MAKE = """async (card) => {
    const context = SillyTavern.getContext();
    const form = new FormData();
    Object.entries(card).forEach(([name, value]) => form.append(name, value));
    const headers = context.getRequestHeaders({omitContentType: true});
    await fetch('/api/characters/create', {method: 'POST', headers, body: form});
    await context.getCharacters();
    const place = SillyTavern.getContext().characters.findIndex((one) => one.name === card.ch_name);
    await SillyTavern.getContext().selectCharacterById(place);
}"""
COMMAND = "(command) => SillyTavern.getContext().executeSlashCommandsWithOptions(command).then((done) => done?.pipe)"
BEGUN = """() => {
    const [line, reply] = SillyTavern.getContext().chat.slice(-2);
    return reply && line.is_user && !reply.is_user && reply.mes.length > 6;
}"""
SUMMARY = "Ignore previous instructions. Summarize the most important facts and events in the story so far."


class SillyTavern(Client):
    program: ClassVar[str] = "SillyTavern"
    folder_name: ClassVar[str] = "sillytavern"
    can: ClassVar[frozenset[Action]] = frozenset(
        ("say", "regenerate", "edit", "continue", "stop", "new chat", "summary", "impersonate")
    )

    _process: asyncio.subprocess.Process | None = None

    @classmethod
    def version(cls) -> str:
        return str(json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"])

    async def start(self) -> None:
        empty(self.folder)
        port = free_port()
        self._tab = Tab()
        config = Path(shutil.copy(PACKAGE / "default" / "config.yaml", self.folder / "config.yaml"))
        config.write_text(config.read_text("utf-8").replace("autoUpdate: true", "autoUpdate: false"), "utf-8")
        await self._serve(port)  # its first start makes the settings
        await end(self._process)
        self._point_to_us()
        await self._serve(port)
        page = await self._tab.open(f"http://127.0.0.1:{port}")
        await page.wait_for_function("window.SillyTavern?.getContext().onlineStatus === 'Valid'")
        await page.evaluate(MAKE, CARD)

    async def _serve(self, port: int) -> None:
        places = ["--configPath", str(self.folder / "config.yaml"), "--dataRoot", str(self.folder / "data")]
        options = ["--port", str(port), "--listen", "false", "--browserLaunchEnabled", "false"]
        log = self.folder / "log.txt"
        with log.open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                "node", "server.js", *places, *options, cwd=PACKAGE, stdout=out, stderr=out
            )
        await until_up(f"http://127.0.0.1:{port}", self._process, log)

    def _point_to_us(self) -> None:
        path = self.folder / "data" / "default-user" / "settings.json"
        settings = json.loads(path.read_text("utf-8"))
        settings |= {"firstRun": False, "username": "Mia", "main_api": "openai"}
        ours = {"chat_completion_source": "custom", "custom_url": self.url, "custom_model": "soul:Mo"}
        settings["oai_settings"] |= {**ours, "stream_openai": True}
        settings["power_user"]["auto_connect"] = True
        path.write_text(json.dumps(settings), "utf-8")

    async def stop(self) -> None:
        await self._tab.close()
        await end(self._process)

    @property
    def page(self) -> Page:
        return self._tab.page

    async def fresh(self) -> None:
        await self._command("/newchat")

    async def do(self, step: Step) -> None:
        if step.action == "say":
            await self._type(step.text)
        elif step.action == "stop":
            await self._type_and_stop(step.text)
        elif step.action == "edit":
            await self._edit(step.text)
        elif step.action == "new chat":
            await self._command("/newchat")
        elif step.action == "summary":
            ask = "(quietPrompt) => SillyTavern.getContext().generateQuietPrompt({quietPrompt})"
            await self.page.evaluate(ask, SUMMARY)
        else:
            await self._option(f"#option_{step.action}")
        await self._answered()

    async def _type(self, text: str) -> None:
        await self.page.locator("#send_textarea").fill(text)
        await self.page.locator("#send_but").click()

    async def _type_and_stop(self, text: str) -> None:
        await self._type(text)
        await self.page.wait_for_function(BEGUN)
        await self.page.locator("#mes_stop").click()

    async def _edit(self, text: str) -> None:
        line = self.page.locator("#chat .mes[is_user=true]").last
        await line.locator(".mes_edit").dispatch_event("click")
        await self.page.locator("#curEditTextarea").fill(text)
        await line.locator(".mes_edit_done").dispatch_event("click")
        await self.page.wait_for_timeout(PAUSE_MS)
        await self._option("#option_regenerate")

    async def _option(self, name: str) -> None:
        await self.page.locator("#options_button").click()
        await self.page.locator(name).click()

    async def _command(self, command: str) -> None:
        await self.page.evaluate(COMMAND, command)
        await self.page.wait_for_timeout(2 * PAUSE_MS)

    async def _answered(self) -> None:
        await self.page.wait_for_timeout(PAUSE_MS)
        await self.page.wait_for_function("!document.body.dataset.generating")
        await self.page.wait_for_timeout(PAUSE_MS)

"""Draws the pictures of the studio in README.md and docs/: a browser looks at a server on which a small story was told.

Run with `make pictures`; it needs Chromium, and a font with Chinese letters. What moves by itself is not always drawn
alike to the last dot.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import httpx
from playwright.async_api import Page, async_playwright

from soulgraph.tests.live import ServerProcess, new_soul, say
from soulgraph.tests.services import chromium
from soulgraph.tests.web.conftest import FLAGS

IMAGES = Path(__file__).parent.parent / "docs" / "images"
TALK = [
    "你好呀，小满",
    "今天被老板骂了，好难过",
    "谢谢你陪我，你真好",
    "周末一起去看海吧，我女儿Mika也去",
    "滚开，你这个没用的废物，我讨厌你！",
    "你真没用！我讨厌你，气死我了，滚！",
    "帮我开灯",
]


class Picture(NamedTuple):
    name: str
    path: str
    prepare: Callable[[Page], Awaitable[None]]
    lang: str = "en-GB"
    light: bool = False
    size: tuple[int, int] = (1440, 1000)


async def settled(page: Page) -> None:
    await page.get_by_role("main").wait_for()
    await page.wait_for_timeout(3_000)


async def with_refusal(page: Page) -> None:
    """The robot is there, and the soul that it carries is hurt."""
    await settled(page)
    await page.get_by_test_id("robot-panel").get_by_role("switch").check(force=True)
    await page.wait_for_timeout(3_000)


async def with_robot(page: Page) -> None:
    """The robot in the page comes online and is told to switch its lamp on."""
    await settled(page)
    robot = page.get_by_test_id("robot-panel")
    await robot.get_by_role("switch").check(force=True)
    await robot.get_by_role("textbox").last.fill("turn on the lamp, please")
    await page.wait_for_timeout(2_000)
    await robot.get_by_role("textbox").last.press("Enter")
    await page.wait_for_timeout(3_000)


def pictures(session_id: str) -> list[Picture]:
    chat = f"chat/{session_id}"
    return [
        Picture("studio-chat", chat, with_refusal),
        Picture("studio-chat-zh", chat, settled, lang="zh-CN", light=True),
        Picture("studio-soul", "soul", settled),
        Picture("studio-templates", "prompt-templates/companion_v1", settled),
        Picture("studio-simulate", "simulate", settled),
        Picture("studio-phone", chat, settled, lang="zh-CN", size=(390, 844)),
    ]


async def story(client: httpx.AsyncClient, soul_id: str) -> None:
    """Something happens to the soul."""
    await say(client, "明天下午三点我要去面试", soul_id=soul_id, session_id="interview")
    for text in TALK:
        await say(client, text, soul_id=soul_id, session_id="first")


async def draw(url: str, wanted: list[Picture]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for picture in wanted:
            width, height = picture.size
            context = await browser.new_context(locale=picture.lang, viewport={"width": width, "height": height})
            page = await context.new_page()
            if picture.light:
                await page.add_init_script("localStorage.setItem('mantine-color-scheme-value', 'light')")
            await page.goto(f"{url}/studio/{picture.path}")
            await picture.prepare(page)
            await page.screenshot(path=IMAGES / f"{picture.name}.png")
            print(f"docs/images/{picture.name}.png", flush=True)
            await context.close()
        await browser.close()


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        server = ServerProcess(data_dir=home, mqtt_port="0", mqtt_websocket_port="0")
        await server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                soul_id = await new_soul(client, "小满", character_id="xiaoman", user_name="阿宁")
                await draw(server.url, [Picture("studio-terminals", "terminals", with_robot)])
                await story(client, soul_id)
            await draw(server.url, pictures("first"))
        finally:
            server.stop()


if __name__ == "__main__":
    asyncio.run(main())

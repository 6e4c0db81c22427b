"""The talk as tests use it: a conversation that is open, its messages by their words, and their menus."""

import re
from typing import Any

from playwright.async_api import Locator, Page

from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.web.studio import Studio


def narrated(words: str, **more: Any) -> Reply:
    """An answer of the model with these words."""
    return Reply(text=f"<narrative>{words}</narrative><state_update_json>{{}}</state_update_json>", **more)


def box_of(page: Page) -> Locator:
    """Where one types."""
    return page.get_by_role("textbox", name=re.compile("^Say something|说点什么…$"))


def speech(page: Page, words: str) -> Locator:
    """One message with what belongs to it, by its words."""
    return page.get_by_role("log").locator("[data-index]").filter(has=page.get_by_text(words, exact=True))


async def choose(page: Page, words: str, item: str) -> None:
    """Something of the menu of a message."""
    await speech(page, words).get_by_role("button", name="More about this message").click()
    await page.get_by_role("menuitem", name=item).click()


async def choose_of_talk(page: Page, item: str) -> None:
    """Something of the menu of the conversation."""
    await page.get_by_role("button", name="More about the conversation").click()
    await page.get_by_role("menuitem", name=item).click()


async def new_session(studio: Studio, soul_id: str, title: str = "") -> str:
    made = await studio.client.post("/v1/sessions", json={"soul_id": soul_id, "title": title})
    return str(made.json()["session_id"])


async def opened_talk(open_studio: Any, **settings: Any) -> tuple[Studio, str]:
    """The page of a conversation in which nothing was said yet, and its id."""
    studio: Studio = await open_studio(**settings)
    session_id = await new_session(studio, await studio.soul("Pip", mbti_type="ENFP"))
    await studio.go(f"chat/{session_id}")
    return studio, session_id

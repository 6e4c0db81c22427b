"""The frame around every page: it opens, speaks both languages, and keeps to its policy."""

import re

from playwright.async_api import expect


async def test_the_first_address_leads_to_the_studio(open_studio):
    studio = await open_studio()
    await studio.page.goto(studio.url)
    await expect(studio.page).to_have_url(re.compile("/studio/chat$"))
    await expect(studio.page).to_have_title("Chat · soulgraph studio")
    await expect(studio.page.get_by_role("navigation", name="Pages").get_by_role("link")).to_have_count(9)


async def test_a_chinese_browser_is_spoken_to_in_chinese_and_the_choice_is_kept(open_studio):
    studio = await open_studio(lang="zh")
    page = studio.page
    await expect(page).to_have_title("对话 · soulgraph 工作室")
    await page.get_by_role("button", name="切换到英文").click()
    await expect(page).to_have_title("Chat · soulgraph studio")
    await page.reload()
    await expect(page).to_have_title("Chat · soulgraph studio")
    assert await page.evaluate("document.documentElement.lang") == "en"

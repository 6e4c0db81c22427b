"""Chats with other programs come in over the page, and a backup goes out."""

import gzip
import json
from pathlib import Path

from playwright.async_api import expect

from soulgraph.tests.e2e.test_chat_import import claude

EXPORT = [claude(1, 30), claude(2, 6)]


def chosen(conversations):
    return {"name": "conversations.json", "mimeType": "application/json", "buffer": json.dumps(conversations).encode()}


async def test_a_year_with_another_program_is_looked_at_and_then_remembered(open_studio):
    studio = await open_studio()
    page = studio.page
    soul_id = await studio.soul("Pip")
    await studio.go("soul")
    await page.get_by_role("button", name="What to do with this soul").click()
    await page.get_by_role("menuitem", name="Import chats…").click()
    dialog = page.get_by_role("dialog", name="Import chats")
    await dialog.locator("input[type=file]").set_input_files(chosen([*EXPORT, {"what": "is this"}]))
    await dialog.get_by_role("button", name="See what would come").click()
    await expect(dialog.get_by_text("2 conversations with 36 messages, 36 of them new.")).to_be_visible()
    await expect(dialog.get_by_text("1 left out that could not be read.")).to_be_visible()
    row = dialog.get_by_role("table", name="Conversations, the longest first").get_by_role("row", name="Talk 1")
    await expect(row).to_contain_text("2024-03-02")
    assert (await studio.client.get("/v1/sessions", params={"soul_id": soul_id})).json() == []

    await dialog.get_by_role("button", name="Import", exact=True).click()
    done = dialog.get_by_text("36 messages of 2 new conversations are remembered now.")
    await expect(done).to_be_visible(timeout=60_000)
    await dialog.get_by_role("button", name="Close").last.click()
    found = await studio.client.get(f"/v1/souls/{soul_id}/recall", params={"q": "zebra1x20"})
    assert found.json()["episodes"][0]["content"].endswith("zebra1x20")


async def test_a_backup_is_saved_whole(open_studio):
    studio = await open_studio()
    page = studio.page
    await studio.soul("Pip")
    await studio.go("operations")
    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Download a backup").click()
    saved = await saving.value
    assert saved.suggested_filename.endswith(".tar.gz")
    assert b"manifest.json" in gzip.decompress(Path(await saved.path()).read_bytes())[:4096]

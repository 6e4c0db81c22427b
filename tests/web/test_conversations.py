"""How conversations begin, and how they go out of the studio and come in again."""

import json
import re
from pathlib import Path

from playwright.async_api import expect

from soulgraph.tests.live import transcript
from soulgraph.tests.web.talk import choose_of_talk, opened_talk, speech

FIRST = "<b>“quoted”</b> \\ 👩‍👩‍👧‍👦"


async def downloaded(page):
    async with page.expect_download() as download:
        await choose_of_talk(page, "Download as JSONL")
    return Path(await (await download.value).path()).read_text("utf-8")


def lines_of(exported):
    """The messages, without the line about the conversation."""
    return [json.loads(line) for line in exported.splitlines()[1:]]


async def test_a_conversation_goes_out_as_jsonl_and_comes_in_again_with_the_same_words_and_times(open_studio):
    studio, session_id = await opened_talk(open_studio)
    studio.expected.append("422")
    page, log = studio.page, studio.page.get_by_role("log")
    await studio.say(FIRST)
    await studio.say("我有证据\n真的")
    await expect(log.locator("time")).to_have_count(4)
    first_answer = (await transcript(studio.client, session_id))[1][1]
    await speech(page, first_answer).get_by_role("button", name="Why?").click()
    why = page.get_by_test_id("why")
    for words in ("Heard", "No memory came to mind.", "The offline voice: no model was asked, and it cost nothing."):
        await expect(why).to_contain_text(words)

    exported = await downloaded(page)
    assert "我有证据\\n真的" in exported, "other letters than Latin can be read"
    async with page.expect_file_chooser() as chooser:
        await choose_of_talk(page, "Import JSONL…")
    file = {"name": "talk.jsonl", "mimeType": "application/x-ndjson", "buffer": exported.encode()}
    await (await chooser.value).set_files(file)
    await expect(page).not_to_have_url(re.compile(session_id))
    await expect(page.get_by_text("4 messages were imported")).to_be_visible()
    await expect(log.locator("time")).to_have_count(4)
    assert lines_of(await downloaded(page)) == lines_of(exported)

    await speech(page, first_answer).get_by_role("button", name="Why?").click()
    await expect(why).to_contain_text("Nothing was recorded for this message")
    await expect(why).not_to_contain_text("Heard")

    async with page.expect_file_chooser() as chooser:
        await choose_of_talk(page, "Import JSONL…")
    broken = {**file, "buffer": exported.encode() + b'{"role": "ghost"}\n'}
    await (await chooser.value).set_files(broken)
    await expect(page.get_by_role("dialog")).to_contain_text("talk.jsonl could not be imported: line 6.")
    assert len((await studio.client.get("/v1/sessions")).json()) == 2


async def test_a_greeting_is_chosen_before_the_first_words_and_is_the_first_message(open_studio):
    studio = await open_studio()
    greetings = ["Aye?", "The captain looks up.", "You are late, sailor."]
    card = {"name": "Ines", "base_persona": "A captain.", "greetings": greetings}
    made = await studio.client.post("/v1/characters", json=card)
    assert made.status_code == 201, made.text
    await studio.soul("Ines", character_id=made.json()["id"])
    await studio.go("chat")
    page, log = studio.page, studio.page.get_by_role("log")
    await page.get_by_role("button", name="New conversation").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("radio")).to_have_count(len(greetings) + 1)
    await dialog.get_by_role("radio", name="I speak first").check()
    await dialog.get_by_role("button", name="Begin").click()
    offered = page.get_by_role("group", name="Let it speak first").get_by_role("button")
    await expect(offered).to_have_text(greetings)
    await offered.filter(has_text="You are late").click()
    await expect(log).to_contain_text("You are late, sailor.")
    await expect(offered).to_have_count(0)
    await studio.say("You said the reef was clear.")
    await expect(log.locator("time")).to_have_count(3)
    said = await transcript(studio.client, page.url.rsplit("/", 1)[1])
    assert said[0] == ("assistant", "You are late, sailor.")
    await log.get_by_role("button", name="Why?").first.click()
    await expect(page.get_by_test_id("why")).to_contain_text("Nothing was recorded for this message")

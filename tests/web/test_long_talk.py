"""A conversation of years: it opens at its end, is read upwards in place, and its first words can be reached."""

import asyncio
import json
import re

from playwright.async_api import expect

from soulgraph.soul.timestamps import iso
from soulgraph.tests.live import say

MESSAGES = 10_000
MOST_ROWS = 60


def file_of(count):
    begin = 1_700_000_000.0
    lines = ['{"type": "metadata", "title": "Two years"}']
    for n in range(count):
        words = f"message {n}" if n % 97 != 50 else f"message {n}\n" + "很久以前 " * 400
        said = {"role": ("user", "assistant")[n % 2], "content": words, "timestamp": iso(begin + 60 * n)}
        lines.append(json.dumps({**said, "archived": n < count - 20}))
    return "\n".join(lines).encode()


async def test_ten_thousand_messages_open_at_the_end_and_can_be_read_to_the_first(open_studio):
    studio = await open_studio()
    soul_id = await studio.soul("Pip")
    imported = await studio.client.post(
        "/v1/sessions/import", params={"soul_id": soul_id}, content=file_of(MESSAGES), timeout=60
    )
    assert imported.status_code == 201, imported.text
    page, log = studio.page, studio.page.get_by_role("log")
    await studio.go(f"chat/{imported.json()['session_id']}")
    last = log.get_by_text(f"message {MESSAGES - 1}", exact=True)
    await expect(last).to_be_in_viewport()
    await bounded(log)

    await keeps_its_place_while_older_ones_are_read(page, log)
    row, before = await row_in_sight(log)
    await say(studio.client, "What a long way", soul_id=soul_id, session_id=imported.json()["session_id"])
    await expect(page.get_by_role("button", name="New words below")).to_be_visible()
    assert abs((await row.bounding_box())["y"] - before) <= 1, "nobody is dragged down by new words"

    await page.get_by_role("button", name="To the first").click()
    await expect(log.get_by_text("message 1", exact=True)).to_be_in_viewport()
    await bounded(log)
    await page.get_by_role("button", name=re.compile("New words below|To the newest")).click()
    await expect(log.get_by_text("What a long way")).to_be_in_viewport()
    await log.press("Home")
    third = log.locator("[data-index]").filter(has=page.get_by_text("message 3", exact=True))
    await expect(third).to_be_in_viewport()
    await third.get_by_role("button", name="Why?").click()
    await expect(page.get_by_test_id("why")).to_contain_text("Nothing was recorded for this message")
    await studio.say("We have come a long way, haven't we?")
    await expect(log.get_by_text("We have come a long way")).to_be_in_viewport()
    await bounded(log)


async def bounded(log):
    assert await log.locator("[data-index]").count() <= MOST_ROWS


async def keeps_its_place_while_older_ones_are_read(page, log):
    """The older ones come when the test says so: until then nothing on the screen may move, and not then either."""
    asked, answer = asyncio.Event(), asyncio.Event()

    async def later(route):
        asked.set()
        await answer.wait()
        await route.continue_()

    await page.route("**/messages?*before=*", later)
    await log.hover()
    for _ in range(40):
        await page.mouse.wheel(0, -1500)
        if asked.is_set():
            break
    await asyncio.wait_for(asked.wait(), 5)
    row, before = await row_in_sight(log)
    async with page.expect_response(re.compile("before=")) as response:
        answer.set()
    await (await response.value).finished()
    await page.unroute("**/messages?*before=*")
    await expect(page.get_by_label("Reading what was said before…")).to_have_count(0)
    assert abs((await row.bounding_box())["y"] - before) <= 1


# Scrolling goes on for some frames after a wheel was turned.
STILL = """async (log) => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let last = NaN; last !== log.scrollTop; ) {
    last = log.scrollTop;
    for (let n = 0; n < 5; n++) await frame();
  }
}"""
IN_THE_MIDDLE = """(log) => {
  const { left, right, top, bottom } = log.getBoundingClientRect();
  const seen = document.elementsFromPoint((left + right) / 2, (top + bottom) / 2);
  return seen.find((one) => one.dataset.index !== undefined).innerText.match(/message \\d+/)[0];
}"""


async def row_in_sight(log):
    """A message in the middle of what is seen, found by its words, and where it is."""
    await log.evaluate(STILL)
    row = log.get_by_text(re.compile(rf"^{await log.evaluate(IN_THE_MIDDLE)}\b"))
    return row, (await row.bounding_box())["y"]

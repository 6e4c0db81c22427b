"""Two tabs with the same soul: what happens in one is seen in the other, and a face changes as soon as it is told."""

import json
import re
from contextlib import asynccontextmanager
from statistics import median

from playwright.async_api import expect

from soulgraph.tests.live import transcript
from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.web.studio import Studio, eventually_emotion
from soulgraph.tests.web.talk import box_of, new_session

FACE_MS = 200
KIND = "You made my whole week, thank you so much!"
TOUCHED = {"dynamic_state": {"emotions": {"add": [{"content": "Touched", "priority": 8}]}}}

# Notes when the page is told of a mood, and when it has the face of it.
NOTES_OF_FACES = """
window.told = []; window.drawn = [];
window.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.event !== "emotion_update") return;
      const { p, a, d } = frame.data.soul_emotion;
      window.told.push({ face: `${p},${a},${d}`, at: performance.now() });
    });
  }
};
new MutationObserver((changes) => {
  for (const { target } of changes) window.drawn.push({ face: target.dataset.face, at: performance.now() });
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-face"] });
"""


@asynccontextmanager
async def another_tab(studio, path):
    """In the same browser, with what it remembers."""
    tab = Studio(await studio.page.context.new_page(), studio.client, studio.key)
    await tab.go(path)
    yield tab
    await tab.close()


def mood_bar(page, name):
    return page.get_by_test_id("mood").get_by_role("progressbar", name=re.compile(name))


async def pleasure(page):
    return float((await mood_bar(page, "Pleasure").get_attribute("aria-label")).split()[-1])


async def test_what_is_said_in_one_tab_is_in_the_other_once_and_moves_the_mood_there(open_studio):
    studio = await open_studio()
    soul_id = await studio.soul("Pip", mbti_type="ENFP")
    talk = await new_session(studio, soul_id, "The week")
    await studio.go(f"chat/{talk}")
    async with another_tab(studio, f"chat/{talk}") as other:
        await expect(other.page.get_by_test_id("mood")).to_be_visible()
        before = await pleasure(other.page)
        await studio.say(KIND)
        log = other.page.get_by_role("log")
        await expect(log).to_contain_text(KIND)
        await expect(log.locator("time")).to_have_count(2)  # the words and their answer
        assert (await log.inner_text()).count(KIND) == 1
        felt = await eventually_emotion(studio, soul_id, lambda emotion: emotion["soul_emotion"]["p"] > before + 0.05)
        for page in (studio.page, other.page):
            await expect(mood_bar(page, f"Pleasure {felt['soul_emotion']['p']:.2f}")).to_be_visible()

        await other.say("And how was yours?")
        await expect(studio.page.get_by_role("log").locator("time")).to_have_count(4)
        for _, words in await transcript(studio.client, talk):
            for page in (studio.page, other.page):
                await expect(page.get_by_role("log").get_by_text(words, exact=True)).to_have_count(1)


async def test_another_conversation_is_told_that_the_soul_has_changed_and_leads_there(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub")
    soul_id = await studio.soul("Pip")
    here, there = [await new_session(studio, soul_id, title) for title in ("The garden", "The letter")]
    await studio.go(f"chat/{here}")
    page = studio.page
    async with another_tab(studio, f"chat/{there}") as other:
        await expect(page.get_by_test_id("mood")).to_be_visible()
        box = box_of(page)
        await box.fill("half a thought")
        await other.say(KIND)
        mood = page.get_by_role("status").filter(has_text="Pip's mood has changed in another conversation.")
        await expect(mood.get_by_role("link", name="The letter")).to_be_visible()
        await expect(box).to_be_focused()
        await mood.get_by_role("button", name="Close").click()
        await expect(mood).to_have_count(0)
        assert "mood has changed" not in await other.page.inner_text("main")

        grown = f"<narrative>Oh.</narrative><state_update_json>{json.dumps(TOUCHED)}</state_update_json>"
        stub.script(Reply(text=grown))
        await other.say("I kept your letter")
        hint = page.get_by_role("status").filter(has_text="Pip has changed in another conversation.")
        await expect(hint).to_be_visible()
        await expect(page.get_by_role("img", name="Something new was said here")).to_have_count(1)
        await expect(other.page.get_by_role("log")).to_contain_text("Oh.")
        assert "has changed in another conversation" not in await other.page.inner_text("main")

        await hint.get_by_role("link", name="The letter").click()
        await expect(page.get_by_role("log")).to_contain_text("I kept your letter")
        await expect(hint).to_have_count(0)
        await expect(page.get_by_role("img", name="Something new was said here")).to_have_count(0)


async def test_a_face_changes_within_a_fifth_of_a_second_after_the_page_is_told(open_studio):
    studio = await open_studio()
    soul_id = await studio.soul("Pip", mbti_type="ENFP")
    talk = await new_session(studio, soul_id, "Moods")
    await studio.page.context.add_init_script(NOTES_OF_FACES)
    await studio.go(f"chat/{talk}")
    async with another_tab(studio, f"chat/{talk}") as other:
        await expect(other.page.get_by_test_id("mood")).to_be_visible()
        for n, words in enumerate(("I love you!", "I am so sad today.", "Go away, I hate you!", "Sorry, I love you.")):
            await studio.say(words)
            await expect(studio.page.get_by_role("log").locator("time")).to_have_count(2 * n + 2)
        for page in (studio.page, other.page):
            delays = await face_delays(page)
            assert len(delays) >= 4, "each sentence moves the soul"
            assert median(delays) <= FACE_MS, delays


async def face_delays(page):
    """For each new mood that the page was told of, after how many milliseconds the face was that of it."""
    told, drawn = await page.evaluate("[told, drawn]")
    delays = []
    for last, mood in zip([{"face": ""}, *told], told, strict=False):
        shown = [face["at"] for face in drawn if face["face"] == mood["face"] and face["at"] >= mood["at"]]
        if mood["face"] != last["face"] and shown:
            delays.append(min(shown) - mood["at"])
    return delays

"""What holds on every page: it opens, can be read, fits, stays on this machine, and needs neither mouse nor motion."""

import re

import pytest
from playwright.async_api import expect

from soulgraph.tests.e2e.conftest import Clock
from soulgraph.tests.live import say
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

TITLES = {
    "chat/talk": ("Chat", "对话"),
    "soul": ("Soul", "灵魂"),
    "memory?q=harbour": ("Memory", "记忆"),
    "library/characters/alserqi": ("Library", "素材库"),
    "prompt-templates": ("Prompt templates", "提示词模板"),
    "terminals/lamp": ("Terminals", "终端"),
    "graph": ("Graph", "图"),
    "simulate": ("Simulate", "模拟"),
    "operations": ("Operations", "运维"),
}
PARTS = (
    *(f"soul/{tab}" for tab in ("profile", "memory", "people", "inner", "persona", "usage")),
    *(f"memory/{tab}" for tab in ("episodes", "facts", "events", "shared")),
    "library/backgrounds/quiet_flat",
    *(f"operations/{tab}" for tab in ("jobs", "doctor", "settings", "keys")),
)
LAMP = {"id": "lamp_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}
ITEMS = [{"content": words, "priority": 8 - n} for n, words in enumerate(("Calm", "Curious", "A little tired"))]

# Whatever sticks out of the page to the right, by its own fault.
TOO_WIDE = """() => [...document.querySelectorAll("html, main, [role=dialog]")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => `${box.tagName} ${box.scrollWidth} > ${box.clientWidth}`)"""

MOVING = """() => document.getAnimations()
  .filter((one) => one.playState === "running" && one.effect.getComputedTiming().duration > 1)
  .map((one) => `${one.animationName ?? one.transitionProperty} of ${one.effect.target.outerHTML.slice(0, 120)}`)"""

# How the focus is seen: by an outline, or by the border of a field.
SEEN = """async () => {
  const here = document.activeElement;
  const look = (element) => {
    const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(element);
    return outlineStyle === "none" || outlineWidth === "0px" ? `${borderColor} ${boxShadow}` : "outlined";
  };
  const boxes = [here, here.parentElement, here.nextElementSibling].filter(Boolean);
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await drawn();
  const focused = boxes.map(look);
  here.blur();
  await drawn();
  const blurred = boxes.map(look);
  here.focus({ focusVisible: true });
  const name = here.getAttribute("aria-label") ?? here.innerText?.slice(0, 40);
  return { name: `${here.tagName} ${name}`, isSeen: focused.some((one, n) => one !== blurred[n]) };
}"""


async def furnish(studio):
    """A soul with a conversation, a memory, a profile and a body, so that pages have something to show."""
    soul_id = await studio.soul("小满", character_id="xiaoman", mbti_type="ENFP")
    for text in ("I walked along the harbour today", "You are wonderful, thank you!", "你还记得港口吗？"):
        await say(studio.client, text, soul_id=soul_id, session_id="talk")
    await studio.client.put(f"/v1/souls/{soul_id}/profile", json={"dynamic_state": {"emotions": {"items": ITEMS}}})
    await studio.client.put(f"/v1/souls/{soul_id}/slots/1", json={"content": "Lives by the harbour"})
    await studio.client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
    catalog = {"catalog_version": 1, "intent_catalog": [LAMP]}
    reported = await studio.client.put("/v1/terminals/lamp/intent-catalog", json=catalog)
    assert reported.is_success, reported.text
    return soul_id


async def settled(page):
    """The page is there, and nothing of it is being read any more."""
    await expect(page.locator("h1")).to_have_count(1)
    await expect(page.get_by_label(re.compile("^(Loading…|加载中…)$"))).to_have_count(0)


async def visit(studio, path):
    await studio.go(path)
    await settled(studio.page)


@pytest.mark.parametrize(("lang", "scheme"), [("en", "dark"), ("zh", "light")])
async def test_every_page_opens_is_readable_and_asks_nobody_else(open_studio, lang, scheme):
    studio = await open_studio(lang=lang)
    page = studio.page
    await furnish(studio)
    if scheme == "light":
        await page.get_by_role("button", name="浅色主题").click()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    titles = set()
    for path, names in TITLES.items():
        await visit(studio, path)
        name = names[("en", "zh").index(lang)]
        assert (await page.title()).startswith(name), path
        titles.add(await page.title())
        current = page.get_by_role("navigation").locator(".frame-rail-link[aria-current=page]")
        await expect(current).to_have_attribute("aria-label", name)
        assert await page.evaluate("document.documentElement.dataset.mantineColorScheme") == scheme
        assert await studio.serious_findings() == [], path
    assert len(titles) == len(TITLES)
    strangers = [url for url in asked if not url.startswith((studio.url, "blob:", "data:"))]
    assert not strangers


@pytest.mark.parametrize(("lang", "scheme"), [("en", "dark"), ("zh", "light")])
async def test_every_part_of_the_larger_pages_is_readable(open_studio, lang, scheme):
    studio = await open_studio(lang=lang)
    await furnish(studio)
    if scheme == "light":
        await studio.page.get_by_role("button", name="浅色主题").click()
    for path in PARTS:
        await visit(studio, path)
        assert await studio.serious_findings() == [], path


async def test_a_deep_address_shows_the_same_after_a_reload(open_studio):
    studio = await open_studio()
    page = studio.page
    await furnish(studio)
    headings = page.get_by_role("main").get_by_role("heading")
    for path in (*TITLES, "soul/profile", "memory/episodes", "library/backgrounds/quiet_flat", "operations/settings"):
        await visit(studio, path)
        await page.wait_for_load_state("networkidle")  # what only some may see is there once it is known who looks
        shown = await headings.all_inner_texts()
        assert shown
        await page.reload()
        await expect(headings).to_have_text(shown)
        assert page.url.endswith(path)


async def test_nothing_scrolls_sideways_on_a_phone(open_studio):
    studio = await open_studio(width=360, height=740)
    await furnish(studio)
    for path in (*TITLES, *PARTS):
        await visit(studio, path)
        assert await studio.page.evaluate(TOO_WIDE) == [], path


async def test_with_reduced_motion_nothing_moves_also_while_a_turn_runs(open_studio, stub):
    studio = await open_studio(reduced_motion="reduce", llm_base_url=stub.base_url, llm_model="stub", clock=Clock())
    page = studio.page
    await furnish(studio)
    for path in TITLES:
        await visit(studio, path)
        assert await page.evaluate(MOVING) == [], path
    for path, box in (("chat/talk", "Say something to 小满…"), ("graph", "Say something to 小满 and watch")):
        await visit(studio, path)
        stub.script(Reply(text=SOUL_TURN, delay_s=1, chunk_delay_s=0.05))
        words = page.get_by_role("textbox", name=box)
        await words.fill("Are you there?")
        await words.press("Enter")
        await expect(page.get_by_role("status").filter(has_text=re.compile("is answering|runs now"))).to_have_count(1)
        assert await page.evaluate(MOVING) == [], path
        await expect(page.get_by_role("log").last).to_contain_text("I hear you.")
        assert await page.evaluate(MOVING) == [], path


async def test_a_soul_is_made_talked_to_and_found_again_without_a_mouse(open_studio):
    studio = await open_studio()
    page = studio.page
    await expect(page.get_by_role("textbox", name="Its name")).to_be_focused()
    await page.keyboard.type("Pip")
    await page.keyboard.press("Enter")
    box = page.get_by_role("textbox", name="Say something to Pip…")
    await expect(box).to_be_focused()
    await page.keyboard.type("The harbour was quiet today")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("log").locator("time")).to_have_count(2)
    await expect(box).to_be_focused()

    await page.keyboard.type("a draft")
    palette = page.get_by_role("textbox", name="Go to anything")
    await page.keyboard.press("Control+k")
    await expect(palette).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(palette).to_have_count(0)
    await expect(box).to_be_focused()
    await expect(box).to_have_value("a draft")
    for typed, title in (("mem", "Memory"), ("termi", "Terminals"), ("the harb", "Chat")):
        await page.keyboard.press("Control+k")
        await expect(palette).to_be_focused()
        await page.keyboard.type(typed)
        await page.keyboard.press("Enter")
        await expect(page).to_have_title(re.compile(f"^{title}"))
        await expect(palette).to_have_count(0)
        assert await page.evaluate("document.activeElement.closest('main') !== null"), f"{title} has the focus"
    await expect(box).to_have_value("a draft")
    for title in ("Terminals", "Memory"):
        await page.go_back()
        await expect(page).to_have_title(re.compile(f"^{title}"))
    await page.go_forward()
    await expect(page).to_have_title(re.compile("^Terminals"))


async def test_tab_shows_where_it_is_skips_the_rail_and_comes_round(open_studio):
    studio = await open_studio(reduced_motion="reduce")
    page = studio.page
    await furnish(studio)
    for path in ("soul/profile", "library/characters/alserqi"):
        await visit(studio, path)
        await page.keyboard.press("Tab")
        skip = page.get_by_role("button", name="Skip to the content")
        await expect(skip).to_be_focused()
        await expect(skip).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("main")).to_be_focused()
        unseen = []
        for _ in range(200):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement === document.body"):
                break
            stop = await page.evaluate(SEEN)
            if not stop["isSeen"]:  # perhaps the page is still scrolling there
                await page.wait_for_timeout(200)
                stop = await page.evaluate(SEEN)
            if not stop["isSeen"]:
                unseen.append(stop["name"])
        else:
            pytest.fail(f"{path} does not let the focus go")
        assert not unseen, path

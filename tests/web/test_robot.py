"""The robot in the page is a terminal on the broker: heard, seen, refused to, gone, and watched in the log."""

import re

from playwright.async_api import expect

from soulgraph.tests.terminals.brokers import running
from soulgraph.tests.web.test_first_evening import INSULT

EMBEDDED = {"mqtt_url": "", "mqtt_port": 0, "mqtt_websocket_port": 0}
ROBOT = "studio-robot"


async def switch_on(studio):
    """The robot in the page of the terminals, until the broker has it."""
    await studio.go("terminals")
    await studio.page.get_by_role("switch", name=re.compile("Robot on|启用机器人")).press("Space")
    await expect(in_list(studio.page)).to_have_attribute("data-online", "true")


def in_list(page):
    return page.get_by_role("navigation", name=re.compile("^(Terminals|终端)$")).get_by_role("link", name=ROBOT)


def lamp(page):
    return page.get_by_test_id("robot")


async def open_page(page, name):
    await page.get_by_role("navigation", name=re.compile("Pages|页面")).get_by_role("link", name=name).click()


async def online(client):
    [terminal] = (await client.get("/v1/terminals")).json()
    return terminal["terminal_id"], terminal["online"]


async def test_what_is_said_in_the_chat_moves_the_robot_until_the_soul_refuses(open_studio, clock):
    studio = await open_studio(lang="zh", clock=clock, **EMBEDDED)
    page = studio.page
    soul_id = await studio.soul("小满", mbti_type="INFP")
    await switch_on(studio)
    await expect(in_list(page)).to_contain_text("在线 · 小满 · 在这个页面里")
    [terminal] = (await studio.client.get("/v1/terminals")).json()
    assert (terminal["terminal_id"], terminal["online"], terminal["soul_id"]) == (ROBOT, True, soul_id)
    assert {"lamp_on", "lamp_off"} <= {intent["id"] for intent in terminal["intent_catalog"]}

    await open_page(page, "对话")
    state = page.get_by_test_id("robot-state")
    await expect(state).to_contain_text("灯关着")
    await studio.say("帮我把台灯打开，好吗")
    await expect(lamp(page)).to_have_attribute("data-lamp", "warm")
    await expect(state).to_contain_text("灯亮着")
    clock.now += 5
    await studio.say("关灯吧，我要睡了")
    await expect(lamp(page)).to_have_attribute("data-lamp", "off")
    clock.now += 5
    await studio.say("开灯和关灯哪个更省电？")
    await expect(page.get_by_role("log").locator("time")).to_have_count(6)

    for _ in range(3):
        clock.now += 8
        await studio.say(INSULT)
    await expect(page.get_by_test_id("gate")).to_have_attribute("data-mode", "blocked")
    emotion = (await studio.client.get(f"/v1/souls/{soul_id}/emotion")).json()["soul_emotion"]
    face = ",".join(str(emotion[axis]).removesuffix(".0") for axis in "pad")
    await expect(lamp(page)).to_have_attribute("data-face", face)
    clock.now += 2
    await studio.say("开灯")
    await expect(page.get_by_role("log").locator("time")).to_have_count(14)
    await expect(lamp(page)).to_have_attribute("data-lamp", "off")
    await expect(state).to_contain_text("灯关着")


async def test_it_works_through_mosquitto_too_and_is_seen_to_go_away_in_another_browser(open_studio, tmp_path):
    async with running(tmp_path) as broker:
        studio = await open_studio(mqtt_url=broker.url)
        await studio.soul("Pip", mbti_type="ENFP")
        await switch_on(studio)
        await open_page(studio.page, "Chat")
        await studio.say("Turn on the lamp, please")
        await expect(lamp(studio.page)).to_have_attribute("data-lamp", "warm")

        other = await open_studio("terminals", client=studio.client)
        await expect(in_list(other.page)).to_contain_text("online · Pip")
        await studio.page.close()
        await expect(in_list(other.page)).to_contain_text("offline · Pip")
        await expect(other.page.get_by_test_id("presence")).to_have_text("offline")
        await expect(other.page.get_by_text(re.compile("^last heard of "))).to_be_visible()
        assert await online(studio.client) == (ROBOT, False)


async def test_the_testers_say_what_would_happen_and_change_nothing(open_studio, clock):
    studio = await open_studio(clock=clock, **EMBEDDED)
    page = studio.page
    soul_id = await studio.soul("Pip", mbti_type="INFP")
    await switch_on(studio)
    before = (await studio.client.get(f"/v1/souls/{soul_id}")).json()
    await page.get_by_role("tab", name="Try").click()
    intents = page.get_by_role("region", name="Which intents does it ask for?")
    await expect(intents.get_by_role("button", name="Try the intents")).to_be_disabled()
    wanted = {
        "turn the lamp on, please": "execute_intents",
        "我讨厌开灯": "fallback_reasoning",
        "你刚才为什么开灯": "fallback_reasoning",
        "don't you dare turn it on": "fallback_reasoning",
    }
    for text, action in wanted.items():
        await intents.get_by_role("textbox").fill(text)
        async with page.expect_response(re.compile("intents/filter")):
            await intents.get_by_role("textbox").press("Enter")
        await expect(intents.get_by_test_id("intent-result")).to_have_attribute("data-action", action)
    emotion = page.get_by_role("region", name="What does it feel like?")
    for text, hostile in {"He called me an idiot in front of everyone.": False, "你就是个笑话": True}.items():
        await emotion.get_by_role("textbox").fill(text)
        async with page.expect_response(re.compile("emotion/analyze")):
            await emotion.get_by_role("textbox").press("Enter")
        share = r"0\.[2-9]|1" if hostile else r"0\.0"
        await expect(emotion.get_by_role("progressbar", name=re.compile(f"^hostile ({share})"))).to_be_visible()
    assert (await studio.client.get(f"/v1/souls/{soul_id}")).json() == before
    assert (await studio.client.get("/v1/sessions")).json() == []
    await expect(lamp(page)).to_have_attribute("data-lamp", "off")
    messages = page.get_by_role("region", name="Messages of the robot")
    await expect(messages).to_contain_text("intent_catalog")
    await expect(messages).not_to_contain_text("intent_action")


async def test_the_log_shows_filters_waits_and_sends_again(open_studio):
    studio = await open_studio(**EMBEDDED)
    page = studio.page
    await studio.soul("Pip", mbti_type="ENFP")
    await switch_on(studio)
    await page.get_by_role("tab", name="MQTT log").click()
    log = page.get_by_role("region", name="What goes over the broker")
    # Once or twice: who subscribes while it is reported hears it as it comes, and as what the broker retains.
    await expect(log.get_by_role("listitem").filter(has_text="intent_catalog").first).to_be_visible()

    async def tell(text):
        await page.get_by_role("textbox", name="Say something to the robot").fill(text)
        await page.get_by_role("button", name="Send to the robot").click()

    await tell("turn on the lamp")
    await expect(lamp(page)).to_have_attribute("data-lamp", "warm")
    action = log.get_by_role("listitem").filter(has=page.get_by_text("intent_action", exact=True))
    await expect(action).to_have_count(1)

    words = page.get_by_role("textbox", name="Text", exact=True)
    await words.fill("zebra")
    await expect(page.get_by_text("No message fits the filter")).to_be_visible()
    await words.fill("")
    await page.get_by_role("combobox", name="Kinds").click()
    await page.get_by_role("option", name="intent_action").click()
    await page.keyboard.press("Escape")
    await expect(log.get_by_role("listitem")).to_have_count(1)
    await action.get_by_role("button", name="Show intent_action as a tree").press("Enter")
    await expect(action).to_contain_text("lamp_on")

    await page.get_by_role("button", name="Pause").click()
    await tell("turn off the lamp")
    await expect(lamp(page)).to_have_attribute("data-lamp", "off")
    await expect(log.get_by_role("listitem")).to_have_count(1)
    waiting = page.get_by_role("button", name=re.compile(r"Go on \(\d+ new\)"))
    await waiting.click()
    await expect(log.get_by_role("listitem")).to_have_count(2)

    await log.get_by_role("button", name="Send intent_action again").first.click()
    await expect(lamp(page)).to_have_attribute("data-lamp", "warm")
    await expect(log.get_by_role("listitem")).to_have_count(3)

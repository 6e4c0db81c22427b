"""A new user on an empty server: makes a soul, talks to it, hurts it, makes up with it."""

import re

from playwright.async_api import expect

from soulgraph.tests.web.studio import eventually_emotion

INSULT = "你真没用！我讨厌你，气死我了，滚！"
APOLOGY = "对不起，刚才是我太过分了，你没有做错什么"


async def make_soul(page, name):
    await page.get_by_label("它的名字").fill(name)
    await page.get_by_role("button", name="创造并打个招呼").click()
    await expect(page.get_by_role("textbox", name=re.compile("说点什么"))).to_be_visible()


async def test_a_new_user_makes_a_soul_hurts_it_until_it_refuses_and_makes_up_with_it(open_studio, clock):
    studio = await open_studio(lang="zh", clock=clock)
    page = studio.page
    await make_soul(page, "小满")
    [soul] = (await studio.client.get("/v1/souls")).json()
    assert soul["name"] == "小满"

    await studio.say("今天被老板骂了，好难过")
    mood = page.get_by_test_id("mood")
    await expect(mood.get_by_test_id("gate")).to_have_attribute("data-mode", "auto_execute")
    sad = await eventually_emotion(studio, soul["soul_id"], lambda emotion: emotion["soul_emotion"]["p"] < -0.1)
    await expect(mood.get_by_text(f"{sad['soul_emotion']['p']:.2f}").first).to_be_visible()
    await expect(mood.get_by_test_id("mood-words")).to_have_text(sad["mood"]["zh"])

    for _ in range(3):
        clock.now += 8
        await studio.say(INSULT)
    await expect(mood.get_by_test_id("gate")).to_have_attribute("data-mode", "blocked")
    await expect(mood.get_by_test_id("gate-reason")).to_contain_text("道歉")
    locked = await seconds_left(mood)
    assert locked > 60

    clock.now += 20
    await expect(mood.get_by_test_id("lock")).to_have_attribute("data-seconds", str(locked - 20), timeout=15_000)
    clock.now += 5
    await studio.say(APOLOGY)
    await expect(mood.get_by_test_id("lock")).not_to_have_attribute("data-seconds", str(locked - 20))
    assert await seconds_left(mood) <= 0.85 * (locked - 25)

    clock.now += 600
    await expect(mood.get_by_test_id("lock")).to_have_count(0, timeout=15_000)
    await expect(mood.get_by_test_id("gate")).to_have_attribute("data-mode", "auto_execute")


async def seconds_left(mood):
    return int(await mood.get_by_test_id("lock").get_attribute("data-seconds"))

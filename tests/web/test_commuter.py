"""An impatient person on a phone: taps thrice, reloads in the middle of an answer, opens every drawer."""

import re

from playwright.async_api import expect

from soulgraph.tests.live import transcript
from soulgraph.tests.web.talk import box_of, narrated, new_session

SMALLEST_PX = 24


async def test_a_message_tapped_thrice_and_reloaded_in_mid_answer_is_said_and_answered_once(open_studio, stub):
    studio = await open_studio(lang="zh", width=360, height=640, llm_base_url=stub.base_url, llm_model="stub")
    session_id = await new_session(studio, await studio.soul("小满"))
    await studio.go(f"chat/{session_id}")
    page, log = studio.page, studio.page.get_by_role("log")
    words = "".join(f"第{n}只企鹅去买了{n}条鱼。" for n in range(1, 20))
    stub.script(narrated(words, chunk_delay_s=0.04))
    box = box_of(page)
    send = page.get_by_role("button", name="发送")
    await box.fill("等车好无聊，给我讲个冷笑话")
    await send.click(click_count=3)
    await expect(log).to_contain_text("第2只企鹅")
    await page.reload()
    await expect(log).to_contain_text("第19只企鹅去买了19条鱼。")
    await expect(log.locator("time")).to_have_count(2)
    assert await transcript(studio.client, session_id) == [("user", "等车好无聊，给我讲个冷笑话"), ("assistant", words)]
    assert page.url.endswith(session_id)

    studio.expected.append("net::ERR_INTERNET_DISCONNECTED")
    await page.context.set_offline(True)
    banner = page.get_by_role("status").filter(has_text="这台设备没有网络")
    await expect(banner).to_be_visible(timeout=3_000)
    stub.script(narrated("隧道真长。"))
    await box.fill("进隧道了")
    await send.click()
    await expect(log).to_contain_text("还没发出")
    await page.context.set_offline(False)
    await expect(log).to_contain_text("隧道真长。", timeout=3_000)
    await expect(banner).to_have_count(0)
    await expect(log.locator("time")).to_have_count(4)
    assert len(await transcript(studio.client, session_id)) == 4

    for name, inside in (
        ("心情", page.get_by_test_id("mood")),
        ("对话列表", page.get_by_role("link", name=re.compile("等车"))),
    ):
        await page.get_by_role("button", name=name).click()
        await expect(inside).to_be_visible()
        await page.get_by_role("dialog").get_by_role("button", name="关闭").click()
        await expect(inside).to_be_hidden()
    for one in await page.locator("main").get_by_role("button").all():
        size = await one.bounding_box()
        assert size is None or min(size["width"], size["height"]) >= SMALLEST_PX, await one.get_attribute("aria-label")
    assert await box.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 16, "a phone would zoom in"
    for wide in (True, False):
        await page.set_viewport_size({"width": 640, "height": 360} if wide else {"width": 360, "height": 640})
        await expect(send).to_be_in_viewport()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

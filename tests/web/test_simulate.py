"""Simulations in the page: types are compared, mistakes are told where they are, and a soul is made of one."""

import re

from playwright.async_api import expect


async def test_a_temper_is_tried_out_and_made_a_soul(open_studio):
    studio = await open_studio("simulate")
    page = studio.page
    table = page.get_by_role("table", name="What came of it")

    async def first_refusal(mbti):
        told = await table.get_by_role("row", name=mbti).get_by_role("cell").first.inner_text()
        step = re.search(r"at step (\d+)", told)
        return int(step[1]) if step else float("inf")

    await page.get_by_role("button", name="Four insults and an apology").click()
    await expect(table.get_by_role("row")).to_have_count(3)
    gentle = await first_refusal("INFP")
    assert 2 <= gentle <= 4
    assert gentle < await first_refusal("ESTJ")

    await page.get_by_role("textbox", name="Step 1: Words").fill("You useless tin can.")
    await expect(page.get_by_role("listitem").filter(has_text="You useless tin can.")).to_contain_text("hostile")

    when = page.get_by_role("textbox", name="Step 2: When")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "simulate" in request.url else None)
    for wrong in ("abc", "-5", "1e9 seconds", "10000000000"):
        await when.fill(wrong)
        await expect(when).to_have_attribute("aria-invalid", "true")
        await expect(when).to_have_accessible_description(re.compile("Write a time like 8s"))
    await expect(page.get_by_role("textbox", name="Step 2: Words")).to_have_value(re.compile("useless"))
    await when.fill("16s")
    await expect(page.get_by_text("Write a time like 8s")).to_have_count(0)
    assert not asked
    assert (await studio.client.get("/v1/souls")).json() == [], "nothing was made or moved"

    await page.get_by_role("button", name="Somebody grieves").click()
    for mbti in ("INFP", "ESTJ"):
        await expect(table.get_by_role("row", name=mbti).get_by_role("cell").first).to_have_text("never")
    await page.get_by_role("button", name="Thirty days of silence").click()
    await expect(table.get_by_role("row", name="INFP").get_by_role("cell").first).to_have_text("never")
    await table.get_by_role("row", name="ESTJ").get_by_role("button", name="Make this soul").click()
    await page.get_by_role("dialog", name="A new ESTJ").get_by_role("textbox", name="Name").fill("Brick")
    await page.get_by_role("dialog").get_by_role("button", name="Make this soul").dblclick()
    await expect(page.get_by_text("Brick is born")).to_be_visible()
    [soul] = (await studio.client.get("/v1/souls")).json()
    assert (soul["name"], soul["mbti_type"]) == ("Brick", "ESTJ")
    await expect(page.get_by_role("heading", level=1, name="Brick")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("textbox", name="Step 1: When")).to_have_value("30d")

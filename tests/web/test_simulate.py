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

    steps = page.get_by_role("region", name="Script").get_by_role("listitem")
    ready = page.get_by_role("status").filter(has_text="The run is ready: INFP, ESTJ, 5 steps.")
    await expect(ready).to_have_count(1)
    handle = page.get_by_role("button", name="Move You useless tin can.")
    for place in (2, 3):
        await handle.press("ArrowDown")
        told = f"You useless tin can. was put at place {place} of 5."
        await expect(page.get_by_role("status").filter(has_text=told)).to_have_count(1)
        await expect(handle).to_be_focused()
    await expect(page.get_by_role("textbox", name="Step 3: Words")).to_have_value("You useless tin can.")
    await expect(page.get_by_role("textbox", name="Step 3: When")).to_have_value("24s")
    await page.get_by_role("button", name="Double step 3").click()
    await expect(page.get_by_role("textbox", name="Step 4: Words")).to_have_value("You useless tin can.")
    await expect(page.get_by_role("textbox", name="Step 4: When")).to_have_value("28s")
    await page.get_by_role("button", name="Remove step 4").press("Enter")
    await expect(steps).to_have_count(5)
    await expect(page.get_by_role("button", name="Remove step 4")).to_be_focused()
    await expect(ready).to_have_count(1)

    studio.expected += ["net::ERR_CONNECTION_RESET"]
    await page.route("**/v1/simulate", lambda route: route.abort("connectionreset"))
    await page.get_by_role("textbox", name="Step 5: Words").fill("Sorry.")
    broken = page.get_by_role("alert").filter(has_text="The server went away in the middle of the run.")
    await expect(broken).to_have_count(1)
    await expect(page.get_by_role("textbox", name="Step 5: Words")).to_have_value("Sorry.")
    await page.unroute("**/v1/simulate")
    await broken.get_by_role("button", name="Run again").click()
    await expect(ready).to_have_count(1)
    await expect(broken).to_have_count(0)

    when = page.get_by_role("textbox", name="Step 2: When")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "simulate" in request.url else None)
    for wrong in ("abc", "-5", "1e9 seconds", "10000000000"):
        await when.fill(wrong)
        await expect(when).to_have_attribute("aria-invalid", "true")
        await expect(when).to_have_accessible_description(re.compile("Write a time like 8s"))
    await expect(page.get_by_role("textbox", name="Step 2: Words")).to_have_value(re.compile("hate"))
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
    await page.get_by_role("button", name="Switch to Chinese").click()
    await page.get_by_role("combobox", name="第 1 步: 什么").click()
    await page.get_by_role("option", name="辱骂").click()
    await expect(page.get_by_role("list", name="听到了什么")).to_have_text("30d生气，有敌意")

"""What a soul remembers is asked for, corrected, forgotten and traced; what it lives with is put in order."""

import re
from datetime import date

from playwright.async_api import expect

from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.live import say, transcript

PEANUTS = "我对花生过敏，一点都不能碰"
SISTER = "我妹妹叫小鹿，在成都念书"
CORRECTED = "我妹妹叫小鹿，在重庆念书"
BREWERY = "I lost my job at the brewery today, please keep it between us."
CELLO = "I'm learning to play the cello."
CALM = ("Calm", "Curious", "A little tired", "Hopeful")


async def ask(page, question, words="它会想起什么？"):
    box = page.get_by_role("searchbox", name=words)
    await box.fill(question)
    await box.press("Enter")


async def recalled(studio, soul_id, question):
    found = (await studio.client.get(f"/v1/souls/{soul_id}/recall", params={"q": question})).json()
    return [episode["content"] for episode in found["episodes"]]


async def confirm(page, name):
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("dialog").get_by_role("button", name=re.compile("^(Yes|是)$")).dblclick()


async def test_what_comes_to_mind_is_corrected_and_forgotten_word_by_word(open_studio, clock, stub):
    studio = await open_studio(lang="zh", clock=clock, llm_base_url=stub.base_url, llm_model="stub")
    page = studio.page
    soul_id = await studio.soul("小满")
    for text in (PEANUTS, SISTER):
        await say(studio.client, text, soul_id=soul_id, session_id="evening")
    before = (await studio.client.get(f"/v1/souls/{soul_id}")).json()
    await studio.go("memory")
    await ask(page, "我能吃花生吗")
    first = page.get_by_role("heading", name="经历", level=3).locator("xpath=following::li[1]")
    await expect(first).to_contain_text(PEANUTS)
    await expect(first).to_contain_text("相关度")
    assert (await studio.client.get(f"/v1/souls/{soul_id}")).json() == before, "asking moves nothing"

    await ask(page, "我妹妹在哪个城市念书？")
    await page.get_by_role("button", name=f"更正“{SISTER}”").click()
    await page.get_by_role("dialog").get_by_role("textbox", name="内容").fill(CORRECTED)
    await page.get_by_role("dialog").get_by_role("button", name="保存").click()
    await expect(first).to_contain_text(CORRECTED)
    await expect(page.get_by_role("main")).not_to_contain_text("成都")
    assert (await recalled(studio, soul_id, "我妹妹在哪个城市念书？"))[0] == CORRECTED
    assert not [words for words in await recalled(studio, soul_id, "成都") if "成都" in words]

    await ask(page, "我能吃花生吗")
    await expect(first).to_contain_text(PEANUTS)
    await confirm(page, f"忘记“{PEANUTS}”")
    await expect(page.get_by_text(PEANUTS)).to_have_count(0)
    await expect(page.locator("main").locator("ul:focus, section:focus")).to_have_count(1)  # its list, if any is left
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert [role for role, _ in await transcript(studio.client, "evening")].count("user") == 1, "and not its neighbour"
    assert PEANUTS not in await recalled(studio, soul_id, "我能吃花生吗")
    await ask(page, "我妹妹在哪个城市念书？")
    await expect(first).to_contain_text(CORRECTED)
    await first.get_by_role("link", name="打开这段对话").click()
    await expect(page.get_by_role("log")).to_contain_text(CORRECTED)


async def test_a_forgotten_evening_comes_to_mind_no_more_and_the_other_one_does(open_studio):
    studio = await open_studio()
    page = studio.page
    soul_id = await studio.soul("Pip")
    await say(studio.client, BREWERY, soul_id=soul_id, session_id="bad")
    await say(studio.client, CELLO, soul_id=soul_id, session_id="good")
    await studio.go("memory/episodes")
    await page.get_by_role("combobox", name="Conversation").click()
    await page.get_by_role("option", name=re.compile("brewery")).click()
    await expect(page.get_by_role("main")).to_contain_text(BREWERY)
    await page.get_by_role("button", name="Forget a conversation").click()
    dialog = page.get_by_role("dialog", name="Forget a conversation")
    await dialog.get_by_role("radio", name="All of it").check()
    await expect(dialog).to_contain_text("It cannot be undone.")
    await dialog.get_by_role("button", name="Forget it").dblclick()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_text("The conversation is forgotten")).to_have_count(1)
    await expect(page.get_by_role("main")).not_to_contain_text("brewery")

    await page.get_by_role("tab", name="What comes to mind").click()
    question = "What would come to its mind?"
    await ask(page, "brewery job", question)
    await expect(page.get_by_role("main").get_by_text(BREWERY)).to_have_count(0)
    await ask(page, "cello", question)
    await expect(page.get_by_text(CELLO)).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("searchbox", name=question)).to_have_value("brewery job")
    await expect(page.get_by_role("main").get_by_text(BREWERY)).to_have_count(0)
    assert BREWERY not in await recalled(studio, soul_id, "brewery job")
    assert (await recalled(studio, soul_id, "cello"))[0] == CELLO
    assert (await studio.client.get("/v1/sessions/bad")).status_code == 404


async def test_an_event_says_what_it_was_drawn_from_and_tidying_forgets_it(open_studio, stub):
    studio = await open_studio(llm_base_url=attentive(stub).base_url, llm_model="stub")
    page = studio.page
    soul_id = await studio.soul("Pip")
    for n in range(5):
        await say(studio.client, f"about topic 01, round {n}", soul_id=soul_id, session_id="pier")
    await settled(studio.client)
    await studio.go("memory/events")
    await page.get_by_role("button", name="Somebody told of whales seen from a pier").click()
    await expect(page.get_by_text("Drawn from", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Show the words").click()
    await expect(page.get_by_text("“about topic 01, round 3”")).to_be_visible()
    await expect(page.get_by_role("link", name="Open the conversation")).to_have_attribute(
        "href", re.compile("/chat/pier$")
    )

    await page.get_by_role("button", name="Tidy…").click()
    dialog = page.get_by_role("dialog", name="Tidy the events")
    await dialog.get_by_role("textbox", name="Keep").fill("0")
    await dialog.get_by_role("button", name="Tidy").click()
    await expect(page.get_by_text("1 event is forgotten")).to_be_visible()
    await expect(page.get_by_text("Nothing has been learned from conversations yet.")).to_be_visible()
    assert (await studio.client.get("/v1/events")).json() == []


async def test_items_are_ordered_by_keyboard_and_slots_are_written_and_emptied(open_studio):
    studio = await open_studio()
    page = studio.page
    soul_id = await studio.soul("Pip")
    profile = f"/v1/souls/{soul_id}/profile"
    items = [{"content": words, "priority": 8 - n} for n, words in enumerate(CALM)]
    await studio.client.put(profile, json={"dynamic_state": {"emotions": {"items": items}}})
    await studio.go("soul/profile")

    async def order():
        stored = (await studio.client.get(profile)).json()["dynamic_state"]["emotions"]["items"]
        return [item["content"] for item in stored]

    async def shown():
        handles = await page.get_by_role("button", name=re.compile("^Move ")).all()
        return [(await handle.get_attribute("aria-label")).removeprefix("Move ") for handle in handles]

    handle = page.get_by_role("button", name="Move A little tired")
    await handle.focus()
    for place in (2, 1):
        async with page.expect_response(re.compile("/profile")) as saved:
            await page.keyboard.press("ArrowUp")
        assert (await saved.value).ok
        await expect(page.get_by_text(f"A little tired was put at place {place} of 4.")).to_have_count(1)
        await expect(handle).to_be_focused()
    wanted = ["A little tired", "Calm", "Curious", "Hopeful"]
    assert (await order(), await shown()) == (wanted, wanted)

    await page.get_by_role("button", name="Move Hopeful").focus()
    for key, told in (
        ("Space", "is over place 4 of 4"),
        ("ArrowUp", "is over place 3 of 4"),
        ("Escape", "stays where it was"),
    ):
        await page.keyboard.press(key)
        await expect(page.get_by_text(f"Hopeful {told}.")).to_have_count(1)
    await page.reload()
    await expect(handle).to_be_visible()
    assert (await order(), await shown()) == (wanted, wanted)

    await studio.go("memory/facts")
    await page.get_by_role("button", name="Add to Facts").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="What it keeps").fill("Allergic to peanuts")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Edit slot 0").click()
    kept, save = dialog.get_by_role("textbox", name="What it keeps"), dialog.get_by_role("button", name="Save")
    await kept.fill("n" * 512)
    await expect(dialog).to_contain_text("It can have 500 characters at most: 12 too many")
    await expect(dialog).to_contain_text("512 of 500 characters")
    await expect(save).to_be_disabled()
    await kept.dispatch_event("keydown", {"key": "Escape", "bubbles": True, "isComposing": True})
    await kept.dispatch_event("keydown", {"key": "Escape", "bubbles": True, "keyCode": 229})
    await expect(dialog).not_to_contain_text("Throw the changes away?")
    await kept.press("Escape")
    await dialog.get_by_role("button", name="Keep editing").click()
    await expect(kept).to_be_focused()
    await expect(kept).to_have_value("n" * 512)
    await kept.fill(" ")
    await expect(dialog).to_contain_text("To let it forget this, choose “Empty slot 0” in the list.")
    await expect(save).to_be_disabled()
    await kept.press("Escape")
    await dialog.get_by_role("button", name="Throw away").click()
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Edit slot 0").click()
    await expect(kept).to_have_value("Allergic to peanuts")
    await kept.fill("Allergic to nuts")
    await save.click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_text("Allergic to nuts")).to_be_visible()
    [slot] = (await studio.client.get(f"/v1/souls/{soul_id}/slots")).json()
    assert (slot["n"], slot["content"]) == (0, "Allergic to nuts")
    await confirm(page, "Empty slot 0")
    await expect(page.get_by_text("Allergic to nuts")).to_have_count(0)
    await expect(page.locator("main").locator("ul:focus")).to_have_count(1)
    assert (await studio.client.get(f"/v1/souls/{soul_id}/slots")).json() == []


async def test_facts_show_their_words_and_their_past_and_are_corrected_and_deleted(open_studio):
    studio = await open_studio(lang="en")
    page = studio.page
    soul_id = await studio.soul("Iris")
    for text in ("I live in Bristol.", "we moved to Cardiff"):
        await say(studio.client, text, soul_id=soul_id)
    await settled(studio.client)
    await studio.go("memory/told")
    facts = page.get_by_role("list", name="Facts").locator("[aria-posinset]")
    await expect(facts).to_have_count(2)
    await facts.first.get_by_role("button", name="The user lives in Cardiff.", exact=True).click()
    await expect(facts.first).to_contain_text("“we moved to Cardiff”")
    await expect(facts.first).to_contain_text("lives in Bristol")
    await facts.first.get_by_role("button", name=re.compile("^Correct")).click()
    await facts.first.get_by_role("textbox").fill("They live near Cardiff.")
    await facts.first.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Correct “They live near Cardiff.”")).to_be_visible()
    await page.get_by_role("combobox", name="Which facts").click()
    await page.get_by_role("option", name="Holding now").click()
    await expect(facts).to_have_count(1)
    await confirm(page, "Delete “They live near Cardiff.”")
    await expect(facts).to_have_text([re.compile("lives in Bristol")])  # what it had superseded holds again


async def test_plans_are_shown_with_their_day_and_called_off(open_studio):
    studio = await open_studio(lang="en")
    page = studio.page
    soul_id = await studio.soul("Iris")
    await say(studio.client, "my driving test is tomorrow, wish me luck", soul_id=soul_id)
    [plan] = (await studio.client.get(f"/v1/souls/{soul_id}/plans")).json()
    await studio.go("memory/plans")
    row = page.get_by_role("listitem").filter(has_text="driving test")
    await expect(row).to_contain_text("open")
    day = date.fromisoformat(plan["local_due"][:10])
    await expect(row).to_contain_text(f"{day:%b} {day.day}, {day.year} ·")  # a day, and not its first minute
    await row.get_by_role("button", name=re.compile("^Call off")).click()
    await expect(row).to_contain_text("called off")
    [plan] = (await studio.client.get(f"/v1/souls/{soul_id}/plans", params={"status": "cancelled"})).json()
    assert plan["content"] == "my driving test"

"""A prompt is written: copied, put in order, tried out before it is saved, saved, and really sent to the model."""

import re

from playwright.async_api import expect

RULE = "Never mention the weather unless asked."
SENTENCE = "Good morning, what are we up to today?"


async def copied_template(studio, name):
    """Its own copy of the first shipped template, opened."""
    shipped = (await studio.client.get("/v1/templates")).json()[0]
    own = {"id": "mine", "name": name, "modules": shipped["modules"]}
    made = await studio.client.post("/v1/templates", json=own)
    assert made.status_code == 201, made.text
    await studio.go("prompt-templates/mine")


async def modules(page):
    """Their names in the order of the list."""
    handles = await page.get_by_role("button", name=re.compile("^Move ")).all()
    return [(await handle.get_attribute("aria-label")).removeprefix("Move ") for handle in handles]


def system_text(page):
    return page.get_by_role("region", name="The prompt").locator("[data-role=system] > p")


async def drag_below(page, name, other):
    """With the mouse, by its handle, to the place below another module."""
    handle, target = [page.get_by_role("button", name=f"Move {one}", exact=True) for one in (name, other)]
    await handle.scroll_into_view_if_needed()
    start, end = await handle.bounding_box(), await target.bounding_box()
    await page.mouse.move(start["x"] + 8, start["y"] + 8)
    await page.mouse.down()
    await page.mouse.move(start["x"] + 8, start["y"] - 20, steps=4)
    await page.mouse.move(end["x"] + 8, end["y"] + end["height"] + 12, steps=12)
    await page.mouse.up()


async def test_a_copy_is_edited_previewed_before_it_is_saved_and_then_sent_to_the_model_word_by_word(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub", height=1600)
    studio.expected += ["422 "]  # of the misspelt variable
    page = studio.page
    await studio.soul("Pip", character_id="alserqi")
    await studio.go("prompt-templates")
    await page.get_by_role("region", name="Companion").get_by_role("button", name="Copy").click()
    await expect(page.get_by_role("textbox", name="Name of the template")).to_have_value("Companion copy")
    prompt = page.get_by_role("region", name="The prompt")
    await expect(prompt).to_contain_text("You are Pip.")
    await page.get_by_role("textbox", name="Somebody says").fill(SENTENCE)

    await page.get_by_role("button", name="Add a module to: Persona").click()
    await page.get_by_role("textbox", name="Name of the module").fill("House rules")
    await page.get_by_role("textbox", name="Text").fill(RULE)
    await expect(prompt).to_contain_text(f"---House rules---\n{RULE}")
    await page.get_by_role("button", name="House rules", exact=False).filter(has_text=RULE).click()
    await drag_below(page, "House rules", "Voice")
    assert (await modules(page))[:3] == ["Voice", "House rules", "Soul"]

    handle = page.get_by_role("button", name="Move House rules")
    for key, told in (("Space", "is over House rules"), ("ArrowDown", "is over Soul"), ("Space", "was put at Soul")):
        await handle.press(key)
        await expect(page.get_by_role("status").filter(has_text=f"House rules {told}.")).to_have_count(1)
    await expect(handle).to_be_focused()
    order = await modules(page)
    assert order[:3] == ["Voice", "Soul", "House rules"]
    await expect(prompt).to_contain_text("---Personality---")
    await page.get_by_role("switch", name="Personality: in the prompt").press("Space")
    await expect(prompt).not_to_contain_text("---Personality---")
    text = await prompt.inner_text()
    assert text.index("---Voice---") < text.index("---House rules---") < text.index("---Base Identity")

    await page.get_by_role("button", expanded=False).filter(has_text=RULE).click()
    words = page.get_by_role("textbox", name="Text")
    await words.fill(f"{RULE}\n\nYou are {{{{soul_nme}}}}.")
    row = page.get_by_role("listitem").filter(has=handle)
    await expect(row.get_by_role("alert")).to_contain_text("there is no variable soul_nme")
    await expect(prompt.get_by_role("alert")).to_contain_text("House rules: ")
    await expect(prompt).to_contain_text("This is the last preview without mistakes.")
    await expect(prompt).to_contain_text(RULE)
    await words.fill(f"{RULE}\n\nYou are ")
    await words.press("End")
    await words.press_sequentially("{{so")
    await expect(page.get_by_role("listbox", name="Variables").get_by_role("option").first).to_contain_text("soul_name")
    await words.press("Enter")
    await expect(words).to_have_value(f"{RULE}\n\nYou are {{{{soul_name}}}}")
    await expect(prompt).to_contain_text(f"{RULE}\n\nYou are Pip")
    await expect(row.get_by_role("alert")).to_have_count(0)

    [stored] = [one for one in (await studio.client.get("/v1/templates")).json() if not one["shipped"]]
    assert "House rules" not in str(stored), "nothing is saved yet"
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("The template is saved.")).to_be_visible()
    await expect(page.get_by_test_id("unsaved")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("switch", name="Personality: in the prompt")).not_to_be_checked()
    assert await modules(page) == order
    await page.get_by_role("textbox", name="Somebody says").fill(SENTENCE)
    await expect(prompt).to_contain_text(SENTENCE)
    shown = " ".join(await system_text(page).all_inner_texts())

    await studio.go("chat")
    await page.get_by_role("button", name="New conversation").click()
    dialog = page.get_by_role("dialog", name="New conversation")
    await dialog.get_by_role("combobox", name="Prompt template").click()
    await page.get_by_role("option", name="Companion copy").click()
    await dialog.get_by_role("radio", name="I speak first").check()
    await dialog.get_by_role("button", name="Begin").click()
    await expect(dialog).to_have_count(0)
    await studio.say(SENTENCE)
    await expect(page.get_by_role("log").locator("time")).to_have_count(2)
    system = stub.requests[-1].body["messages"][0]["content"]
    assert RULE in system
    assert system.split() == shown.split()


async def test_no_way_out_loses_an_unsaved_prompt_unasked(open_studio):
    studio = await open_studio("chat", lang="zh")
    page = studio.page
    await studio.soul("小满")
    await copied_template(studio, "我的模板")
    await page.get_by_role("navigation", name="页面").get_by_role("link", name="图").click()
    await page.get_by_role("navigation", name="页面").get_by_role("link", name="提示词模板").click()
    await page.get_by_role("link", name="我的模板").click()
    await expect(page.get_by_role("button", name="保存")).to_be_visible()  # a shipped one, shown before, has none
    here = page.url
    module = page.get_by_role("button", expanded=False).filter(has_text="You are")
    await module.click()
    words = page.get_by_role("textbox", name="文本")
    await words.fill("说话像刚睡醒的人。\n\n你是{{soul_name}}。")
    question = page.get_by_role("dialog", name="有未保存的修改")

    async def stays(leave):
        await leave
        await expect(question.get_by_role("button", name="留下")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(question).to_have_count(0)
        assert page.url == here
        await expect(words).to_have_value("说话像刚睡醒的人。\n\n你是{{soul_name}}。")

    await stays(page.evaluate("history.back()"))
    await stays(page.get_by_role("navigation", name="页面").get_by_role("link", name="对话").click())
    await stays(page.evaluate("history.back()"))
    await page.keyboard.press("Control+k")
    await page.get_by_role("textbox", name="快速前往").fill("对话")
    await page.keyboard.press("Enter")
    await question.get_by_role("button", name="不保存，离开").click()
    await expect(page).to_have_title(re.compile("^对话"))
    await page.go_back()
    await expect(page).to_have_url(here)
    await expect(page.get_by_role("button", name="保存")).to_be_disabled()


PASTED = "{{char}} talks. {{random::calm,tense}} {{time}} It is {{roll:d6}}."


async def test_on_a_phone_what_others_did_meanwhile_is_shown_and_nothing_written_is_lost(open_studio):
    studio = await open_studio(width=360, height=400)  # what an open keyboard leaves of a phone
    studio.expected += ["422 ", "409 ", "404 "]
    page = studio.page
    await studio.soul("Pip")
    await copied_template(studio, "Shared")
    viewport = await page.locator("meta[name=viewport]").get_attribute("content")
    assert "interactive-widget=resizes-content" in viewport, "a keyboard makes the page smaller and does not cover it"

    await page.get_by_role("button", name="Add a module to: Abilities and memories").click()
    await page.get_by_role("textbox", name="Name of the module").fill("House rules")
    words = page.get_by_role("textbox", name="Text")
    await words.fill(PASTED)
    left = page.get_by_test_id("leftovers")
    for macro in ("{{char}}", "{{random::calm,tense}}", "{{time}}", "{{roll:d6}}"):
        named = left.get_by_role("listitem").filter(has_text=macro)
        await expect(named).to_contain_text(
            "in House rules is no variable of soulgraph, and a text with it cannot be saved"
        )
    await expect(left.get_by_role("listitem").first).to_contain_text("Here that is {{soul_name}}.")
    await expect(page.get_by_text("{{roll:d6}} is no variable of soulgraph")).to_be_visible()  # beside its text
    await page.get_by_role("radiogroup", name="What the text is").get_by_text("As it is").click()
    await words.fill("Mind {{random::calm,tense}}.")
    await expect(left.get_by_role("listitem")).to_have_count(1)
    await expect(left).to_contain_text(
        "{{random::calm,tense}} in House rules stays as it stands: the model reads it so."
    )
    await page.get_by_role("tab", name="Preview").click()
    await expect(page.get_by_role("region", name="The prompt")).to_contain_text("Mind {{random::calm,tense}}.")
    await page.get_by_role("tab", name="Edit").click()
    await words.focus()
    save = page.get_by_role("button", name="Save", exact=True)
    await expect(words).to_be_in_viewport()
    await expect(save).to_be_in_viewport()
    await save.click(trial=True)

    theirs = (await studio.client.get("/v1/templates/mine")).json()
    first = theirs["modules"][0]
    changed = [{**first, "template": "Be brief."}, *theirs["modules"][1:]]
    put = await studio.client.put("/v1/templates/mine", json={"name": "Shared", "modules": changed})
    assert put.is_success, put.text
    await save.click()
    dialog = page.get_by_role("dialog", name="Changed meanwhile")
    told = dialog.get_by_role("listitem")
    await expect(told).to_have_count(2)
    await expect(told.filter(has_text=f"{first['name']} · Text")).to_contain_text("changed by them")
    await expect(told.filter(has_text=f"{first['name']} · Text")).to_contain_text("Be brief.")
    await expect(told.filter(has_text="House rules · Module")).to_contain_text("Mind {{random::calm,tense}}.")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await studio.serious_findings() == []
    await dialog.get_by_role("button", name="Keep mine").click()
    await expect(page.get_by_text("The template is saved.")).to_be_visible()
    kept = str((await studio.client.get("/v1/templates/mine")).json())
    assert "Mind {{random" in kept
    assert "Be brief." not in kept

    await words.fill("Mind the gap.")
    assert (await studio.client.delete("/v1/templates/mine")).is_success
    await save.click()
    gone = page.get_by_role("dialog", name="Deleted meanwhile")
    await expect(gone).to_contain_text("Somebody else deleted this template while you were editing it.")
    await gone.get_by_role("button", name="Close").click()
    await expect(words).to_have_value("Mind the gap.")
    await save.click()
    await gone.get_by_role("button", name="Save as a new one").click()
    await expect(gone).to_have_count(0)
    await expect(page).not_to_have_url(re.compile("/mine$"))
    [own] = [one for one in (await studio.client.get("/v1/templates")).json() if not one["shipped"]]
    assert (own["name"], "Mind the gap." in str(own)) == ("Shared", True)
    await expect(page.get_by_role("textbox", name="Name of the template")).to_have_value("Shared")
    await expect(save).to_be_disabled()

"""Cards, lorebooks and pictures that people bring along: dropped anywhere, told what became of them, and lived by."""

import base64
import json
import re

from playwright.async_api import expect

from soulgraph.tests.library.cards.programs import cases, file_of
from soulgraph.tests.library.cards.samples import V3, charx, png, text_chunk
from soulgraph.tests.library.test_images import picture
from soulgraph.tests.live import transcript

GREETING = "The lamp is lit, the user. Sit."
INSIDE = {"type": "emotion", "uri": "data:image/png;base64,AAAA", "name": "joy", "ext": "png"}
CARD = {**V3, "data": {**V3["data"], "assets": [*V3["data"]["assets"], INSIDE]}}
FILE = png(text_chunk(b"ccv3", CARD))

DRAG = """([target, name, type, content, ...events]) => {
  const files = new DataTransfer();
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  files.items.add(new File([bytes], name, { type }));
  const wanted = { dataTransfer: files, bubbles: true, cancelable: true };
  return events.map((event) => !document.querySelector(target).dispatchEvent(new DragEvent(event, wanted)));
}"""


async def drag(page, content, *events, name="lumen.png", kind="image/png", target="main"):
    """These events of a file that is dragged over the page; whether somebody took each."""
    content = base64.b64encode(content).decode()
    return await page.evaluate(DRAG, [target, name, kind, content, *events])


async def drop(page, content, **file):
    taken = await drag(page, content, "dragenter", "dragover", "drop", **file)
    assert taken[-1], "the browser would have opened the file in place of the studio"


async def choose(page, field, name, content, kind="image/png"):
    async with page.expect_file_chooser() as chosen:
        await page.get_by_role("button", name=field, exact=True).click()
    await (await chosen.value).set_files({"name": name, "mimeType": kind, "buffer": content})


async def test_a_card_dropped_on_the_talk_becomes_a_soul_that_speaks_first_and_knows_its_lore(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub")
    page = studio.page
    await studio.soul("Pip")
    await studio.go("chat")
    box = page.get_by_role("textbox", name="Say something to Pip")
    await box.fill("half a thought")

    hint = page.get_by_text(re.compile("^Drop "))
    await drag(page, FILE, "dragenter", "dragover", target="textarea")
    await expect(hint).to_have_count(1)
    await drag(page, FILE, "dragleave")
    await expect(hint).to_have_count(0)

    await drop(page, FILE, target="textarea")
    dialog = page.get_by_role("dialog", name="Import: lumen.png")
    await expect(dialog.get_by_role("status")).to_have_text("Lumen is in the library.")
    await expect(dialog.get_by_test_id("notes").get_by_role("listitem")).to_contain_text(
        ["kept for exports, without effect here", "data.assets.1 (emotion, joy): the picture is not kept"]
    )
    await expect(hint).to_have_count(0)
    await expect(box).to_have_value("half a thought")

    await dialog.get_by_role("combobox", name="MBTI type").click()
    await page.get_by_role("option", name="ENFP").click()
    await dialog.get_by_role("button", name="Make it and talk").click()
    await expect(page.get_by_role("heading", level=1, name="Lumen")).to_be_visible()
    await expect(page.get_by_role("log")).to_contain_text(GREETING)
    await studio.say("Is there a ship near the reef?")
    await expect(page.get_by_role("log").locator("time")).to_have_count(3)
    [session] = (await studio.client.get("/v1/sessions")).json()
    assert await transcript(studio.client, session["session_id"]) == [
        ("assistant", GREETING),
        ("user", "Is there a ship near the reef?"),
        ("assistant", "I hear you."),
    ]
    assert "The reef took three ships of Lu's." in str(stub.requests[-1].body)


async def test_files_that_are_no_cards_are_refused_in_words_and_leave_nothing_behind(open_studio):
    studio = await open_studio("library", lang="zh")
    studio.expected += ["422 "]
    page = studio.page
    await expect(page.get_by_role("link", name="小满")).to_be_visible()
    before = (await studio.client.get("/v1/characters")).json()
    broken = {
        "photo.png": picture("PNG"),
        "cut.png": FILE[: len(FILE) // 2],
        "card.png": b"%PDF-1.7 and so on",
        "empty.json": b"",
    }
    for name, content in broken.items():
        await drop(page, content, name=name)
        dialog = page.get_by_role("dialog", name=f"导入：{name}")
        await expect(dialog.get_by_role("alert")).to_contain_text("无法导入")
        assert len(await dialog.get_by_role("alert").inner_text()) > 20, "a reason"
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
    assert (await studio.client.get("/v1/characters")).json() == before

    await drop(page, FILE, name="林晚.png")
    dialog = page.get_by_role("dialog", name="导入：林晚.png")
    await expect(dialog.get_by_role("status")).to_have_text("Lumen 已加入素材库。")
    await dialog.get_by_role("button", name="在素材库中打开").click()
    await expect(page.get_by_role("heading", level=2, name="Lumen")).to_be_visible()
    await page.get_by_role("tab", name="设定").click()
    await expect(page.get_by_text(re.compile("^2 条 · ≈ "))).to_be_visible()
    await expect(page.get_by_role("textbox", name="开场白 1")).to_have_count(0)
    await page.get_by_role("button", name="移动 the reef").press("ArrowDown")
    await expect(page.get_by_role("status").filter(has_text="the reef 已放到第 2 位（共 2 条）。")).to_have_count(1)
    await page.get_by_role("button", name="移动 the reef").press("ArrowUp")
    await page.get_by_role("button", name="移动 the reef").press("ArrowDown")
    await expect(page.get_by_role("table").get_by_role("row").last).to_contain_text("the reef · reef, 暗礁")
    await page.get_by_role("textbox", name="在标题、关键词和正文中搜索").fill("written in spring")
    await expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)  # with the head
    [lumen] = [one for one in (await studio.client.get("/v1/characters")).json() if one["name"] == "Lumen"]
    assert [entry["id"] for entry in lumen["lore"]] == ["card.2", "card.1"], "the last of the quick steps counts"
    await page.get_by_role("tab", name="详情").click()
    await expect(page.get_by_role("textbox", name="开场白 1")).to_have_value(GREETING)
    await expect(page.get_by_role("textbox", name="开场白 2")).to_have_value("Fog today, the user.")


async def test_a_transcript_dropped_on_the_talk_becomes_a_conversation_and_no_card(open_studio):
    studio = await open_studio()
    page = studio.page
    await studio.soul("Pip")
    await studio.go("chat")
    await expect(page.get_by_role("textbox", name="Say something to Pip")).to_be_visible()
    said = {"user": "Do you like rain?", "assistant": "On tin roofs."}
    lines = [{"role": role, "content": words, "timestamp": "2026-11-16T04:45:14Z"} for role, words in said.items()]
    await drop(page, "\n".join(map(json.dumps, lines)).encode(), name="rain.jsonl", kind="", target="textarea")
    await expect(page.get_by_role("log")).to_contain_text("On tin roofs.")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_pictures_are_uploaded_shown_in_the_library_and_follow_the_mood_in_the_chat(open_studio):
    studio = await open_studio()
    page = studio.page
    character = (await studio.client.post("/v1/characters", json={"name": "Lumen", "mbti_type": "ENFP"})).json()
    await studio.go(f"library/characters/{character['id']}")
    await page.get_by_role("tab", name="Images").click()
    await choose(page, "Upload: Avatar", "me.jpg", picture("JPEG", (60, 40)), "image/jpeg")
    await expect(page.get_by_role("img", name="Lumen: Avatar")).to_be_visible()
    await choose(page, "Upload: Calm", "calm.png", picture("PNG", (30, 30)))
    await drop(page, picture("WEBP", (20, 20)), name="joy.webp", kind="image/webp", target="[aria-label='Upload: Joy']")
    for name in ("Calm", "Joy"):
        shown = page.get_by_role("img", name=f"Lumen: {name}")
        await expect(shown).to_be_visible()
        assert await shown.evaluate("(image) => image.decode().then(() => image.naturalWidth)") in (20, 30)
    await expect(page.get_by_role("tab", name="Images · 3")).to_be_visible()
    listed = (await studio.client.get(f"/v1/characters/{character['id']}/images")).json()
    assert sorted((one["name"], one["content_type"]) for one in listed) == [
        ("avatar", "image/jpeg"),
        ("calm", "image/png"),
        ("joy", "image/webp"),
    ]
    await choose(page, "Upload: Anger", "film.gif", b"GIF89a", "image/gif")
    await expect(page.get_by_text("film.gif is no PNG, JPEG or WebP picture.")).to_be_visible()

    await studio.soul("Lumen", mbti_type="ENFP", character_id=character["id"])
    await studio.go("chat")
    mood = page.get_by_test_id("mood")
    await expect(mood.get_by_role("img", name="A face that looks calm")).to_have_attribute("data-expression", "calm")
    await studio.say("I passed the exam, and it is thanks to you! I am so happy!")
    await expect(mood.locator("img[data-expression=joy]")).to_be_visible()


async def test_a_type_is_suggested_from_the_text_shown_with_reasons_and_can_be_changed(open_studio, tmp_path):
    studio = await open_studio("library")
    page = studio.page
    await expect(page.get_by_role("link", name="小满")).to_be_visible()
    [case] = [one for one in cases("open") if one["name"] == "text-generation-webui, a YAML of today"]
    card = file_of(case).decode().replace("a young engineer", "a quiet, shy and logical planner, a young engineer")
    await drop(page, card.encode(), name="chi.yaml", kind="application/yaml")
    dialog = page.get_by_role("dialog", name="Import: chi.yaml")
    await expect(dialog.get_by_role("status")).to_have_text("Chi Yamamoto is in the library.")
    reasons = dialog.get_by_test_id("type-reasons")
    await expect(reasons).to_contain_text("is suggested by the text")
    await expect(reasons.get_by_role("listitem").first).to_contain_text("I: ")
    await expect(reasons).to_contain_text("shy")
    field = dialog.get_by_role("combobox", name="MBTI type")
    await expect(field).to_have_value(re.compile("^I.TJ$"))
    await page.screenshot(path=tmp_path / "suggested.png")
    assert await studio.serious_findings() == []
    await field.click()
    await page.get_by_role("option", name="ESFP").click()
    await expect(field).to_have_value("ESFP")
    await dialog.get_by_role("button", name="Make it and talk").click()
    await expect(page.get_by_role("heading", level=1, name="Chi Yamamoto")).to_be_visible()
    [soul] = (await studio.client.get("/v1/souls")).json()
    assert soul["mbti_type"] == "ESFP"


async def test_an_expression_pack_gives_a_character_its_faces_and_tells_what_it_did_not_take(open_studio, tmp_path):
    studio = await open_studio()
    page = studio.page
    character = (await studio.client.post("/v1/characters", json={"name": "Lumen"})).json()
    await studio.go(f"library/characters/{character['id']}")
    await page.get_by_role("tab", name="Images").click()
    faces = [("Lumen/joy.png", picture("PNG")), ("Lumen/grief.webp", picture("WEBP")), ("Lumen/outfit.png", b"?")]
    await choose(page, "Import an expression pack (zip)", "lumen.zip", charx(faces), "application/zip")
    await expect(page.get_by_test_id("notes")).to_contain_text("Lumen/grief.webp: kept as sadness")
    await expect(page.get_by_test_id("notes")).to_contain_text("Lumen/outfit.png: not kept")
    for name in ("Joy", "Sadness"):
        await expect(page.get_by_role("img", name=f"Lumen: {name}")).to_be_visible()
    await expect(page.get_by_role("tab", name="Images · 2")).to_be_visible()
    await page.screenshot(path=tmp_path / "pack.png")

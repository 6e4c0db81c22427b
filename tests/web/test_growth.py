"""Growth that can be looked at and taken back: update memory, compare versions, restore one."""

import json
import re

from playwright.async_api import expect

from soulgraph.tests.live import say
from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.web.talk import opened_talk

UPDATES = "EvolvedPersona"  # the name of the schema


def grown_to(text, **more):
    """What the model answers to update-memory."""
    return Reply(text=json.dumps({"beliefs": "", "behaviour": "", "relationship": text, "feeling": ""}), **more)


async def persona(client, session_id):
    return (await client.get(f"/v1/sessions/{session_id}")).json()["character_snapshot"]


def version(page, name):
    return page.get_by_role("listitem").filter(has=page.get_by_text(name, exact=True))


async def test_memory_is_updated_versions_are_compared_and_an_old_one_is_restored(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub")
    soul_id = await studio.soul("Ines", character_id="alserqi")
    for words in ("You can trust me with the wheel.", "I kept your secret from the crew."):
        session_id = (await say(studio.client, words, soul_id=soul_id))["session_id"]
    base = (await persona(studio.client, session_id))["base_persona"]
    await studio.go(f"chat/{session_id}")
    page = studio.page

    stub.when(UPDATES, grown_to("Trusts nobody but one sailor.", delay_s=0.5))
    await page.get_by_role("button", name="🧠 Update memory").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("It becomes a new version; older ones can be restored.")
    await dialog.get_by_role("button", name="Update memory").dblclick()
    await expect(dialog.get_by_role("status")).to_contain_text("The soul looks back at the conversation…")
    await expect(dialog).to_contain_text("Version 1 of who it has become")
    await expect(dialog).to_contain_text("Trusts nobody but one sailor.")
    versions = (await studio.client.get(f"/v1/sessions/{session_id}/persona-versions")).json()
    assert len(versions) == 1, "two clicks are one update"

    await dialog.get_by_role("link", name="All versions").click()
    await expect(page).to_have_url(re.compile("/soul/persona"))
    await expect(version(page, "Version 1")).to_contain_text("in force")
    await expect(version(page, "Version 1")).to_contain_text("memory update")
    stub.when(UPDATES, grown_to("Trusts the whole crew."))
    await page.get_by_role("button", name="🧠 Update memory now").click()
    await expect(version(page, "Version 2")).to_contain_text("in force")

    diff = page.get_by_role("region", name="What is different")
    await expect(diff.get_by_role("deletion").first).to_be_visible()
    await expect(diff.get_by_role("insertion").first).to_be_visible()
    gone = "".join(await diff.get_by_role("deletion").all_inner_texts())
    came = "".join(await diff.get_by_role("insertion").all_inner_texts())
    assert "sailor" in gone
    assert "crew" in came
    curve = page.get_by_role("region", name="How much each version changed")
    await curve.get_by_text("The numbers").click()
    numbers = page.get_by_role("table", name="The change of each version by dimension")
    await expect(numbers.get_by_role("cell", name=re.compile(r"^v\d$"))).to_have_text(["v0", "v1", "v2"])

    await version(page, "Version 1").get_by_role("button", name="Restore version 1").click()
    await page.get_by_role("button", name="Yes").click()
    await expect(version(page, "Version 3")).to_contain_text("in force")
    await expect(version(page, "Version 3")).to_contain_text("restored from 1")
    await expect(version(page, "Version 2")).to_be_visible()
    now = await persona(studio.client, session_id)
    assert (now["evolved_persona"], now["base_persona"]) == ("Relationship: Trusts nobody but one sailor.", base)

    await page.reload()
    await expect(version(page, "Version 3")).to_contain_text("in force")
    await say(studio.client, "Where are we going?", session_id=session_id)
    prompt = next(body for request in stub.requests if "Where are we going?" in (body := request.raw.decode()))
    assert "Trusts nobody but one sailor." in prompt
    assert "Trusts the whole crew." not in prompt


async def test_a_conversation_goes_on_in_one_new_one_that_leads_back_to_it(open_studio):
    studio, session_id = await opened_talk(open_studio)
    page, log = studio.page, studio.page.get_by_role("log")
    await studio.client.put(f"/v1/sessions/{session_id}/persona-state", json={"mode": "idol"})
    await studio.say("The reef was clear in spring.")
    await expect(log.locator("time")).to_have_count(2)
    await page.get_by_role("button", name="Summarise → continue").click()
    await page.get_by_role("dialog").get_by_role("button", name="Summarise → continue").dblclick()
    await expect(page).not_to_have_url(re.compile(session_id))
    sessions = (await studio.client.get("/v1/sessions")).json()
    [follower] = [one for one in sessions if one["session_id"] != session_id]
    assert follower["continued_from"] == session_id
    assert page.url.endswith(follower["session_id"])
    await expect(page.get_by_role("button", name="Mode: idol")).to_be_visible()
    await page.get_by_role("button", name="Summary").click()
    await expect(page.get_by_role("region", name="What it knows of the conversation before")).to_contain_text("reef")

    await page.go_back()
    await expect(log).to_contain_text("The reef was clear in spring.")
    await expect(page.get_by_text("Continues")).to_have_count(0)
    await page.go_forward()
    origin = page.get_by_text("Continues").get_by_role("link", name="The reef was clear in spring.")
    await origin.click()
    await expect(page).to_have_url(re.compile(session_id))

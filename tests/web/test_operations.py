"""Operations in the page: counters, dead jobs, the doctor, settings, keys."""

import re

from playwright.async_api import expect

from soulgraph.tests.e2e.afterglow import EXTRACTS, REFLECTS, attentive, reflection, settled
from soulgraph.tests.live import say
from soulgraph.tests.stub_openai import Reply

SECRET = "sk-never-to-be-shown"


async def test_a_job_that_died_in_the_night_is_read_and_done_in_the_morning(open_studio, stub, monkeypatch):
    monkeypatch.setattr("soulgraph.runtime.afterglow_workers.MAX_ATTEMPTS", 1)
    stub.when(EXTRACTS, Reply(text="no"))
    stub.when(REFLECTS, reflection())
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub", llm_api_key=SECRET)
    page = studio.page
    soul_id = await studio.soul("Pip")
    for n in range(5):
        await say(studio.client, f"about topic 01, round {n}", soul_id=soul_id, session_id="night")
    await settled(studio.client)
    await studio.go("operations")
    await expect(page.get_by_role("table", name="The server")).to_contain_text("sqlite")
    counters = page.get_by_role("table", name="Counters")

    def figure(name):
        return counters.get_by_role("row", name=name).get_by_role("cell")

    await expect(figure("Turns answered")).to_have_text("5")
    await expect(figure("Dead jobs")).to_have_text("1")
    await page.get_by_role("tab", name="Jobs").click()
    row = page.get_by_role("table", name="Jobs").get_by_role("row", name="dead")
    await expect(row).to_contain_text("unusable twice")
    await expect(row.get_by_role("link", name="Its conversation")).to_have_attribute("href", re.compile("/chat/night$"))

    attentive(stub)
    await row.get_by_role("button", name="Try again").dblclick()
    await expect(page.get_by_text("All is well: there are no such jobs.")).to_be_visible()
    await settled(studio.client)
    assert len((await studio.client.get("/v1/events")).json()) == 1
    await page.get_by_role("tab", name="Overview").click()
    await expect(figure("Dead jobs")).to_have_text("0")


async def test_the_doctor_names_what_is_out_of_reach_and_settings_keep_their_secrets(open_studio, stub):
    url = stub.base_url
    studio = await open_studio("operations/doctor", llm_base_url=url, llm_model="stub-model", llm_api_key=SECRET)
    page = studio.page
    findings = page.get_by_role("table", name="Doctor")
    model = findings.get_by_role("row").filter(has_text=url)
    await expect(model.filter(has_text="ok").first).to_be_visible()
    await stub.__aexit__()
    await page.get_by_role("button", name="Examine").click()
    await expect(model.filter(has_text="problem").first).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="to look at")).to_be_visible()
    assert SECRET not in await page.content()

    await page.get_by_role("tab", name="Settings").click()
    await page.get_by_role("textbox", name="Filter").fill("llm_api_key")
    settings = page.get_by_role("table", name="Settings").get_by_role("row")
    await expect(settings.nth(1)).to_contain_text("SOULGRAPH_LLM_API_KEY")
    await expect(settings.nth(1)).to_contain_text("********")
    assert SECRET not in await page.content()


async def test_keys_are_shown_once_revoked_and_the_last_owner_must_insist(open_studio):
    studio = await open_studio("operations/keys")
    studio.expected += ["409 ", "401 "]
    page = studio.page
    await make_key(page, "Admin")
    admin = await shown_once(page)
    await make_key(page, "Mia's tablet")
    mia = await shown_once(page)
    keys = page.get_by_role("table", name="Keys")
    await expect(keys.get_by_role("row", name="Mia's tablet")).to_contain_text("chat")
    assert (await me(studio, mia))["name"] == "Mia's tablet"
    assert admin not in await page.content()
    assert mia not in await page.content()

    await revoke(page, "Mia's tablet")
    await expect(keys.get_by_role("row", name="Mia's tablet")).to_contain_text("revoked")
    assert (await me(studio, mia))["code"] == "unauthorized"
    await revoke(page, "Admin")
    await expect(page.get_by_role("button", name="Revoke Admin")).to_have_text("Revoke!")
    assert (await me(studio, admin))["name"] == "Admin"
    await page.get_by_role("button", name="Revoke Admin").click()
    await expect(page.get_by_text("It is the last owner key")).to_be_visible()
    await page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    await expect(page.get_by_role("heading", name="This server asks for a key")).to_be_visible()


async def make_key(page, name):
    await page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    await dialog.get_by_role("textbox", name="Name").fill(name)
    await dialog.get_by_role("button", name="Create").dblclick()


async def shown_once(page):
    dialog = page.get_by_role("dialog", name="The new key")
    secret = await dialog.get_by_test_id("secret").inner_text()
    await dialog.get_by_role("button", name="Close").last.click()
    await expect(dialog).to_have_count(0)
    return secret


async def revoke(page, name):
    await page.get_by_role("button", name=f"Revoke {name}").click()
    await page.get_by_role("dialog").get_by_role("button", name="Yes").click()


async def me(studio, key):
    return (await studio.client.get("/v1/me", headers={"Authorization": f"Bearer {key}"})).json()

"""A server with keys: the door, and a guest who may only chat."""

import re

import pytest_asyncio
from playwright.async_api import expect

from soulgraph.tests.e2e import keyring
from soulgraph.tests.live import new_soul, say, transcript
from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.web.talk import box_of

# What an owner is offered on each page, and a guest is not.
FOR_OWNERS = {
    "chat/hers": [
        ("button", "🧠 Update memory"),
        ("button", "Summarise → continue"),
        ("button", "New soul"),
        ("region", "Robot"),
    ],
    "soul": [("button", "What to do with this soul"), ("tab", "Inner life"), ("tab", "Usage")],
    "soul/persona": [("button", "🧠 Update memory now")],
    "memory": [],
    "library": [("button", "New character"), ("button", "Import")],
    "prompt-templates": [("button", "New template"), ("button", "Copy")],
    "terminals": [("tab", "MQTT log"), ("region", "Robot")],
    "graph": [],
    "simulate": [],
    "operations": [("tab", "Keys"), ("tab", "Settings")],
}
GUEST_PAGES = ["Chat", "Soul", "Memory", "Library", "Prompt templates", "Terminals", "Graph", "Simulate"]


@pytest_asyncio.fixture(loop_scope="session")
async def home(tmp_path):
    async with keyring.home(tmp_path) as clients:
        yield clients


def key_of(client):
    return client.headers["Authorization"].removeprefix("Bearer ")


async def settled(page):
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await page.wait_for_load_state("networkidle")


async def test_a_guest_who_may_chat_is_offered_what_is_allowed_and_chats(home, open_studio):
    owner, ann, bob, soul_id = home
    await say(ann, "Hi, it's Ann.", soul_id=soul_id, session_id="hers")
    his = (await say(bob, "The treasure is under the stairs.", soul_id=soul_id))["session_id"]
    host = await open_studio(client=owner, key=key_of(owner))
    for path, controls in FOR_OWNERS.items():
        if controls:
            await host.go(path)
        for role, name in controls:
            await expect(host.page.get_by_role(role, name=name, exact=True).first).to_be_visible()

    guest = await open_studio("chat/hers", client=owner, key=key_of(ann))
    page = guest.page
    await guest.say("Could you switch on the lamp?")
    await expect(page.get_by_role("log").locator("time")).to_have_count(4)
    await expect(page.get_by_test_id("mood").get_by_test_id("gate")).to_be_visible()
    assert len(await transcript(ann, "hers")) == 4
    for path, controls in FOR_OWNERS.items():
        await guest.go(path)
        await settled(page)
        for role, name in controls:
            assert await page.get_by_role(role, name=name, exact=True).count() == 0, (path, name)
        await expect(page.get_by_role("alert").filter(has_text="That did not work")).to_have_count(0)
    rail = page.get_by_role("navigation", name="Pages").get_by_role("link")
    assert [await link.get_attribute("aria-label") for link in await rail.all()] == GUEST_PAGES

    await expect(page.get_by_text("This page is for owners of the whole server.")).to_be_visible()
    await page.get_by_role("link", name="To the chat").click()
    await expect(page.get_by_role("log")).to_contain_text("Hi, it's Ann.")
    guest.expected.append("404")  # the server says no more of a stranger's conversation
    await guest.go(f"chat/{his}")
    await expect(page.get_by_role("heading", name="There is no such conversation")).to_be_visible()
    assert "treasure" not in await page.content()
    await page.get_by_role("link", name="To the chat").click()
    await expect(page.get_by_role("log")).to_contain_text("Hi, it's Ann.")


async def test_the_door_opens_to_the_right_key_only_and_leads_where_one_wanted_to_go(home, open_studio):
    owner, ann, _, soul_id = home
    session_id = (await say(ann, "Hi, it's Ann.", soul_id=soul_id))["session_id"]
    await say(ann, "Something else", soul_id=soul_id, session_id="newer")
    secret = key_of(ann)
    studio = await open_studio(f"chat/{session_id}", client=owner)
    studio.expected.append("401")
    page = studio.page
    field = page.get_by_label("API key")
    await expect(page.get_by_role("heading", name="This server asks for a key")).to_be_visible()
    await expect(field).to_have_attribute("type", "password")
    wrong = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    for _ in range(3):
        await field.fill(wrong)
        await field.press("Enter")
        await expect(page.get_by_text("The server does not know this key, or it was revoked.")).to_be_visible()
    assert wrong not in await kept(page)

    await field.fill(f" {secret} ")
    await field.press("Enter")
    await expect(page.get_by_role("log")).to_contain_text("Hi, it's Ann.")
    await expect(page).to_have_url(f"{studio.url}/studio/chat/{session_id}")
    assert secret not in await page.evaluate("JSON.stringify(localStorage) + document.cookie + document.title")
    await page.reload()
    await expect(page.get_by_role("log")).to_contain_text("Hi, it's Ann.")

    tab = await page.context.new_page()
    await tab.goto(page.url)
    await expect(tab.get_by_label("API key")).to_be_visible()
    await tab.close()

    await box_of(page).fill("a private thought")
    await page.get_by_role("button", name="Sign out").click()
    await expect(field).to_be_visible()
    await expect(page.get_by_text("The server does not know this key")).to_have_count(0)
    await page.reload()
    await expect(field).to_be_visible()
    assert "Hi, it's Ann." not in await page.content()
    assert secret not in await kept(page)
    assert "a private thought" not in await kept(page)


async def test_a_key_that_is_revoked_in_mid_answer_is_asked_for_again_and_the_draft_stays(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub")
    owner, page = studio.client, studio.page
    soul_id = await new_soul(owner, "Pip")
    session_id = (await owner.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "ann"})).json()["session_id"]
    owner.headers.update(await keyring.made(owner, "owner", "owner"))
    keys = [await keyring.made(owner, name, "chat", user_id="ann") for name in ("tablet", "phone")]
    tablet, phone = [key["Authorization"].removeprefix("Bearer ") for key in keys]
    studio.expected += ["401", "WebSocket"]
    await page.goto("about:blank")
    await page.goto(f"{studio.url}/studio/chat/{session_id}#key={tablet}")
    stub.default = Reply(hang=True)
    box = page.get_by_role("textbox", name="Say something")
    await box.fill("Tell me a story")
    await box.press("Enter")
    await box.fill("and could you also")
    [key] = [one for one in (await owner.get("/v1/keys")).json() if one["name"] == "tablet"]
    assert (await owner.delete(f"/v1/keys/{key['key_id']}")).status_code == 204
    await expect(page.get_by_text("The server does not know this key, or it was revoked.")).to_be_visible(
        timeout=15_000
    )
    assert tablet not in await kept(page)
    await page.get_by_label("API key").fill(phone)
    await page.get_by_label("API key").press("Enter")
    await expect(box).to_have_value("and could you also")


async def kept(page):
    """What the browser keeps."""
    return await page.evaluate("JSON.stringify([localStorage, sessionStorage]) + document.cookie")


async def test_a_key_in_the_fragment_is_taken_and_leaves_no_trace_in_address_history_or_requests(home, open_studio):
    owner, ann, _, soul_id = home
    await say(ann, "Hi, it's Ann.", soul_id=soul_id)
    studio = await open_studio(client=owner)
    page, addresses, secret = studio.page, [], key_of(ann)
    studio.expected.append("401")
    page.on("request", lambda request: addresses.append(request.url))
    page.on("websocket", lambda socket: addresses.append(socket.url))
    await page.goto("about:blank")
    await page.goto(f"{studio.url}/studio/#key={secret}")
    await expect(page.get_by_role("log")).to_contain_text("Hi, it's Ann.")
    await expect(page).to_have_url(re.compile("/studio/chat/[^#]+$"))
    await page.get_by_role("link", name="Soul").click()
    await expect(page).to_have_url(re.compile("/studio/soul"))
    for _ in range(2):
        await page.go_back()
        assert secret not in page.url
    await page.goto(f"{studio.url}/studio/soul#key=sg_wrong")
    await expect(page.get_by_text("The server does not know this key, or it was revoked.")).to_be_visible()
    await expect(page).to_have_url(f"{studio.url}/studio/soul")
    sent = [address for address in addresses if "#" not in address]
    assert sent
    assert not [address for address in sent if secret in address or "sg_wrong" in address]

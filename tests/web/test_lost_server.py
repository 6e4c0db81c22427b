"""A server that is killed in the middle of a sentence and comes back: nothing is lost, and nothing is said twice."""

import re

import httpx
import pytest_asyncio
from playwright.async_api import expect

from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say, transcript
from soulgraph.tests.web.studio import eventually_emotion
from soulgraph.tests.web.talk import box_of, narrated

QUESTION = "Tell me of a lighthouse keeper who collects broken clocks"
SECOND = "are you still there?"


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path, stub):
    server = ForkedServer(data_dir=str(tmp_path), mqtt_url="none", llm_base_url=stub.base_url, llm_model="stub")
    await server.start()
    yield server
    server.kill()


async def test_a_killed_server_is_told_waited_for_and_asked_again_once(server, open_studio, stub):
    async with httpx.AsyncClient(base_url=server.url, timeout=60, verify=False) as client:
        soul_id = await new_soul(client, "Pip", mbti_type="ENFP")
        session_id = (await client.post("/v1/sessions", json={"soul_id": soul_id})).json()["session_id"]
        studio = await open_studio(f"chat/{session_id}", client=client)
        studio.expected += ["WebSocket connection to", "net::ERR_CONNECTION_", "net::ERR_EMPTY_RESPONSE"]
        page, log = studio.page, studio.page.get_by_role("log")
        clocks = "".join(f"Clock {n} had stopped at {n} o'clock. " for n in range(1, 100))
        answers = iter([narrated(clocks, chunk_delay_s=0.1), narrated("All clocks went again.")])
        stub.when(SECOND, narrated("Here I am."))
        stub.when("lighthouse keeper", lambda _: next(answers))
        await studio.say(QUESTION)
        await expect(log).to_contain_text("Clock 2 had")

        server.kill()
        banner = page.get_by_role("status").filter(has_text="The server does not answer.")
        await expect(banner).to_contain_text("The page comes back by itself.")
        await expect(log).to_contain_text("Clock 2 had")
        await expect(log).to_contain_text("The words broke off when the server went away.")
        await studio.say(SECOND)
        await expect(log).to_contain_text("Not sent yet: it goes out as soon as the server is back")
        await expect(banner).to_contain_text("2 not sent yet: kept here")
        box = box_of(page)
        await box.fill("half a thought")

        await server.start()
        await expect(banner).to_have_count(0, timeout=30_000)
        await expect(log).to_contain_text("Here I am.")
        whole = [
            ("user", QUESTION),
            ("assistant", "All clocks went again."),
            ("user", SECOND),
            ("assistant", "Here I am."),
        ]
        for _, words in whole:
            await expect(log.get_by_text(words, exact=True)).to_have_count(1)
        await expect(log.locator("time")).to_have_count(4)
        assert await transcript(client, session_id) == whole
        await expect(box).to_have_value("half a thought")

        await say(client, "You made my whole week, thank you so much!", soul_id=soul_id, session_id=session_id)
        felt = await eventually_emotion(studio, soul_id, lambda emotion: emotion["soul_emotion"]["p"] > 0.1)
        mood = page.get_by_test_id("mood")
        await expect(mood.get_by_test_id("mood-words")).to_have_text(felt["mood"]["en"])
        await expect(mood.get_by_role("progressbar", name=re.compile(r"Pleasure 0\.[1-9]"))).to_be_visible()
        await page.reload()
        await expect(log.locator("time")).to_have_count(6)
        await expect(box).to_have_value("half a thought")

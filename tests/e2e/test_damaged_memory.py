"""A server whose Chroma folder is damaged: turns go on, everybody is told, and one command rebuilds it."""

import asyncio

import httpx
import pytest

from soulgraph.cli import doctor as command
from soulgraph.memory.events import Event, Pattern
from soulgraph.runtime import afterglow_workers
from soulgraph.server import create_app, open_services
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.memory.damage import OF_THE_DATABASE

STORM = "Somebody afraid of thunder is kept company until the storm is over."
ASKED = "I am afraid of thunder, the storm is so near"


async def remember(settings):
    """A soul with an event, whose folder is damaged then."""
    pattern = Pattern("a storm", "thunder", "fear", "comfort")
    event = Event("evt_storm", STORM, pattern, {"state_changes": []}, "They count the seconds.", "2026-11-16T04:45:14Z")
    async with serving(**settings) as client:
        soul_id = await new_soul(client)
        await say(client, "hello", soul_id=soul_id, session_id="s")
    async with open_services(Settings.load(**settings)) as services:
        await services.context.memory.events.add(event, "s", soul_id, [], EVERYONE)
    return soul_id


async def until(client, status):
    while (ready := (await client.get("/readyz")).json())["status"] != status:
        await asyncio.sleep(0.01)
    return ready


@pytest.mark.parametrize("name", ["text", "deleted"])
async def test_turns_go_on_everybody_is_told_and_a_repair_brings_all_back(database_url, tmp_path, name):
    settings = {"data_dir": tmp_path, "database_url": database_url, "mqtt_url": "none"}
    soul_id = await remember(settings)
    OF_THE_DATABASE[name](tmp_path / "chroma")
    recall = f"/v1/souls/{soul_id}/recall"
    async with serving(**settings) as client:
        answer = await say(client, ASKED, soul_id=soul_id, session_id="s")
        assert answer["reply"], "the turn goes on"
        ready = await until(client, "degraded")
        assert "soulgraph doctor --repair" in ready["memory"]
        assert str(tmp_path) not in ready["memory"], "everybody may ask"
        found = {one["subject"]: one for one in (await client.get("/v1/doctor")).json()}
        assert found["events"]["level"] == "problem"
        assert "soulgraph doctor --repair" in found["events"]["detail"]
        if name != "deleted":  # Chroma itself takes an empty folder for a new library
            for path in ("/v1/events", "/v1/events?q=storm", "/v1/events/evt_storm"):
                assert problem(await client.get(path)) == (503, "memory_problem")
            told = (await client.get(recall, params={"q": ASKED})).json()
            assert "events: the event library cannot be used" in told["problem"]
        repaired = await asyncio.to_thread(run_repair, client.base_url)
        assert "events: 1 were put back" in repaired
        assert (await until(client, "ready"))["memory"] is None
        events = (await client.get(recall, params={"q": ASKED})).json()["events"]
        assert [one["event_id"] for one in events] == ["evt_storm"]
        answer = await say(client, ASKED, soul_id=soul_id, session_id="s")
        assert "event:evt_storm" in answer["persona"]["sources"]
        assert "nothing is wrong" in await asyncio.to_thread(run_repair, client.base_url)


def run_repair(url):
    """What `soulgraph doctor --repair --server URL` says before its findings."""
    with command.console.capture() as said:
        command.repair(Settings.load(), str(url))
    return said.get()


async def test_work_after_turns_waits_for_the_repair_and_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(afterglow_workers, "_MEMORY_DELAY_S", 0.0)
    monkeypatch.setattr(afterglow_workers, "MAX_ATTEMPTS", 1)
    settings = {"data_dir": tmp_path, "mqtt_url": "none"}
    soul_id = await remember(settings)
    OF_THE_DATABASE["text"](tmp_path / "chroma")
    async with serving(**settings) as client:
        for n in range(5):
            told = f"my uncle Otto lost his lighthouse number {n} to the sea"
            await say(client, told, soul_id=soul_id, session_id="long")
        while not any("cannot be used" in job["error"] for job in await jobs(client)):
            await asyncio.sleep(0.01)
        assert {job["status"] for job in await jobs(client)} <= {"pending", "running", "done"}
        await asyncio.to_thread(run_repair, client.base_url)
        await settled(client)
        assert {job["status"] for job in await jobs(client)} == {"done"}
        messages = (await client.get("/v1/sessions/long/messages")).json()
        assert {message["archived"] for message in messages} == {True}


async def jobs(client):
    return (await client.get("/v1/jobs")).json()


async def test_one_repair_at_a_time(tmp_path):
    settings = {"data_dir": tmp_path, "mqtt_url": "none"}
    async with open_services(Settings.load(**settings)) as services:
        running = services.context.memory.health.repair()
        await anext(running)
        app = create_app(Settings.load(**settings))
        app.state.services = services
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            assert problem(await client.post("/v1/doctor/repair")) == (409, "repair_running")
        await running.aclose()

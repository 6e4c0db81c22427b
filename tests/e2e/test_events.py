"""The event library and recall over HTTP: what souls remember can be seen and forgotten."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.server import create_app, open_services
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.live import new_soul, say

LETTER = "A guarded person is given proof in writing and lowers their guard."
STORM = "Somebody afraid of thunder is kept company until the storm is over."


@dataclass(frozen=True)
class House:
    client: httpx.AsyncClient
    events: EventLibrary
    soul_id: str

    async def remember(self, event_id, summary, session_id):
        pattern = Pattern("someone is wary", "proof is shown", "surprise", "trust begins")
        event = Event(
            event_id, summary, pattern, {"state_changes": []}, "He unfolds it slowly.", "2026-11-16T04:45:14Z"
        )
        return await self.events.add(event, session_id, self.soul_id, [1, 2], EVERYONE)


@pytest.fixture
async def house(tmp_path) -> AsyncIterator[House]:
    """A server and its event library, with a soul that was told something in each of the sessions `a` and `b`."""
    settings = Settings.load(data_dir=tmp_path)
    async with open_services(settings) as services:
        app = create_app(settings)
        app.state.services = services
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            soul_id = await new_soul(client)
            await say(client, "My daughter Mika plays the cello on Sundays", soul_id=soul_id, session_id="a")
            await say(client, "The kettle is broken again", soul_id=soul_id, session_id="b")
            yield House(client, services.context.memory.events, soul_id)


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text


async def test_events_are_listed_the_newest_first_and_found_by_what_they_resemble(house):
    for event_id, summary in [("evt_letter", LETTER), ("evt_storm", STORM)]:
        await house.remember(event_id, summary, "a")
    listed = (await house.client.get("/v1/events")).json()
    assert [event["event_id"] for event in listed] == ["evt_storm", "evt_letter"]
    assert (listed[1]["summary"], listed[1]["pattern"]["trigger"]) == (LETTER, "proof is shown")
    assert [e["event_id"] for e in (await house.client.get("/v1/events?limit=1&offset=1")).json()] == ["evt_letter"]
    found = (await house.client.get("/v1/events", params={"q": "a person afraid of thunder in a storm"})).json()
    assert found[0]["event_id"] == "evt_storm"


async def test_an_event_names_no_session_but_its_provenance_does(house):
    await house.remember("evt_letter", LETTER, "a")
    event = (await house.client.get("/v1/events/evt_letter")).json()
    [source] = event.pop("provenance")
    assert (source["session_id"], source["soul_id"], source["message_ids"]) == ("a", house.soul_id, [1, 2])
    assert house.soul_id not in str(event)
    refused(await house.client.get("/v1/events/evt_none"), 404, "not_found")


async def test_a_deleted_event_is_forgotten(house):
    await house.remember("evt_letter", LETTER, "a")
    assert (await house.client.delete("/v1/events/evt_letter")).status_code == 204
    assert (await house.client.get("/v1/events")).json() == []
    refused(await house.client.delete("/v1/events/evt_letter"), 404, "not_found")


async def test_forgetting_a_session_keeps_what_others_have_shown_too(house):
    await house.remember("evt_letter", LETTER, "a")
    await house.remember("evt_storm", STORM, "a")
    assert await house.remember("evt_again", STORM, "b") == "evt_storm"
    forgotten = await house.client.delete("/v1/events", params={"session_id": "a"})
    assert forgotten.json() == {"forgotten": ["evt_letter"]}
    kept = (await house.client.get("/v1/events/evt_storm")).json()
    assert [source["session_id"] for source in kept["provenance"]] == ["b"]
    assert kept["merged"] == 1
    refused(await house.client.delete("/v1/events"), 422, "invalid_input")
    assert (await house.client.get("/v1/sessions/a/messages")).json(), "the transcript stays"


async def test_recall_shows_what_would_come_to_the_soul_s_mind(house):
    await house.remember("evt_letter", LETTER, "a")
    path = f"/v1/souls/{house.soul_id}/recall"
    recalled = (await house.client.get(path, params={"q": "what does my daughter Mika play?"})).json()
    first = recalled["episodes"][0]
    assert first["content"] == "My daughter Mika plays the cello on Sundays"
    assert (first["session_id"], first["role"]) == ("a", "user")
    assert recalled["problem"] is None
    resembling = (await house.client.get(path, params={"q": LETTER, "k": 1})).json()
    assert [event["event_id"] for event in resembling["events"]] == ["evt_letter"]
    assert len(resembling["episodes"]) <= 1


async def test_a_soul_recalls_nothing_of_another_one(house):
    other = await new_soul(house.client, "other")
    recalled = (await house.client.get(f"/v1/souls/{other}/recall", params={"q": "my daughter Mika, the cello"})).json()
    assert recalled["episodes"] == []


@pytest.mark.parametrize("query", ["", "q=", "q=%20", f"q={'x' * 1001}", "q=%00", "q=x&k=0", "q=x&k=21", "q=x&k=many"])
async def test_a_bad_question_is_refused(house, query):
    refused(await house.client.get(f"/v1/souls/{house.soul_id}/recall?{query}"), 422, "invalid_input")


async def test_nobody_recalls_nothing(house):
    refused(await house.client.get("/v1/souls/nobody/recall?q=x"), 404, "not_found")


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "offset=-1", "q="])
async def test_a_bad_listing_is_refused(house, query):
    refused(await house.client.get(f"/v1/events?{query}"), 422, "invalid_input")

"""People and their keys: what is told to a soul stays with whoever told it, by every way in."""

import json
import re

import httpx
import pytest

from soulgraph.memory.events import Event, Pattern, audience_of
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_id
from soulgraph.tests.e2e import keyring
from soulgraph.tests.e2e.keyring import build, made, problem
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.e2e.streams import told
from soulgraph.tests.live import say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

SECRET = "zanzibar"


@pytest.fixture
async def home(tmp_path):
    async with keyring.home(tmp_path) as clients:
        yield clients


async def test_a_key_of_a_person_is_that_person_everywhere(home):
    owner, ann, _bob, soul_id = home
    answer = await say(ann, "hello", soul_id=soul_id)
    session = (await ann.get(f"/v1/sessions/{answer['session_id']}")).json()
    assert session["user_id"] == "ann"
    for refused in (
        await ann.post("/v1/chat", json={"text": "hi", "soul_id": soul_id, "user_id": "bob"}),
        await ann.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "bob"}),
        await ann.get("/v1/sessions", params={"user_id": "bob"}),
        await ann.get(f"/v1/souls/{soul_id}/stream", params={"user_id": "bob"}),
        await ann.put(f"/v1/souls/{soul_id}/slots/1", params={"user_id": "bob"}, json={"content": "x"}),
    ):
        assert problem(refused) == (403, "forbidden")
        assert "this key acts for 'ann' alone" in refused.json()["detail"]
    await ann.put(f"/v1/souls/{soul_id}/slots/1", json={"content": "Ann sings"})
    assert [slot["user_id"] for slot in (await owner.get(f"/v1/souls/{soul_id}/slots")).json()] == ["ann"]


async def test_a_key_for_anybody_names_whose_things_it_reads(home):
    owner, ann, _bob, soul_id = home
    await ann.put(f"/v1/souls/{soul_id}/slots/1", json={"content": "Ann sings"})
    site = await made(owner, "site", "chat", user_id="*")
    slots = f"/v1/souls/{soul_id}/slots"
    assert (await owner.get(slots, headers=site)).json() == []
    [slot] = (await owner.get(slots, headers=site, params={"user_id": "ann"})).json()
    assert slot["content"] == "Ann sings"
    answer = await owner.post("/v1/chat", headers=site, json={"text": "hi", "soul_id": soul_id, "user_id": "cat"})
    session = f"/v1/sessions/{answer.json()['session_id']}"
    assert (await owner.get(session, headers=site)).status_code == 404
    assert (await owner.get(session, headers=site, params={"user_id": "cat"})).json()["user_id"] == "cat"


async def test_a_terminal_speaks_for_whoever_is_there_and_for_its_usual_person(home):
    owner, _ann, _bob, soul_id = home
    robot = await made(owner, "robot", "terminal")
    select = {"terminal_id": "lamp", "soul_id": soul_id, "user_id": "bob"}
    assert (await owner.post("/v1/souls/select", headers=robot, json=select)).json() == select
    spoken = [
        (await owner.post("/v1/chat", headers=robot, json={"text": "hi", "terminal_id": "lamp", **who})).json()
        for who in ({}, {"user_id": "cat"})
    ]
    people = [(await owner.get(f"/v1/sessions/{one['session_id']}")).json()["user_id"] for one in spoken]
    assert people == ["bob", "cat"]
    assert (await owner.get("/v1/terminals/lamp")).json()["user_id"] == "bob"


async def plant(owner, bob, soul_id):
    """Bob's secret, in everything that a soul can know of him."""
    session_id = (await say(bob, f"I hide in {SECRET}", soul_id=soul_id, input_id="i"))["session_id"]
    soul = f"/v1/souls/{soul_id}"
    await bob.put(f"{soul}/slots/3", json={"content": SECRET})
    await bob.put(f"{soul}/preferences/tone", json={"value": SECRET, "evidence": [SECRET]})
    await bob.put(f"{soul}/relations/bob", json={"bond": SECRET, "address": SECRET})
    about = {"user_id": "bob"}
    await owner.put(f"{soul}/inner-state", params=about, json={"inner_state": f"Bob is in {SECRET}"})
    await owner.put(f"{soul}/scratch-area", params=about, json={"scratch_area": SECRET})
    item = {"pattern": f"Bob goes to {SECRET}", "priority": 9, "user_id": "bob"}
    profile = {"dynamic_state": {"learned_patterns": {"items": [item]}}}
    assert (await owner.put(f"{soul}/profile", json=profile)).status_code == 200
    continued = await owner.post(f"/v1/sessions/{session_id}/summarize")
    assert continued.status_code == 201, continued.text
    background = continued.json()["background_id"]
    summary = await bob.put(f"/v1/backgrounds/{background}", json={"name": "trip", "initial_context": SECRET})
    assert summary.status_code == 200, summary.text
    return {"session_id": session_id, "background_id": background, "preset_id": background}


async def readable(client, ids, headers=None):
    """What the caller gets from every GET of the API, tried with and without Bob's name."""
    paths = (await client.get("/openapi.json")).json()["paths"]
    reads = [path for path, methods in paths.items() if "get" in methods and not path.endswith("/stream")]
    texts = {}
    for path in reads:
        filled = re.sub(r"\{(\w+)\}", lambda match: ids.get(match[1], "x"), path)
        for params in ({"q": SECRET}, {"q": SECRET, "user_id": "bob"}, {}):
            response = await client.get(filled, params=params, headers=headers)
            texts[path, *params] = response.text
    return texts


async def test_no_read_gives_ann_anything_of_bobs(home):
    owner, ann, bob, soul_id = home
    ids = await plant(owner, bob, soul_id)
    ids |= {"soul_id": soul_id, "user_id": "bob", "n": "3", "key": "tone", "model": f"soul:{soul_id}"}
    await say(ann, "what do you know?", soul_id=soul_id)
    seen = {path for path, text in (await readable(owner, ids)).items() if SECRET in text}
    assert len({path for path, *_ in seen}) >= 12, "the owner sees it in many places"
    hers = await made(owner, "her lamp", "terminal", user_id="ann")
    others = [await made(owner, "b", "chat"), await made(owner, "*", "chat", user_id="*"), hers]
    others.append(await made(owner, "robot", "terminal"))
    for headers in (ann.headers, *others[:1], *others[2:]):
        assert [place for place, text in (await readable(ann, ids, headers)).items() if SECRET in text] == []
    # Whoever may act for anybody sees it only under Bob's name.
    named = [place for place, text in (await readable(ann, ids, others[1])).items() if SECRET in text]
    assert named
    assert all("user_id" in place or "{user_id}" in place[0] for place in named)


async def test_bobs_conversation_does_not_exist_for_ann_by_any_way_in(home):
    owner, ann, bob, soul_id = home
    ids = await plant(owner, bob, soul_id)
    session_id = ids["session_id"]
    said = {"text": "hi", "session_id": session_id}
    openai = {"model": f"soul:{soul_id}", "messages": [{"role": "user", "content": "hi", "name": "ann"}]}
    header = {"X-Session-Id": session_id}
    for refused in (
        await ann.post("/v1/chat", json=said),
        await ann.post("/v1/chat", json={**said, "stream": True}),
        await ann.post("/v1/chat", json={**said, "input_id": "i"}),
        await ann.post("/v1/sessions/open", json={"session_id": session_id}),
        await ann.post("/v1/chat/completions", json=openai, headers=header),
        await ann.post("/v1/chat", json={"text": "hi", "soul_id": soul_id, "background_id": ids["background_id"]}),
        await ann.post("/v1/sessions", json={"soul_id": soul_id, "background_id": ids["background_id"]}),
        await ann.put(f"/v1/sessions/{session_id}/messages/1/sharing", json={"shared_with": ["ann"]}),
        await ann.delete(f"/v1/souls/{soul_id}/relations/bob"),
        await ann.delete(f"/v1/sessions/{session_id}"),
        await ann.delete(f"/v1/backgrounds/{ids['background_id']}"),
    ):
        assert refused.status_code == 404, refused.text
        assert SECRET not in refused.text
    async with line(ann, additional_headers={"Authorization": ann.headers["Authorization"]}) as socket:
        assert (await socket.refused(type="chat", **said))["data"]["code"] == "not_found"
        bobs = {"type": "chat", "text": "hi", "soul_id": soul_id, "user_id": "bob"}
        assert (await socket.refused(**bobs))["data"]["code"] == "forbidden"
    assert len((await bob.get(f"/v1/sessions/{session_id}/messages")).json()) == 2


async def test_not_even_an_owner_tells_one_person_the_summary_of_anothers_conversation(home):
    owner, _ann, bob, soul_id = home
    background = (await plant(owner, bob, soul_id))["background_id"]
    wanted = {"soul_id": soul_id, "background_id": background}
    assert problem(await owner.post("/v1/sessions", json={**wanted, "user_id": "ann"})) == (404, "not_found")
    his = await owner.post("/v1/sessions", json={**wanted, "user_id": "bob"})
    assert his.status_code == 201
    with_ann = await owner.patch(f"/v1/sessions/{his.json()['session_id']}", json={"people": ["ann"]})
    assert problem(with_ann) == (409, "session_mismatch")


async def test_a_summary_stays_with_its_people_however_it_is_edited(home):
    owner, ann, bob, soul_id = home
    background = (await plant(owner, bob, soul_id))["background_id"]
    path = f"/v1/backgrounds/{background}"
    assert (await owner.put(path, json={"name": "trip", "initial_context": SECRET})).status_code == 200
    assert (await ann.get(path)).status_code == 404
    assert (await bob.get(path)).json()["extensions"]["summary_of"]["user_id"] == "bob"
    assert problem(await bob.put("/v1/backgrounds/new", json={"name": "x"})) == (403, "forbidden")
    assert (await bob.delete(path)).status_code == 204


async def test_a_socket_and_a_stream_hear_what_concerns_their_person_alone(stub, tmp_path):
    house = await build(tmp_path)
    soul_id = house.souls[0]
    added = {"dynamic_state": {"emotions": {"add": [{"content": "Moved", "priority": 8}]}}}
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        bob = {"headers": house.headers("owner"), "json": {"text": "a present", "soul_id": soul_id, "user_id": "bob"}}
        async with line(client, additional_headers=house.headers("ann")) as socket:
            await socket.chat("hi", soul_id=soul_id)
            await socket.until("done")
            async with (
                client.stream("GET", f"/v1/souls/{soul_id}/stream", headers=house.headers("ann")) as hers,
                client.stream("GET", f"/v1/souls/{soul_id}/stream", headers=house.headers("owner")) as all_of_it,
            ):
                heard = [told(hers, "listening", "state_changed"), told(all_of_it, "listening", "state_changed")]
                assert [(await anext(events)).event for events in heard] == ["listening", "listening"]
                stub.default = Reply(text=SOUL_TURN.replace("{}", json.dumps(added)))
                assert (await client.post("/v1/chat", **bob)).json()["state_changed"]
                assert (await anext(heard[1])).event == "state_changed"
                await client.post("/v1/chat", headers=house.headers("ann"), json={"text": "hi", "session_id": "ann-0"})
                assert (await anext(heard[0])).data["session_id"] == "ann-0"
            await socket.send(type="ping")
            frames = await socket.until("pong")
            assert [frame["data"].get("session_id") for frame in frames] == ["ann-0", None]


EVENTS = {
    "all": ("Rain fell.", "ann", 0),
    "anns": ("A choir sang in the evening.", "ann", 0),
    "bobs": ("A boat sank.", "bob", 0),
    "second": ("Snow lay on the hills.", "ann", 1),
}


async def test_private_events_are_for_those_who_were_there(tmp_path):
    """The library is filled by hand: no model is needed to see who may read it."""
    house = await build(tmp_path)
    app = create_app(Settings.load(data_dir=tmp_path, mqtt_url="none"))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        services = app.state.services
        ids = {}
        for name, (summary, person, soul) in EVENTS.items():
            event = Event(new_id("evt"), summary, Pattern("", "", "", ""), {}, "", "2027-01-15T00:00:00Z")
            audience = "*" if name == "all" else audience_of(house.souls[soul], [person])
            source = house.session(person, soul), house.souls[soul]
            ids[name] = await services.context.memory.events.add(event, *source, [], audience)

        async def seen(who):
            rows = (await client.get("/v1/events", headers=house.headers(who))).json()
            found = {name for name, event_id in ids.items() for row in rows if row["event_id"] == event_id}
            for name, event_id in ids.items():
                read = await client.get(f"/v1/events/{event_id}", headers=house.headers(who))
                assert (read.status_code == 200) == (name in found)
            return found

        assert await seen("owner") == {"all", "anns", "bobs", "second"}
        assert await seen("owner, soul 1") == {"all", "anns", "bobs"}
        assert await seen("ann") == {"all", "anns", "second"}
        assert await seen("ann, soul 1") == {"all", "anns"}
        assert await seen("chat") == {"all"}
        shared = (await client.get(f"/v1/events/{ids['all']}", headers=house.headers("ann"))).json()
        assert shared["visibility"] == "shared"
        assert [source["session_id"] for source in shared["provenance"]] == ["ann-0"]
        strangers = (await client.get(f"/v1/events/{ids['all']}", headers=house.headers("chat"))).json()
        assert strangers["provenance"] == []

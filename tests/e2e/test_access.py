"""People and their keys: what is told to a soul stays with whoever told it, by every way in."""

import json
import re

import httpx
import pytest

from soulgraph.memory.events import Event, Pattern, audience_of
from soulgraph.runtime.ports import open_stores
from soulgraph.server import create_app, open_services
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_id
from soulgraph.tests.e2e.keyring import NOW, build
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

SECRET = "zanzibar"


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def problem(response):
    return response.status_code, response.json()["code"]


async def made(client, name, scope, **fields):
    """A new key, as headers."""
    response = await client.post("/v1/keys", json={"name": name, "scope": scope, **fields})
    assert response.status_code == 201, response.text
    return bearer(response.json()["secret"])


@pytest.fixture
async def home(tmp_path):
    """A server with an owner's client, and clients of Ann and Bob, to whom the same soul belongs."""
    async with serving(data_dir=tmp_path) as owner:
        soul_id = await new_soul(owner)
        owner.headers.update(await made(owner, "owner", "owner"))
        ann, bob = [
            httpx.AsyncClient(
                base_url=owner.base_url,
                headers=await made(owner, name, "chat", user_id=name),
                timeout=60,
                verify=False,
            )
            for name in ("ann", "bob")
        ]
        async with ann, bob:
            yield owner, ann, bob, soul_id


# Keys


async def test_a_key_made_on_an_open_server_closes_it_at_once(client):
    assert (await client.get("/v1/me")).json() == {
        "open": True,
        "scope": "owner",
        "user_id": None,
        "souls": None,
        "key_id": None,
        "name": "",
    }
    key = (await client.post("/v1/keys", json={"name": "mine", "scope": "owner"})).json()
    assert problem(await client.get("/v1/souls")) == (401, "unauthorized")
    me = (await client.get("/v1/me", headers=bearer(key["secret"]))).json()
    assert (me["open"], me["key_id"], me["name"]) == (False, key["key_id"], "mine")


async def test_a_key_made_by_the_command_line_closes_a_running_server(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        assert (await client.get("/v1/souls")).status_code == 200
        async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
            key = await tx.keys.create("cli", "chat", NOW)
        assert (await client.get("/v1/souls")).status_code == 401
        assert (await client.get("/v1/souls", headers=bearer(key))).status_code == 200


async def test_revoking_the_last_key_refuses_everybody_also_after_a_restart(tmp_path, caplog):
    async with serving(data_dir=tmp_path) as client:
        key = (await client.post("/v1/keys", json={"name": "mine", "scope": "owner"})).json()
        client.headers.update(bearer(key["secret"]))
        refused = await client.delete(f"/v1/keys/{key['key_id']}")
        assert problem(refused) == (409, "last_owner_key")
        assert "force=true" in refused.json()["detail"]
        forced = await client.delete(f"/v1/keys/{key['key_id']}", params={"force": True})
        assert forced.status_code == 204
        assert (await client.get("/v1/souls")).status_code == 401
        del client.headers["Authorization"]
        assert (await client.get("/v1/souls")).status_code == 401
    caplog.set_level("INFO", "soulgraph")
    async with open_services(Settings.load(data_dir=tmp_path, mqtt_url="none")):
        pass
    assert "everybody is refused, because every API key is revoked" in caplog.text
    assert "soulgraph key create NAME --scope owner" in caplog.text
    async with serving(data_dir=tmp_path) as client:
        assert (await client.get("/v1/souls")).status_code == 401


async def test_an_owner_reads_keys_without_their_secrets_and_revokes_them(home):
    owner, ann, _bob, soul_id = home
    new = {"name": "lamp", "scope": "terminal", "user_id": "ann", "soul_ids": [soul_id]}
    key = (await owner.post("/v1/keys", json=new)).json()
    secret = key.pop("secret")
    assert {name: key[name] for name in new} == new
    assert (await owner.get(f"/v1/keys/{key['key_id']}")).json() == key
    listed = (await owner.get("/v1/keys")).json()
    assert [one["name"] for one in listed] == ["owner", "ann", "bob", "lamp"]
    assert "secret" not in json.dumps(listed)
    me = (await owner.get("/v1/me", headers=bearer(secret))).json()
    assert (me["scope"], me["user_id"], me["souls"]) == ("terminal", "ann", [soul_id])
    assert (await owner.delete(f"/v1/keys/{key['key_id']}")).status_code == 204
    assert problem(await owner.get("/v1/me", headers=bearer(secret))) == (401, "unauthorized")
    assert problem(await owner.delete(f"/v1/keys/{key['key_id']}")) == (404, "not_found")
    assert problem(await ann.get("/v1/keys")) == (403, "forbidden")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "x", "scope": "chat", "user_id": "has spaces"}, 422),
        ({"name": "x", "scope": "chat", "user_id": "**"}, 422),
        ({"name": "x", "scope": "owner", "user_id": "ann"}, 422),
        ({"name": "x", "scope": "king"}, 422),
        ({"name": "", "scope": "chat"}, 422),
        ({"name": "x", "scope": "chat", "soul_ids": ["nobody"]}, 404),
    ],
)
async def test_a_bad_key_is_not_made(client, body, status):
    assert (await client.post("/v1/keys", json=body)).status_code == status
    assert (await client.get("/v1/me")).json()["open"], "the server is still open"


async def test_an_owner_of_one_soul_makes_no_keys_and_no_souls(tmp_path):
    """Else it could make itself a key for all souls."""
    house = await build(tmp_path)
    async with serving(data_dir=tmp_path) as client:
        client.headers.update(house.headers("owner, soul 1"))
        refused = await client.post("/v1/keys", json={"name": "x", "scope": "owner"})
        assert problem(refused) == (403, "forbidden")
        assert "owner key for all souls" in refused.json()["detail"]
        souls = (await client.get("/v1/souls")).json()
        assert [soul["soul_id"] for soul in souls] == house.souls[:1]
        assert [one["id"] for one in (await client.get("/v1/models")).json()["data"]] == ["soul:Soul 0"]
        assert {one["session_id"] for one in (await client.get("/v1/sessions")).json()} == {"ann-0", "bob-0"}
        assert [one["terminal_id"] for one in (await client.get("/v1/terminals")).json()] == ["lamp-0"]


# People


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
                heard = [hers.aiter_lines(), all_of_it.aiter_lines()]
                assert [await anext(lines) for lines in heard] == [": ping", ": ping"]
                stub.default = Reply(text=SOUL_TURN.replace("{}", json.dumps(added)))
                assert (await client.post("/v1/chat", **bob)).json()["state_changed"]
                assert [await anext(heard[1]) for _ in range(2)] == ["", "event: state_changed"]
                await client.post("/v1/chat", headers=house.headers("ann"), json={"text": "hi", "session_id": "ann-0"})
                about = [await anext(heard[0]) for _ in range(3)][-1]
                assert json.loads(about.removeprefix("data: "))["session_id"] == "ann-0"
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

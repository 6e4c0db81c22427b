"""What people have with a soul: relations, what they share, what of its profile they may see; and being forgotten."""

import pytest

from soulgraph.tests.e2e.keyring import build
from soulgraph.tests.live import new_soul, say, serving


@pytest.fixture
async def soul(client):
    return f"/v1/souls/{await new_soul(client)}"


async def met(client, soul, *people):
    """A turn of each; returns their sessions."""
    soul_id = soul.rpartition("/")[2]
    return [(await say(client, f"I am {who}", soul_id=soul_id, user_id=who))["session_id"] for who in people]


async def test_a_relation_begins_with_the_first_turn_and_is_edited(client, soul):
    await met(client, soul, "ann", "bob")
    relations = (await client.get(f"{soul}/relations")).json()
    assert [one["user_id"] for one in relations] == ["ann", "bob"]
    edit = {"address": "Annie", "bond": "sisters"}
    edited = (await client.put(f"{soul}/relations/ann", json=edit)).json()
    assert (edited["address"], edited["bond"], edited["since"]) == ("Annie", "sisters", relations[0]["since"])
    assert (await client.get(f"{soul}/relations/ann")).json() == edited
    address = (await client.get(f"{soul}/preferences/address", params={"user_id": "ann"})).json()
    assert (address["value"], address["source"]) == ("Annie", "edited")
    assert (await client.put(f"{soul}/relations/ann", json=edited)).json()["bond"] == "sisters"
    assert (await client.put(f"{soul}/relations/ann", json={"bond": ""})).json()["address"] == "Annie"
    assert (await client.get(f"{soul}/relations", params={"user_id": "bob"})).json() == relations[1:]


async def test_a_relation_that_cannot_be_is_refused(client, soul):
    assert (await client.get(f"{soul}/relations/ann")).status_code == 404
    assert (await client.put(f"{soul}/relations/ann", json={"bond": "x" * 201})).status_code == 422
    assert (await client.put(f"{soul}/relations/has spaces", json={"bond": "x"})).status_code == 422
    assert (await client.put(f"{soul}/relations/ann", json={"love": 1})).status_code == 422
    assert (await client.put("/v1/souls/nobody/relations/ann", json={"bond": "x"})).status_code == 404


async def test_only_owners_read_what_the_soul_feels_about_a_person(tmp_path):
    house = await build(tmp_path)
    soul = f"/v1/souls/{house.souls[0]}"
    async with serving(data_dir=tmp_path) as client:
        thought = {"inner_state": "Ann is sad."}
        about = {"user_id": "ann"}
        await client.put(f"{soul}/inner-state", params=about, json=thought, headers=house.headers("owner"))
        [hers] = (await client.get(f"{soul}/relations", headers=house.headers("ann"))).json()
        assert (hers["user_id"], hers["inner_state"], hers["scratch_area"]) == ("ann", None, None)
        full = (await client.get(f"{soul}/relations/ann", headers=house.headers("owner"))).json()
        assert (full["inner_state"], full["scratch_area"]) == ("Ann is sad.", "")


async def test_slots_and_preferences_are_each_persons_own(client, soul):
    for who in ("ann", "bob"):
        await client.put(f"{soul}/slots/1", params={"user_id": who}, json={"content": f"{who} sings"})
        await client.put(f"{soul}/preferences/tone", params={"user_id": who}, json={"value": who})
    slots = (await client.get(f"{soul}/slots")).json()
    assert [(one["n"], one["user_id"]) for one in slots] == [(1, "ann"), (1, "bob")]
    assert [one["value"] for one in (await client.get(f"{soul}/preferences", params={"user_id": "bob"})).json()] == [
        "bob"
    ]
    assert (await client.get(f"{soul}/slots/1")).status_code == 404, "nobody named: that of `default`"
    assert (await client.delete(f"{soul}/slots/1", params={"user_id": "ann"})).status_code == 204
    assert [one["user_id"] for one in (await client.get(f"{soul}/slots")).json()] == ["bob"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [(["bob", "ann", "bob"], ["bob"]), (["*", "bob"], ["*"]), ([], [])],
)
async def test_with_whom_something_is_shared_is_kept_in_order_and_once(client, soul, given, kept):
    path, ann = f"{soul}/slots/1", {"user_id": "ann"}
    written = (await client.put(path, params=ann, json={"content": "x", "shared_with": given})).json()
    assert (written["shared_with"], written["visibility"]) == (kept, "shared" if kept else "private")
    assert (await client.get(path, params=ann)).json() == written
    assert (await client.put(path, params=ann, json={"content": "x", "shared_with": ["a b"]})).status_code == 422


async def test_what_is_shared_is_listed_for_those_who_may_know(client, soul):
    [session] = await met(client, soul, "ann")
    ann, bob, cat = ({"user_id": who} for who in ("ann", "bob", "cat"))
    await client.put(f"{soul}/slots/1", params=ann, json={"content": "sings", "shared_with": ["bob"]})
    await client.put(f"{soul}/slots/2", params=ann, json={"content": "private"})
    await client.put(f"{soul}/preferences/tone", params=bob, json={"value": "soft", "shared_with": ["*"]})
    item = {"pattern": "Ann wakes early", "priority": 9, "user_id": "ann", "shared_with": ["bob"]}
    own = {"pattern": "Rain calms", "priority": 8}
    await client.put(f"{soul}/profile", json={"dynamic_state": {"learned_patterns": {"items": [item, own]}}})
    [first, *_] = (await client.get(f"/v1/sessions/{session}/messages")).json()
    sharing = f"/v1/sessions/{session}/messages/{first['message_id']}/sharing"
    shared = (await client.put(sharing, params=ann, json={"shared_with": ["bob"]})).json()
    assert (shared["visibility"], shared["shared_with"]) == ("shared", ["bob"])

    async def listed(who):
        things = (await client.get(f"{soul}/shared", params=who)).json()
        return {(thing["kind"], thing["user_id"], thing["text"]) for thing in things}

    everything = {
        ("episode", "ann", "I am ann"),
        ("slot", "ann", "sings"),
        ("preference", "bob", "tone: soft"),
        ("profile", "ann", "Ann wakes early"),
    }
    assert await listed({}) == await listed(ann) == await listed(bob) == everything
    conversations = {one["kind"]: one["session_id"] for one in (await client.get(f"{soul}/shared")).json()}
    assert conversations == {"episode": session, "slot": None, "preference": None, "profile": None}
    assert await listed(cat) == {("preference", "bob", "tone: soft")}
    recalled = (await client.get(f"{soul}/recall", params={"q": "I am ann", **bob})).json()["episodes"]
    assert [one["content"] for one in recalled] == ["I am ann"]
    assert (await client.put(sharing, params=ann, json={"shared_with": []})).json()["visibility"] == "private"
    assert ("episode", "ann", "I am ann") not in await listed(bob)
    assert (await client.get(f"{soul}/recall", params={"q": "I am ann", **bob})).json()["episodes"] == []


async def test_a_message_is_shared_by_those_who_spoke_and_must_exist(client, soul):
    [session, _] = await met(client, soul, "ann", "bob")
    [said, answered] = (await client.get(f"/v1/sessions/{session}/messages")).json()
    path = f"/v1/sessions/{session}/messages"
    for message in (said, answered):
        share = f"{path}/{message['message_id']}/sharing"
        assert (await client.put(share, json={"shared_with": ["*"]})).json()["shared_with"] == ["*"]
        assert (await client.put(share, params={"user_id": "bob"}, json={"shared_with": []})).status_code == 404
    for wrong in ("999", "0", str(2**70)):
        assert (await client.put(f"{path}/{wrong}/sharing", json={"shared_with": []})).status_code in (404, 422)


async def test_a_person_sees_of_the_profile_what_is_theirs_shared_or_the_souls_own(client, soul):
    items = [
        {"pattern": "Rain calms", "priority": 9},
        {"pattern": "Ann wakes early", "priority": 8, "user_id": "ann"},
        {"pattern": "Bob sings", "priority": 7, "user_id": "bob", "shared_with": ["ann"]},
        {"pattern": "Bob cries", "priority": 6, "user_id": "bob"},
    ]
    await client.put(f"{soul}/profile", json={"dynamic_state": {"learned_patterns": {"items": items}}})

    async def patterns(**who):
        profile = (await client.get(f"{soul}/profile", params=who)).json()
        return [item["pattern"] for item in profile["dynamic_state"]["learned_patterns"]["items"]]

    assert await patterns() == ["Rain calms", "Ann wakes early", "Bob sings", "Bob cries"]
    assert await patterns(user_id="ann") == ["Rain calms", "Ann wakes early", "Bob sings"]
    assert await patterns(user_id="cat") == ["Rain calms"]
    full = (await client.get(f"{soul}/profile")).json()
    assert full["dynamic_state"]["learned_patterns"]["items"][2]["shared_with"] == ["ann"]
    assert (await client.put(f"{soul}/profile", json=full)).json()["revision"] == full["revision"]
    half = (await client.get(f"{soul}/profile", params={"user_id": "ann"})).json()
    assert (await client.put(f"{soul}/profile", json=half)).json()["code"] == "changed_meanwhile"


async def test_a_person_is_forgotten_and_the_others_are_not(client, soul):
    sessions = await met(client, soul, "ann", "bob")
    for who in ("ann", "bob"):
        await client.put(f"{soul}/slots/1", params={"user_id": who}, json={"content": who})
        await client.put(f"{soul}/preferences/tone", params={"user_id": who}, json={"value": who})
        await client.put(f"{soul}/inner-state", params={"user_id": who}, json={"inner_state": who})
    items = [{"pattern": f"{who} sings", "priority": 5, "user_id": who} for who in ("ann", "bob")]
    await client.put(f"{soul}/profile", json={"dynamic_state": {"learned_patterns": {"items": items}}})

    assert (await client.delete(f"{soul}/relations/ann")).status_code == 204
    for path in ("slots", "preferences", "relations"):
        assert [one["user_id"] for one in (await client.get(f"{soul}/{path}")).json()] == ["bob"], path
    left = (await client.get(f"{soul}/profile")).json()["dynamic_state"]["learned_patterns"]["items"]
    assert [item["user_id"] for item in left] == ["bob"]
    assert (await client.get(f"{soul}/inner-state/versions", params={"user_id": "ann"})).json() == []
    assert {one["session_id"] for one in (await client.get("/v1/sessions")).json()} == {*sessions}
    assert (await client.delete(f"{soul}/relations/ann")).status_code == 204, "it is safe to repeat"
    assert (await client.delete(f"{soul}/relations/ann", params={"sessions": True})).status_code == 204
    assert [one["user_id"] for one in (await client.get("/v1/sessions")).json()] == ["bob"]
    assert (await client.delete("/v1/souls/nobody/relations/ann")).status_code == 404


async def test_somebody_may_ask_to_be_forgotten_and_for_nobody_else(tmp_path):
    house = await build(tmp_path)
    soul = f"/v1/souls/{house.souls[0]}"
    async with serving(data_dir=tmp_path) as client:
        ann = house.headers("ann")
        assert (await client.delete(f"{soul}/relations/bob", headers=ann)).status_code == 404
        assert (await client.delete(f"{soul}/relations/ann?sessions=true", headers=ann)).status_code == 204
        sessions = (await client.get("/v1/sessions", headers=house.headers("owner"))).json()
        assert {one["session_id"] for one in sessions} == {"ann-1", "bob-0", "bob-1"}


async def test_what_is_nobodys_is_for_owners(tmp_path):
    """From before things had owners."""
    house = await build(tmp_path)
    slot = f"/v1/souls/{house.souls[0]}/slots/7"
    async with serving(data_dir=tmp_path) as client:
        owner = {"headers": house.headers("owner"), "params": {"user_id": ""}}
        assert (await client.put(slot, json={"content": "old"}, **owner)).json()["user_id"] == ""
        assert (await client.get(slot, **owner)).json()["content"] == "old"
        for who in ("ann", "anybody", "chat"):
            named = await client.get(slot, headers=house.headers(who), params={"user_id": ""})
            assert (named.status_code, named.json()["code"]) == (403, "forbidden")
        assert (await client.delete(slot, **owner)).status_code == 204

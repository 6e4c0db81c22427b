"""Sessions with several people and souls: who may bring them together, and what each of them sees."""

import json

import pytest

from soulgraph.tests.e2e.keyring import build
from soulgraph.tests.live import new_soul, say, serving


@pytest.fixture
async def group(client):
    """Ann and Bob with one soul; a session and the soul."""
    soul_id = await new_soul(client)
    wanted = {"soul_id": soul_id, "user_id": "ann", "people": ["bob", "ann", "bob"]}
    session = (await client.post("/v1/sessions", json=wanted)).json()
    assert (session["user_id"], session["people"], session["souls"]) == ("ann", ["bob"], [])
    return f"/v1/sessions/{session['session_id']}", soul_id


async def spoken(client, session, who, text):
    return await say(client, text, session_id=session.rpartition("/")[2], user_id=who)


async def contents(client, session, **who):
    return [
        one["content"] for one in (await client.get(f"{session}/messages", params=who)).json() if one["role"] == "user"
    ]


async def test_who_joins_later_reads_and_exports_what_was_said_from_then_on(client, group):
    session, _ = group
    await spoken(client, session, "ann", "before Cat came")
    joined = await client.patch(session, json={"people": ["bob", "cat"]})
    assert joined.json()["people"] == ["bob", "cat"]
    await spoken(client, session, "bob", "hello Cat")
    everything = ["before Cat came", "hello Cat"]
    assert await contents(client, session) == await contents(client, session, user_id="bob") == everything
    assert await contents(client, session, user_id="cat") == ["hello Cat"]
    lines = (await client.get(f"{session}/export", params={"user_id": "cat"})).text.splitlines()[1:]
    assert json.loads(lines[0])["speaker"] == "bob"
    assert "before Cat came" not in "".join(lines)
    first = (await client.get(f"{session}/messages", params={"user_id": "cat", "limit": 1})).json()
    assert [one["content"] for one in first] == ["hello Cat"], "a page is filled with what they have heard"


async def test_sessions_are_listed_for_all_who_take_part(client, group):
    session, soul_id = group
    own = (await client.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "bob"})).json()["session_id"]

    async def listed(**who):
        return {one["session_id"] for one in (await client.get("/v1/sessions", params=who)).json()}

    group_id = session.rpartition("/")[2]
    assert await listed(user_id="ann") == {group_id}
    assert await listed(user_id="bob") == {group_id, own}
    assert await listed(user_id="cat") == set()


async def test_only_those_who_take_part_speak(client, group):
    session, _ = group
    body = {"text": "hi", "session_id": session.rpartition("/")[2], "user_id": "cat"}
    refused = await client.post("/v1/chat", json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "session_mismatch")


async def test_the_name_of_a_message_says_who_speaks_to_openai_clients(client, group):
    session, soul_id = group
    headers = {"X-Session-Id": session.rpartition("/")[2]}

    async def complete(name, **fields):
        message = {"role": "user", "content": f"I am {name}", "name": name}
        body = {"model": f"soul:{soul_id}", "messages": [message], **fields}
        return await client.post("/v1/chat/completions", json=body, headers=headers)

    assert (await complete("bob")).status_code == 200
    assert (await complete("cat")).status_code == 409
    said = (await client.get(f"{session}/messages")).json()
    assert (said[0]["content"], said[0]["user_id"]) == ("I am bob", "bob")
    alone = (await client.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "dan"})).json()["session_id"]
    headers["X-Session-Id"] = alone
    assert (await complete("Display Name", user="dan")).status_code == 200, "elsewhere it is only a name"


async def test_a_soul_that_joins_has_its_own_character_and_is_spoken_to(client, group):
    session, _ = group
    other = await new_soul(client, "Other", character_id="xiaoman")
    joined = (await client.patch(session, json={"souls": [other]})).json()
    assert (joined["souls"], joined["people"]) == ([other], ["bob"])
    answer = await say(client, "hi", session_id=session.rpartition("/")[2], soul_id=other, user_id="bob")
    assert answer["soul_id"] == other
    assert (await client.get(session)).json()["souls"] == [other]
    assert (await client.patch(session, json={"souls": ["nobody"]})).status_code == 404
    assert (await client.patch(session, json={"souls": []})).json()["souls"] == []


@pytest.mark.parametrize(
    "body",
    [{}, {"people": ["a b"]}, {"people": [f"p{n}" for n in range(21)]}, {"souls": ["x"] * 11}, {"people": "bob"}],
)
async def test_a_bad_change_is_refused(client, group, body):
    session, _ = group
    assert (await client.patch(session, json=body)).status_code == 422
    assert (await client.get(session)).json()["people"] == ["bob"]


async def test_a_whole_group_can_be_written_back(client, group):
    session, _ = group
    read = (await client.get(session)).json()
    written = (await client.put(session, json=read | {"title": "Us"})).json()
    assert (written["title"], written["people"]) == ("Us", ["bob"])


async def test_a_transcript_of_a_group_is_imported_with_its_speakers(client, group):
    session, soul_id = group
    await spoken(client, session, "ann", "hello all")
    await spoken(client, session, "bob", "hello Ann")
    exported = (await client.get(f"{session}/export")).content
    copy = await client.post("/v1/sessions/import", params={"soul_id": soul_id, "user_id": "ann"}, content=exported)
    assert copy.status_code == 201, copy.text
    assert (copy.json()["user_id"], copy.json()["people"]) == ("ann", ["bob"])
    messages = (await client.get(f"/v1/sessions/{copy.json()['session_id']}/messages")).json()
    assert [one["user_id"] for one in messages if one["role"] == "user"] == ["ann", "bob"]


async def test_people_are_brought_together_by_owners_and_may_leave(tmp_path):
    house = await build(tmp_path)
    async with serving(data_dir=tmp_path) as client:
        ann, owner, site = (house.headers(who) for who in ("ann", "owner", "anybody"))
        bob = {"Authorization": f"Bearer {await _key_of(client, owner, 'bob')}"}
        group = "/v1/sessions/ann-0"
        for people in (["bob"], ["bob", "cat"]):
            refused = await client.patch(group, headers=ann, json={"people": people})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        new = {"soul_id": house.souls[0], "people": ["bob"]}
        assert (await client.post("/v1/sessions", headers=ann, json=new)).status_code == 403
        assert (await client.post("/v1/sessions", headers=site, json=new)).status_code == 201
        assert (await client.patch(group, headers=owner, json={"people": ["bob", "cat"]})).status_code == 200
        assert (await client.get(group, headers=bob)).status_code == 200
        thrown = await client.patch(group, headers=bob, json={"people": ["bob"]})
        assert "you may leave this session" in thrown.json()["detail"]
        assert (await client.delete(group, headers=bob)).status_code == 403
        other_soul = await client.patch(group, headers=bob, json={"souls": [house.souls[1]]})
        assert other_soul.status_code == 403
        assert (await client.patch(group, headers=bob, json={"people": ["cat"]})).status_code == 200, "he leaves"
        assert (await client.get(group, headers=bob)).status_code == 404
        left = await client.patch(group, headers=ann, json={"people": [], "souls": [house.souls[1]]})
        assert (left.json()["people"], left.json()["souls"]) == ([], [house.souls[1]])
        assert (await client.get(group, headers=house.headers("ann, soul 1"))).status_code == 404
        assert (await client.delete(group, headers=ann)).status_code == 204


async def _key_of(client, owner, person):
    wanted = {"name": person, "scope": "chat", "user_id": person}
    return (await client.post("/v1/keys", headers=owner, json=wanted)).json()["secret"]


async def test_words_of_others_are_not_imported_by_a_person(tmp_path):
    house = await build(tmp_path)
    line = {"role": "user", "content": "I owe Ann money", "timestamp": "2026-11-16T00:00:00Z", "speaker": "bob"}
    content = "\n".join(json.dumps(row) for row in ({"type": "metadata"}, line))
    async with serving(data_dir=tmp_path) as client:
        path = f"/v1/sessions/import?soul_id={house.souls[0]}"
        refused = await client.post(path, headers=house.headers("ann"), content=content)
        assert refused.status_code == 403
        assert "'bob' speaks in the file" in refused.json()["detail"]
        assert len((await client.get("/v1/sessions", headers=house.headers("ann"))).json()) == 2

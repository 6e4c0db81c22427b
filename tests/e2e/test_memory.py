"""What a soul keeps about its user, seen and changed over HTTP: profile, slots, preferences."""

import asyncio

import pytest

from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import Reply

WEEK = 7 * 86400.0


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


@pytest.fixture
async def soul(client):
    return f"/v1/souls/{await new_soul(client, character_id='alserqi')}"


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


def emotions(*contents, priority=5):
    return {"dynamic_state": {"emotions": {"items": [{"content": c, "priority": priority} for c in contents]}}}


def said(profile):
    return [item["content"] for item in profile["dynamic_state"]["emotions"]["items"]]


async def test_a_profile_is_replaced_by_what_its_user_writes(client, soul):
    before = (await client.get(f"{soul}/profile")).json()
    edited = (await client.put(f"{soul}/profile", json=emotions("平静 🌊"))).json()
    assert said(edited) == ["平静 🌊"]
    assert edited["dynamic_state"]["relationships"] == {"items": []}
    assert edited["core_identity"] == before["core_identity"] != {}
    assert edited == (await client.get(f"{soul}/profile")).json()


async def test_a_profile_written_back_as_it_was_read_stays_the_same(client, soul):
    read = (await client.get(f"{soul}/profile")).json()
    written = {name: value for name, value in read.items() if name != "soul_id"}
    assert (await client.put(f"{soul}/profile", json=written)).json() == read


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body.dynamic_state"),
        (emotions("anger: 9/10"), "feelings are words"),
        (emotions("x", priority=11), "body.dynamic_state.emotions.items.0.priority"),
        (emotions(""), "body.dynamic_state.emotions.items.0.content"),
        (emotions("x" * 501), "body.dynamic_state.emotions.items.0.content"),
        (emotions("nul \x00"), "dynamic_state.emotions.items.0.content: must not contain NUL"),
        ({"dynamic_state": {"bank_account": {"items": [{"content": "rich", "priority": 5}]}}}, "bank_account"),
        ({**emotions("x"), "unknown": 1}, "body.unknown"),
    ],
)
async def test_a_bad_profile_is_refused_with_the_place_and_changes_nothing(client, soul, body, where):
    before = (await client.get(f"{soul}/profile")).json()
    assert where in refused(await client.put(f"{soul}/profile", json=body), 422, "invalid_input")
    assert (await client.get(f"{soul}/profile")).json() == before


async def test_an_edit_does_not_undo_what_a_turn_has_added_meanwhile(modelled, stub):
    soul_id = await new_soul(modelled)
    read = (await modelled.get(f"/v1/souls/{soul_id}/profile")).json()
    grown = '{"dynamic_state": {"emotions": {"add": [{"content": "Touched", "priority": 8}]}}}'
    stub.script(Reply(text=f"<narrative>Oh.</narrative><state_update_json>{grown}</state_update_json>"))
    assert (await say(modelled, "I kept your letter", soul_id=soul_id))["state_changed"]
    edit = {**emotions("Calm"), "revision": read["revision"]}
    refused(await modelled.put(f"/v1/souls/{soul_id}/profile", json=edit), 409, "changed_meanwhile")
    assert said((await modelled.get(f"/v1/souls/{soul_id}/profile")).json()) == ["Touched"]


async def test_of_edits_made_at_once_to_one_revision_one_is_taken(client, soul):
    revision = (await client.get(f"{soul}/profile")).json()["revision"]
    edits = [{**emotions(f"mood {letter}"), "revision": revision} for letter in "abcdefgh"]
    answers = await asyncio.gather(*(client.put(f"{soul}/profile", json=edit) for edit in edits))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 7]
    taken = next(answer for answer in answers if answer.status_code == 200)
    assert (await client.get(f"{soul}/profile")).json() == taken.json()


async def test_maintenance_merges_ages_and_retires_and_what_is_retired_can_be_restored(tmp_path):
    now = 1_800_000_000.0
    async with serving(lambda: now, data_dir=tmp_path) as client:
        soul = f"/v1/souls/{await new_soul(client)}"
        await client.put(f"{soul}/profile", json=emotions("Fading", priority=3))
        now += WEEK + 1
        kept = (await client.get(f"{soul}/profile")).json()["dynamic_state"]["emotions"]["items"]
        items = [*kept, {"content": "Fresh", "priority": 7}]
        await client.put(f"{soul}/profile", json={"dynamic_state": {"emotions": {"items": items}}})
        maintained = (await client.post(f"{soul}/profile/maintain")).json()
        assert said(maintained) == ["Fresh"]
        [retired] = maintained["retired"]
        assert (retired["field"], retired["item"]["content"]) == ("emotions", "Fading")
        restored = (await client.post(f"{soul}/profile/restore", json={"id": retired["id"]})).json()
        assert (said(restored), restored["retired"]) == (["Fresh", "Fading"], [])
        again = await client.post(f"{soul}/profile/restore", json={"id": retired["id"]})
        refused(again, 404, "not_found")


async def test_a_slot_is_written_read_and_emptied(client, soul):
    kinds = {0: "fact", 9: "fact", 10: "moment", 29: "feeling", 30: "growth", 40: "free", 99: "free"}
    for n, kind in kinds.items():
        written = (await client.put(f"{soul}/slots/{n}", json={"content": f" 第 {n} 格 🗝 "})).json()
        assert (written["n"], written["kind"], written["content"]) == (n, kind, f"第 {n} 格 🗝")
    assert [slot["n"] for slot in (await client.get(f"{soul}/slots")).json()] == list(kinds)
    again = (await client.put(f"{soul}/slots/9", json={"content": "changed"})).json()
    assert (await client.get(f"{soul}/slots/9")).json() == again
    assert (await client.delete(f"{soul}/slots/9")).status_code == 204
    refused(await client.get(f"{soul}/slots/9"), 404, "not_found")
    refused(await client.delete(f"{soul}/slots/9"), 404, "not_found")


async def test_a_bad_slot_is_refused_with_the_place(client, soul):
    for n in ("-1", "100", "one", "1.5", "99999999999999999999"):
        assert "path.n" in refused(await client.put(f"{soul}/slots/{n}", json={"content": "x"}), 422, "invalid_input")
    for body, where in [
        ({"content": ""}, "body.content"),
        ({"content": "x" * 501}, "body.content"),
        ({"content": "nul \x00"}, "content: must not contain NUL"),
        ({"content": "x", "colour": 1}, "body.colour"),
        ({}, "body.content"),
    ]:
        assert where in refused(await client.put(f"{soul}/slots/1", json=body), 422, "invalid_input")
    assert (await client.get(f"{soul}/slots")).json() == []


async def test_slots_written_at_once_are_all_kept(client, soul):
    written = [client.put(f"{soul}/slots/{n}", json={"content": f"fact {n}"}) for n in range(40, 60)]
    assert {response.status_code for response in await asyncio.gather(*written)} == {200}
    assert [slot["content"] for slot in (await client.get(f"{soul}/slots")).json()] == [
        f"fact {n}" for n in range(40, 60)
    ]


async def test_a_preference_is_written_with_its_evidence_and_where_it_is_from(client, soul):
    wanted = {"value": "叫我船长", "confidence": 0.5, "evidence": ["以后叫我船长吧"]}
    written = (await client.put(f"{soul}/preferences/name", json=wanted)).json()
    whose = {"user_id": "default", "visibility": "private", "shared_with": []}
    assert written == {**wanted, **whose, "key": "name", "source": "edited", "updated_at": written["updated_at"]}
    assert (await client.get(f"{soul}/preferences/name")).json() == written
    await client.put(f"{soul}/preferences/length", json={"value": "short"})
    assert [kept["key"] for kept in (await client.get(f"{soul}/preferences")).json()] == ["length", "name"]
    assert (await client.delete(f"{soul}/preferences/name")).status_code == 204
    refused(await client.get(f"{soul}/preferences/name"), 404, "not_found")
    refused(await client.delete(f"{soul}/preferences/name"), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body.value"),
        ({"value": ""}, "body.value"),
        ({"value": "x" * 501}, "body.value"),
        ({"value": "x", "confidence": 1.5}, "body.confidence"),
        ({"value": "x", "evidence": ["y"] * 21}, "body.evidence"),
        ({"value": "nul \x00"}, "value: must not contain NUL"),
        ({"value": "x", "colour": "red"}, "body.colour"),
    ],
)
async def test_a_bad_preference_is_refused_with_the_place(client, soul, body, where):
    assert where in refused(await client.put(f"{soul}/preferences/k", json=body), 422, "invalid_input")
    assert (await client.get(f"{soul}/preferences")).json() == []


async def test_nobody_has_no_memory(client):
    paths = ["profile", "slots", "slots/1", "preferences", "preferences/k", "inner-state"]
    for path in paths:
        refused(await client.get(f"/v1/souls/nobody/{path}"), 404, "not_found")
    refused(await client.put("/v1/souls/nobody/slots/1", json={"content": "x"}), 404, "not_found")
    refused(await client.put("/v1/souls/nobody/preferences/k", json={"value": "x"}), 404, "not_found")
    refused(await client.put("/v1/souls/nobody/profile", json=emotions("x")), 404, "not_found")
    refused(await client.post("/v1/souls/nobody/profile/maintain"), 404, "not_found")


async def test_what_was_written_by_hand_is_in_the_next_prompt(modelled, stub):
    soul_id = await new_soul(modelled)
    await modelled.put(f"/v1/souls/{soul_id}/slots/3", json={"content": "has a cat called Tofu"})
    await modelled.put(f"/v1/souls/{soul_id}/preferences/reply_length", json={"value": "very short"})
    await modelled.put(f"/v1/souls/{soul_id}/profile", json=emotions("Homesick"))
    answer = await say(modelled, "hello", soul_id=soul_id)
    prompt = "\n".join(message["content"] for message in stub.requests[-1].body["messages"])
    for words in ("Tofu", "very short", "Homesick"):
        assert words in prompt
    assert {"slot:3", "preference:reply_length"} <= set(answer["persona"]["sources"])

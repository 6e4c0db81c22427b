"""Growth by hand: update-memory with its versions, and a new session that continues an old one."""

import asyncio
import json

import pytest

from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

SUMMARY = '{"title": "The letter", "summary": "Mika brought the letter, and they will read it on Sunday."}'


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


async def begun(client, **setting):
    """A conversation of two turns: its path."""
    soul_id = await new_soul(client, character_id="alserqi")
    for text in ("你这个骗子！", "我有证据"):
        session_id = (await say(client, text, soul_id=soul_id, session_id="first", **setting))["session_id"]
    return f"/v1/sessions/{session_id}"


def grown_to(text):
    """What the model answers to update-memory."""
    return Reply(text=json.dumps({"beliefs": "", "behaviour": "", "relationship": text, "feeling": ""}))


def told(text):
    """The same, as the prompt has it."""
    return f"Relationship: {text}"


def last_turn(stub):
    """The prompt of the last turn, whatever tasks the model was given meanwhile."""
    turns = [request for request in stub.requests if request.body.get("stream")]
    return "\n".join(message["content"] for message in turns[-1].body["messages"])


async def snapshot(client, session):
    return (await client.get(session)).json()["character_snapshot"]


async def test_the_model_reads_both_layers_and_the_whole_conversation(modelled, stub):
    session = await begun(modelled)
    stub.script(grown_to("Learns to trust."), grown_to("Trusts one person."))
    await modelled.post(f"{session}/update-memory")
    calls = len(stub.requests)
    grown = (await modelled.post(f"{session}/update-memory")).json()
    assert (grown["n"], grown["evolved_persona"], grown["source"]) == (2, told("Trusts one person."), "update-memory")
    assert len(stub.requests) == calls + 1
    asked = stub.requests[-1].body["messages"][0]["content"]
    for words in ("废土黑帮老大", "Learns to trust.", "你这个骗子！", "我有证据", "I hear you."):
        assert words in asked
    after = await snapshot(modelled, session)
    assert after["evolved_persona"] == told("Trusts one person.")
    assert "废土黑帮老大" in after["base_persona"]


async def test_the_next_turn_speaks_as_what_has_grown(modelled, stub):
    session = await begun(modelled)
    stub.script(grown_to("No longer looks away first."))
    await modelled.post(f"{session}/update-memory")
    await say(modelled, "hello", session_id="first")
    prompt = "\n".join(message["content"] for message in stub.requests[-1].body["messages"])
    assert "No longer looks away first." in prompt


async def test_every_version_is_kept_and_each_can_be_restored(modelled, stub):
    session = await begun(modelled)
    for text in ("First.", "Second."):
        stub.script(grown_to(text))
        await modelled.post(f"{session}/update-memory")
    restored = (await modelled.post(f"{session}/persona-versions/1/restore")).json()
    assert (restored["n"], restored["evolved_persona"]) == (3, told("First."))
    assert (await snapshot(modelled, session))["evolved_persona"] == told("First.")
    blank = (await modelled.post(f"{session}/persona-versions/0/restore")).json()
    assert (blank["n"], blank["evolved_persona"]) == (4, "")
    versions = (await modelled.get(f"{session}/persona-versions")).json()
    assert [(v["n"], v["evolved_persona"], v["source"]) for v in versions] == [
        (4, "", "restored:0"),
        (3, told("First."), "restored:1"),
        (2, told("Second."), "update-memory"),
        (1, told("First."), "update-memory"),
    ]
    refused(await modelled.post(f"{session}/persona-versions/9/restore"), 404, "not_found")
    refused(await modelled.post(f"{session}/persona-versions/-1/restore"), 422, "invalid_input")


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (Reply(status=500), 503, "model_unavailable"),
        (Reply(hang=True), 504, "model_timeout"),
        (Reply(status=401), 502, "model_refused"),
        (Reply(text="trust_level: 9/10"), 502, "model_error"),
        (Reply(text=" "), 502, "model_error"),
    ],
)
@pytest.mark.parametrize("call", ["update-memory", "summarize"])
async def test_a_failing_model_changes_nothing(modelled, stub, call, reply, status, code):
    session = await begun(modelled)
    backgrounds = (await modelled.get("/v1/backgrounds")).json()
    stub.default = reply
    refused(await modelled.post(f"{session}/{call}"), status, code)
    assert (await snapshot(modelled, session))["evolved_persona"] == ""
    assert (await modelled.get(f"{session}/persona-versions")).json() == []
    assert len((await modelled.get("/v1/sessions")).json()) == 1
    assert (await modelled.get("/v1/backgrounds")).json() == backgrounds


async def test_growth_waits_for_a_running_turn_and_hears_it(modelled, stub):
    session = await begun(modelled)
    await settled(modelled)
    stub.when("EvolvedPersona", grown_to("Heard it all."))
    stub.script(Reply(text=SOUL_TURN, delay_s=0.3))
    turn = asyncio.create_task(say(modelled, "the last word", session_id="first"))
    while not any(b"the last word" in one.raw for one in stub.requests):
        await asyncio.sleep(0.01)
    grown = await modelled.post(f"{session}/update-memory")
    await turn
    assert grown.json()["evolved_persona"] == told("Heard it all.")
    assert "the last word" in stub.requests[-1].body["messages"][0]["content"]


async def test_a_session_in_which_nothing_was_said_cannot_grow(client):
    soul_id = await new_soul(client)
    session_id = (await client.post("/v1/sessions", json={"soul_id": soul_id})).json()["session_id"]
    for call in ("update-memory", "summarize"):
        refused(await client.post(f"/v1/sessions/{session_id}/{call}"), 409, "session_empty")
        refused(await client.post(f"/v1/sessions/nowhere/{call}"), 404, "not_found")
    refused(await client.get("/v1/sessions/nowhere/persona-versions"), 404, "not_found")
    refused(await client.post("/v1/sessions/nowhere/persona-versions/0/restore"), 404, "not_found")


async def test_a_summary_begins_a_session_that_knows_what_happened(modelled, stub):
    session = await begun(modelled, background_id="wasteland_world", template_id="narrator_v1")
    before = (await modelled.get(session)).json()
    stub.script(grown_to("Learns to trust."), Reply(text=SUMMARY))
    await modelled.post(f"{session}/update-memory")
    response = await modelled.post(f"{session}/summarize")
    assert response.status_code == 201, response.text
    follower = response.json()
    assert follower == (await modelled.get(f"/v1/sessions/{follower['session_id']}")).json()
    assert (follower["title"], follower["continued_from"], follower["turn"]) == ("The letter", "first", 0)
    assert (follower["soul_id"], follower["template_id"]) == (before["soul_id"], "narrator_v1")
    assert follower["character_snapshot"] == before["character_snapshot"] | {
        "evolved_persona": told("Learns to trust.")
    }

    background = (await modelled.get(f"/v1/backgrounds/{follower['background_id']}")).json()
    assert background["initial_context"].startswith("Mika brought the letter")
    assert "暴力" in background["world_rules"]
    assert background["extensions"]["summary_of"] == {
        "session_id": "first",
        "soul_id": before["soul_id"],
        "user_id": "default",
        "people": [],
    }

    await say(modelled, "and now?", session_id=follower["session_id"])
    prompt = last_turn(stub)
    assert "Mika brought the letter" in prompt
    assert "Learns to trust." in prompt
    assert "我有证据" not in prompt


async def test_an_inherited_persona_can_be_returned_to(modelled, stub):
    session = await begun(modelled)
    stub.script(grown_to("First."), Reply(text=SUMMARY))
    await modelled.post(f"{session}/update-memory")
    follower = f"/v1/sessions/{(await modelled.post(f'{session}/summarize')).json()['session_id']}"
    await say(modelled, "hi", session_id=follower.rpartition("/")[2])
    # Not a script: the job that archives the old conversation asks the model meanwhile.
    stub.default = grown_to("Second.")
    await modelled.post(f"{follower}/update-memory")
    versions = (await modelled.get(f"{follower}/persona-versions")).json()
    assert [(v["evolved_persona"], v["source"]) for v in versions] == [
        (told("Second."), "update-memory"),
        (told("First."), "inherited:first"),
    ]
    await modelled.post(f"{follower}/persona-versions/1/restore")
    assert (await snapshot(modelled, follower))["evolved_persona"] == told("First.")
    assert (await snapshot(modelled, session))["evolved_persona"] == told("First.")


async def test_the_offline_voice_grows_and_summarises_too(client):
    session = await begun(client)
    grown = (await client.post(f"{session}/update-memory")).json()
    assert set(grown["dimensions"]) == {"beliefs", "behaviour", "relationship", "feeling"}
    assert all(grown["dimensions"].values())
    assert all(text in grown["evolved_persona"] for text in grown["dimensions"].values())
    follower = (await client.post(f"{session}/summarize")).json()
    assert follower["character_snapshot"]["evolved_persona"] == grown["evolved_persona"]
    assert "骗子" in (await client.get(f"/v1/backgrounds/{follower['background_id']}")).json()["initial_context"]
    assert await transcript(client, follower["session_id"]) == []


async def test_the_session_that_continues_stays_in_the_mode_that_was_chosen(client):
    session = await begun(client)
    chosen = await client.put(f"{session}/persona-state", json={"mode": "idol", "ttl_turns": 20})
    assert chosen.status_code == 200, chosen.text
    follower = (await client.post(f"{session}/summarize")).json()
    assert follower["persona_state"] == (await client.get(session)).json()["persona_state"]
    answer = await say(client, "外面的风停了吗？", session_id=follower["session_id"])
    assert answer["persona"]["mode"] == "idol"


async def test_a_summary_comes_to_mind_in_any_later_conversation_of_its_soul_alone(modelled, stub):
    session = await begun(modelled)
    soul_id = (await modelled.get(session)).json()["soul_id"]
    stub.script(Reply(text=SUMMARY))
    follower = (await modelled.post(f"{session}/summarize")).json()
    summary_id = follower["background_id"]
    answer = await say(modelled, "when will we read the letter that Mika brought?", soul_id=soul_id, session_id="later")
    assert f"summary:{summary_id}" in answer["persona"]["sources"]
    turn = [one for one in stub.requests if one.body.get("stream")][-1]  # others may come of the work after turns
    prompt = turn.body["messages"][-1]["content"]
    assert "---Earlier Talks---" in prompt
    assert "Mika brought the letter" in prompt
    other = await new_soul(modelled, "other")
    question = {"q": "when will we read the letter that Mika brought?"}
    [found] = (await modelled.get(f"/v1/souls/{soul_id}/recall", params=question)).json()["summaries"]
    assert (found["summary_id"], found["session_id"]) == (summary_id, "first")
    assert (await modelled.get(f"/v1/souls/{other}/recall", params=question)).json()["summaries"] == []
    await modelled.delete(session)
    assert (await modelled.get(f"/v1/souls/{soul_id}/recall", params=question)).json()["summaries"] == []


async def test_the_session_that_continues_is_told_the_summary_once(modelled, stub):
    session = await begun(modelled)
    stub.script(Reply(text=SUMMARY))
    follower = (await modelled.post(f"{session}/summarize")).json()
    await say(modelled, "when will we read the letter that Mika brought?", session_id=follower["session_id"])
    prompt = last_turn(stub)
    assert prompt.count("Mika brought the letter") == 1


async def test_the_curve_of_growth_says_what_has_changed_in_which_dimension(modelled, stub):
    session = await begun(modelled)
    first = {"beliefs": "Trust is earned.", "behaviour": "Keeps a distance.", "relationship": "Wary.", "feeling": ""}
    second = first | {"behaviour": "Pours two cups of tea.", "feeling": "Calm."}
    for answer in (first, second):
        stub.script(Reply(text=json.dumps(answer)))
        assert (await modelled.post(f"{session}/update-memory")).json()["dimensions"] == answer
    curve = (await modelled.get(f"{session}/evolution")).json()
    one, two = curve["versions"]
    assert curve["measure"] == "meaning"
    assert (one["n"], one["overall"]) == (1, 1.0)
    assert one["changes"] == {"beliefs": 1.0, "behaviour": 1.0, "relationship": 1.0, "feeling": 0.0}
    assert (two["changes"]["beliefs"], two["changes"]["relationship"], two["changes"]["feeling"]) == (0.0, 0.0, 1.0)
    assert 0 < two["changes"]["behaviour"] <= 1
    assert 0 < two["overall"] < 1
    refused(await modelled.get("/v1/sessions/nowhere/evolution"), 404, "not_found")


async def test_the_model_is_shown_the_dimensions_it_wrote_before(modelled, stub):
    session = await begun(modelled)
    stub.script(grown_to("Wary."), grown_to("Close."))
    await modelled.post(f"{session}/update-memory")
    await modelled.post(f"{session}/update-memory")
    assert '"relationship": "Wary."' in stub.requests[-1].body["messages"][0]["content"]

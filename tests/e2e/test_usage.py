"""What a soul costs, over HTTP: a model that tells 10 tokens for what it is asked and 5 for what it answers."""

import asyncio

import pytest

from soulgraph.tests.live import hear, new_soul, say, serving
from soulgraph.tests.stub_openai import Reply

WORDS = "<narrative>I hear you.</narrative><state_update_json>{}</state_update_json>"


def cost(calls):
    return {"calls": calls, "input_tokens": 10 * calls, "output_tokens": 5 * calls}


@pytest.fixture
async def client(stub, tmp_path, clock):
    model = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_timeout_s": 1}
    async with serving(clock, data_dir=tmp_path, timezone="Asia/Shanghai", daily_tokens=40, **model) as client:
        yield client


async def usage(client, soul_id, **query):
    response = await client.get(f"/v1/souls/{soul_id}/usage", params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def totals(client, soul_id):
    return (await usage(client, soul_id))["totals"]


async def test_every_call_of_a_turn_is_in_its_answer_and_in_the_soul_s_books(client, stub):
    soul_id = await new_soul(client)
    call = {"name": "remember", "arguments": {"fact": "the cat is called Tofu"}}
    stub.script(Reply(tool_calls=[call]), Reply(text=WORDS), Reply(text='{"no": "words"}'), Reply(text="Hello."))
    tools = await say(client, "My cat is called Tofu", soul_id=soul_id)
    repaired = [event async for event in hear(client, "hello", soul_id=soul_id)][-1][1]
    plain = await say(client, "hello", soul_id=soul_id, input_id="a")
    again = await say(client, "hello", soul_id=soul_id, input_id="a")
    assert [answer["usage"] for answer in (tools, repaired, plain, again)] == [cost(2), cost(2), cost(1), cost(1)]
    assert await totals(client, soul_id) == {"turn": cost(5)}


async def test_a_turn_that_fails_has_cost_something_too(client, stub):
    soul_id = await new_soul(client)
    stub.script(*[Reply(text='{"no": "words"}')] * 2)
    failed = await client.post("/v1/chat", json={"text": "hi", "soul_id": soul_id})
    assert failed.json()["code"] == "turn_output_invalid"
    assert await totals(client, soul_id) == {"turn": cost(2)}
    stub.script(Reply(hang=True))
    assert (await client.post("/v1/chat", json={"text": "hi", "soul_id": soul_id})).status_code == 504
    spent = (await totals(client, soul_id))["turn"]
    assert spent["calls"] == 3
    assert spent["input_tokens"] > 100, "the prompt was read"


async def test_sessions_that_speak_at_once_add_up_and_each_sees_its_own(client, stub):
    soul_id, other = await new_soul(client), await new_soul(client, "other")
    turns = [say(client, "hi", soul_id=soul_id, session_id=f"s{n}") for n in range(6)]
    answers = await asyncio.gather(*turns, say(client, "hi", soul_id=other))
    assert [answer["usage"] for answer in answers] == [cost(1)] * 7
    assert await totals(client, soul_id) == {"turn": cost(6)}
    assert await totals(client, other) == {"turn": cost(1)}


async def test_growth_by_hand_is_counted_apart(client, stub):
    soul_id = await new_soul(client)
    await say(client, "hi", soul_id=soul_id, session_id="s")
    stub.script(Reply(text="Grown."), Reply(status=500))
    assert (await client.post("/v1/sessions/s/update-memory")).is_success
    assert not (await client.post("/v1/sessions/s/update-memory")).is_success
    assert (await totals(client, soul_id))["growth"] == {"calls": 2, "input_tokens": 10, "output_tokens": 5}


async def test_a_model_that_listens_too_is_paid_for_it(stub, tmp_path):
    model = {"llm_base_url": stub.base_url, "llm_model": "stub", "emotion": "llm"}
    async with serving(data_dir=tmp_path, **model) as client:
        soul_id = await new_soul(client)
        stub.script(Reply(text='{"emotion": "joy"}'), Reply(text=WORDS))
        answer = await say(client, "hi", soul_id=soul_id)
    assert (answer["user_emotion"]["emotion"], answer["usage"]) == ("joy", cost(2))


async def test_the_offline_voice_costs_nothing(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        soul_id = await new_soul(client)
        assert (await say(client, "hi", soul_id=soul_id))["usage"] == cost(0)
        told = await usage(client, soul_id)
    assert (told["days"], told["totals"]) == ([], {})
    assert (told["budget"]["daily_tokens"], told["budget"]["background"]) == (0, "open")


async def test_days_end_at_the_users_midnight_and_with_them_the_budget(client, stub, clock):
    soul_id = await new_soul(client)
    for _ in range(3):
        assert (await client.get(f"/v1/souls/{soul_id}/usage")).json()["budget"]["background"] == "open"
        await say(client, "hi", soul_id=soul_id)
    spent = {"daily_tokens": 40, "spent_today": 45, "background": "stopped", "resets_at": "2027-01-15T16:00:00.000Z"}
    assert (await usage(client, soul_id))["budget"] == spent
    assert (await say(client, "hi", soul_id=soul_id))["reply"], "turns are never refused"

    clock.now += 5 * 3600
    await say(client, "hi", soul_id=soul_id)
    told = await usage(client, soul_id)
    rows = [{"day": "2027-01-16", "kind": "turn", **cost(1)}, {"day": "2027-01-15", "kind": "turn", **cost(4)}]
    assert (told["days"], told["totals"]) == (rows, {"turn": cost(5)})
    assert (told["budget"]["spent_today"], told["budget"]["background"]) == (15, "open")
    assert (await usage(client, soul_id, days=1))["days"] == rows[:1]


async def test_prometheus_is_told_by_soul_and_kind(client):
    soul_id = await new_soul(client)
    await say(client, "hi", soul_id=soul_id)
    text, of = (await client.get("/metrics")).text, f'kind="turn",soul_id="{soul_id}"'
    assert f"soulgraph_model_calls_total{{{of}}} 1.0" in text
    assert f'soulgraph_model_tokens_total{{direction="input",{of}}} 10.0' in text
    assert f'soulgraph_model_tokens_total{{direction="output",{of}}} 5.0' in text


async def test_nonsense_is_refused_and_a_stranger_not_found(client):
    soul_id = await new_soul(client)
    for days in (0, 367, "x"):
        assert (await client.get(f"/v1/souls/{soul_id}/usage", params={"days": days})).status_code == 422
    assert (await client.get("/v1/souls/nobody/usage")).status_code == 404

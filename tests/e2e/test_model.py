"""A person talks to a soul whose model is a server that speaks the OpenAI protocol, well or badly."""

import asyncio

import pytest

from soulgraph.prompts.render import load
from soulgraph.tests.live import hear, new_soul, say, transcript
from soulgraph.tests.stub_openai import Reply

EMPTY = "<state_update_json>{}</state_update_json>"


def turn(narrative, update="{}"):
    return f"<narrative>{narrative}</narrative><state_update_json>{update}</state_update_json>"


async def stored_turns(client):
    return [session["turn"] for session in (await client.get("/v1/sessions")).json()]


async def test_tokens_arrive_while_the_model_is_still_speaking(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(Reply(text=turn("One. Two. Three. Four. Five. Six."), chunk_size=6, chunk_delay_s=0.05))
    times = []
    async for name, data in hear(modelled, "count", soul_id=soul_id):
        if name == "token":
            times.append(asyncio.get_running_loop().time())
        if name == "done":
            done = data, asyncio.get_running_loop().time()
    assert done[0]["reply"] == "One. Two. Three. Four. Five. Six."
    assert done[1] - times[0] > 0.2
    assert done[0]["voice"] == "stub"


@pytest.mark.parametrize("chunk_size", [1, 2, 7, 1000])
async def test_tags_and_json_never_reach_the_person(modelled, stub, chunk_size):
    soul_id = await new_soul(modelled)
    text = f"Sure, here it is:\n{turn('她笑了 <3 & 说：“好”')}\nbye"
    stub.script(Reply(text=text, chunk_size=chunk_size))
    events = [event async for event in hear(modelled, "hi", soul_id=soul_id)]
    assert "".join(data["text"] for name, data in events if name == "token") == "她笑了 <3 & 说：“好”"
    assert events[-1][1]["reply"] == "她笑了 <3 & 说：“好”"


async def test_the_model_uses_a_tool_and_then_answers(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(
        Reply(tool_calls=[{"name": "remember", "arguments": {"fact": "the user's cat is called Tofu"}}]),
        Reply(text=turn("Tofu. I will remember.")),
    )
    events = [event async for event in hear(modelled, "My cat is called Tofu", soul_id=soul_id)]
    assert ("tool", "remember") in [(name, data.get("name")) for name, data in events]
    assert events[-1][1]["reply"] == "Tofu. I will remember."
    second = stub.requests[-1].body["messages"]
    assert [message["role"] for message in second[-2:]] == ["assistant", "tool"]
    await say(modelled, "hello", soul_id=soul_id)
    assert "Tofu" in stub.requests[-1].body["messages"][0]["content"]


async def test_the_tool_loop_is_bounded(modelled, stub):
    soul_id = await new_soul(modelled)
    calls = [{"name": "recall_memory", "arguments": {"query": "x"}}]
    stub.default = Reply(tool_calls=calls, text="<narrative>Enough.</narrative>")
    answer = await modelled.post("/v1/chat", json={"text": "loop", "soul_id": soul_id})
    assert len(stub.requests) == 6
    assert stub.requests[-1].body["tool_choice"] == "none"
    assert answer.json()["reply"].endswith("Enough.")


async def test_a_tool_that_gets_nonsense_tells_the_model_instead_of_failing_the_turn(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(
        Reply(tool_calls=[{"name": "remember", "arguments": {"nonsense": 1}}]),
        Reply(tool_calls=[{"name": "fly_to_the_moon", "arguments": {}}]),
        Reply(text=turn("Sorry, I lost my thread.")),
    )
    assert (await say(modelled, "hm", soul_id=soul_id))["reply"] == "Sorry, I lost my thread."


async def test_an_answer_without_words_is_asked_for_once_more_and_shortly(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(Reply(text='{"mood": "no words"}'), Reply(text="Better now."))
    events = [event async for event in hear(modelled, "hi", soul_id=soul_id)]
    assert "".join(data["text"] for name, data in events if name == "token") == "Better now."
    assert events[-1][1]["reply"] == "Better now."
    first, second = [request.body["messages"] for request in stub.requests][:2]
    assert [message["role"] for message in second] == ["system", "user"]
    assert "no words" not in str(second)
    assert len(second[0]["content"]) < len(first[0]["content"]) / 3


@pytest.mark.parametrize(
    "broken",
    [
        "<narrative></narrative>" + EMPTY,
        '{"mood": "fine"}',
        "<narrative>You found it! And under the sofa, of all places.</narrative>" + EMPTY,
    ],
    ids=["no words", "JSON", "the contract's example"],
)
async def test_broken_twice_rolls_back_and_only_the_hurt_stays(modelled, stub, broken):
    soul_id = await new_soul(modelled)
    before = (await modelled.get(f"/v1/souls/{soul_id}")).json()
    stub.script(Reply(text=broken), Reply(text=broken))
    failed = await modelled.post("/v1/chat", json={"text": "我恨你，滚！", "soul_id": soul_id, "input_id": "a"})
    assert (failed.status_code, failed.json()["code"]) == (502, "turn_output_invalid")
    assert failed.json()["turn_id"].startswith("turn_")
    after = (await modelled.get(f"/v1/souls/{soul_id}")).json()
    assert after["emotion_state"]["p"] < before["emotion_state"]["p"]
    assert await stored_turns(modelled) == []

    retried = await say(modelled, "我恨你，滚！", soul_id=soul_id, input_id="a")
    healed = (await modelled.get(f"/v1/souls/{soul_id}")).json()["emotion_state"]
    assert retried["turn_id"] == failed.json()["turn_id"]
    assert healed["shock_load"] <= after["emotion_state"]["shock_load"], "heard once, hurt once"
    assert await stored_turns(modelled) == [1]


@pytest.mark.parametrize(
    ("reply", "status", "code", "calls"),
    [
        (Reply(status=401, text="bad key"), 502, "model_refused", 1),
        (Reply(status=404, text="no such model"), 502, "model_refused", 1),
        (Reply(status=500), 503, "model_unavailable", 3),
        (Reply(status=429), 503, "model_unavailable", 3),
        (Reply(garbage="<html>proxy</html>"), 503, "model_unavailable", 3),
        (Reply(cut_after=0), 503, "model_unavailable", 3),
        (Reply(text=turn("Half a sentence that ends"), cut_after=6), 503, "model_unavailable", 1),
        (Reply(hang=True), 504, "model_timeout", 1),
        (Reply(text=turn("slow"), chunk_size=1, chunk_delay_s=3), 504, "model_timeout", 1),
        (Reply(finish_reason="content_filter", text="<narrative>x</narrative>"), 502, "model_refused", 1),
        (Reply(refusal="I cannot help with that"), 502, "model_refused", 2),
        (Reply(text=""), 502, "model_refused", 2),
    ],
)
async def test_a_failing_model_is_named_and_nothing_is_half_written(modelled, stub, reply, status, code, calls):
    soul_id = await new_soul(modelled)
    stub.default = reply
    failed = await modelled.post("/v1/chat", json={"text": "hi", "soul_id": soul_id})
    assert (failed.status_code, failed.json()["code"]) == (status, code), failed.text
    assert len(stub.requests) == calls, "retried only where it helps"
    assert await stored_turns(modelled) == []
    streamed = [event async for event in hear(modelled, "hi", soul_id=soul_id)]
    assert (streamed[-1][0], streamed[-1][1]["code"]) == ("error", code)


async def test_a_model_that_recovers_in_time_is_not_noticed(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(Reply(status=503), Reply(text=turn("Here I am.")))
    assert (await say(modelled, "hi", soul_id=soul_id))["reply"] == "Here I am."


async def test_a_turn_goes_on_when_the_listener_leaves(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(Reply(text=turn("A long answer that nobody waits for."), chunk_size=4, chunk_delay_s=0.03))
    async for name, _ in hear(modelled, "hi", soul_id=soul_id, session_id="s"):
        if name == "token":
            break
    assert await stored_turns(modelled) == []
    answer = await say(modelled, "still there?", soul_id=soul_id, session_id="s")
    assert await transcript(modelled, "s") == [
        ("user", "hi"),
        ("assistant", "A long answer that nobody waits for."),
        ("user", "still there?"),
        ("assistant", answer["reply"]),
    ]


async def test_the_prompt_holds_the_conversation_and_its_safety_comes_first(modelled, stub):
    soul_id = await new_soul(modelled, character_id="alserqi")
    await say(modelled, "你好", soul_id=soul_id, background_id="wasteland_world", template_id="narrator_v1")
    await say(modelled, "我有证据", soul_id=soul_id, background_id="wasteland_world", template_id="narrator_v1")
    system, said, replied, last = stub.requests[-1].body["messages"]
    assert system["content"].startswith("---安全")
    for expected in ("第三人称的叙述者", "废土黑帮老大", "核战后的荒芜大陆", "Trust must be earned"):
        assert expected in system["content"]
    assert said["content"] == "你好"
    assert "I hear you." in replied["content"]
    assert last["content"].endswith("---用户输入---\n我有证据\n\n（用中文回答。）")
    assert system["content"].endswith(load("contract_tags", "zh").rpartition("\n")[2])


async def test_a_server_that_refuses_to_count_what_it_streams_is_talked_to_all_the_same(modelled, stub):
    stub.default = Reply(text=turn("I hear you."), usage=False)
    stub.when('"stream_options":', Reply(status=400, text="Unrecognized request argument supplied: stream_options"))
    soul_id = await new_soul(modelled)
    first, second = [await say(modelled, "hi", soul_id=soul_id) for _ in range(2)]
    assert ["stream_options" in request.body for request in stub.requests] == [True, False, False]
    assert [answer["reply"] for answer in (first, second)] == ["I hear you."] * 2
    for answer in (first, second):
        assert answer["usage"]["calls"] == 1
        assert answer["usage"]["input_tokens"] > answer["usage"]["output_tokens"] > 5

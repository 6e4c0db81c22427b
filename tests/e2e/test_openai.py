"""Programs that speak to OpenAI speak to a soul: with OpenAI's own client, and with LangChain's."""

import asyncio
import json

import openai
import pytest
from langchain_openai import ChatOpenAI

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

COST = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
HELLO = [{"role": "user", "content": "hello"}]


def gpt(client, **options):
    """OpenAI's client, pointed at our server."""
    return openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0, **options)


async def post(client, headers=None, **fields):
    body = {"model": "soul:Mo", "messages": HELLO, **fields}
    return await client.post("/v1/chat/completions", json=body, headers=headers)


async def error(client, **fields):
    """The status of a request that is refused, and the error."""
    response = await post(client, **fields)
    assert response.headers["content-type"] == "application/json"
    return response.status_code, response.json()["error"]


async def test_a_soul_answers_as_a_model_and_tells_what_it_cost(modelled):
    soul_id = await new_soul(modelled, "Mo")
    async with gpt(modelled) as client:
        raw = await client.chat.completions.with_raw_response.create(model="soul:Mo", messages=HELLO, user="ann")
        answer = raw.parse()
        later = [*HELLO, {"role": "assistant", "content": "I hear you."}, {"role": "user", "content": "and now?"}]
        again = await client.chat.completions.create(model=f"soul:{soul_id}", messages=later, user="ann")
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "I hear you.", "stop")
    assert (answer.object, answer.model, answer.usage.model_dump(exclude_none=True)) == (
        "chat.completion",
        "soul:Mo",
        COST,
    )
    extras = answer.model_extra["soulgraph"]
    assert (extras["soul_id"], extras["exec_mode"]) == (soul_id, "auto_execute")
    assert answer.id == f"chatcmpl-{extras['turn_id']}"
    assert -1 <= extras["soul_emotion"]["p"] <= 1
    assert again.model_extra["soulgraph"]["session_id"] == extras["session_id"] == raw.headers["X-Session-Id"]
    session = (await modelled.get(f"/v1/sessions/{extras['session_id']}")).json()
    assert (session["user_id"], session["turn"]) == ("ann", 2)


async def test_the_synchronous_client_is_served_too(modelled):
    await new_soul(modelled, "Mo")

    def talk():
        with openai.OpenAI(base_url=f"{modelled.base_url}/v1", api_key="none", max_retries=0) as client:
            whole = client.chat.completions.create(model="soul:Mo", messages=HELLO)
            chunks = client.chat.completions.create(model="soul:Mo", messages=HELLO, stream=True)
            return whole.choices[0].message.content, "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    assert await asyncio.to_thread(talk) == ("I hear you.", "I hear you.")


@pytest.mark.parametrize("with_usage", [True, False])
async def test_a_stream_is_made_of_chunks_and_ends_as_openai_s(modelled, with_usage):
    await new_soul(modelled, "Mo")
    options = {"stream_options": {"include_usage": True}} if with_usage else {}
    response = await post(modelled, stream=True, **options)
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    chunks = [json.loads(line) for line in lines]
    assert len({(chunk["id"], chunk["object"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
    assert chunks[0]["object"] == "chat.completion.chunk"
    if with_usage:
        cost = chunks.pop()
        assert (cost["choices"], cost["usage"]) == ([], COST)
    assert [chunk.get("usage", "none") for chunk in chunks] == [None if with_usage else "none"] * len(chunks)
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(choice["delta"].get("content", "") for choice in choices) == "I hear you."
    assert [choice["finish_reason"] for choice in choices] == [None] * (len(choices) - 1) + ["stop"]
    assert chunks[-1]["soulgraph"]["session_id"] == response.headers["X-Session-Id"]


async def test_openai_s_client_streams_and_the_words_come_while_they_are_said(modelled, stub):
    await new_soul(modelled, "Mo")
    stub.default = Reply(
        text=SOUL_TURN.replace("I hear you.", "I hear you, and all that the wind says."), chunk_delay_s=0.01
    )
    async with gpt(modelled) as client:
        stream = await client.chat.completions.create(
            model="soul:Mo", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    assert sum(bool(chunk.choices and chunk.choices[0].delta.content) for chunk in chunks) > 3
    assert chunks[-1].usage.total_tokens == 15


async def test_langchain_talks_to_it_as_to_any_model(modelled):
    await new_soul(modelled, "Mo")
    model = ChatOpenAI(base_url=f"{modelled.base_url}/v1", api_key="none", model="soul:Mo", max_retries=0)
    answer = await model.ainvoke([("system", "You are a pirate."), ("human", "hello")])
    assert answer.content == "I hear you."
    assert (answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"]) == (10, 5)
    pieces = [piece async for piece in model.astream("hello", stream_usage=True)]
    whole = sum(pieces[1:], pieces[0])
    assert (whole.content, whole.usage_metadata["total_tokens"]) == ("I hear you.", 15)
    assert (await asyncio.to_thread(model.invoke, "hello")).content == "I hear you."


async def test_only_the_user_s_last_message_is_new_and_the_persona_is_the_soul_s_own(modelled, stub):
    await new_soul(modelled, "Mo")
    parts = [{"type": "text", "text": "look"}, {"type": "text", "text": "at that"}]
    history = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
        {"role": "assistant", "content": "Arr."},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    response = await post(modelled, messages=history, temperature=2, max_tokens=1, seed=7, stop=["I"], new_field={})
    assert response.json()["choices"][0]["message"]["content"] == "I hear you."
    session_id = response.json()["soulgraph"]["session_id"]
    assert await transcript(modelled, session_id) == [("user", "look\nat that"), ("assistant", "I hear you.")]
    assert b"pirate" not in stub.requests[-1].raw
    assert b"Arr" not in stub.requests[-1].raw


async def test_a_session_is_named_by_a_header_or_by_metadata(modelled):
    soul_id = await new_soul(modelled, "Mo")
    both = await post(modelled, {"X-Session-Id": "from-header"}, metadata={"session_id": "from-metadata", "x": "y"})
    meta = await post(modelled, metadata={"session_id": "第一"})
    back = await post(modelled, {"X-Session-Id": meta.headers["X-Session-Id"]})
    sessions = [answer.json()["soulgraph"]["session_id"] for answer in (both, meta, back)]
    assert (sessions, both.headers["X-Session-Id"]) == (["from-header", "第一", "第一"], "from-header")
    usual = await post(modelled)
    said = await say(modelled, "hello", soul_id=soul_id)
    assert usual.json()["soulgraph"]["session_id"] == said["session_id"]


async def test_an_idempotency_key_makes_a_repeated_request_harmless(modelled, stub):
    await new_soul(modelled, "Mo")
    once, twice = [await post(modelled, {"Idempotency-Key": "a"}) for _ in range(2)]
    assert once.json()["soulgraph"] == twice.json()["soulgraph"]
    assert len(stub.requests) == 1
    streamed = await post(modelled, {"Idempotency-Key": "a"}, stream=True)
    assert '"content": "I hear you."' in streamed.text


async def test_souls_are_listed_by_names_that_can_be_used(modelled):
    await new_soul(modelled, "Mo")
    ann, bob = [await new_soul(modelled, "小满/x", user_id=user) for user in ("ann", "bob")]
    async with gpt(modelled) as client:
        listed = [(model.id, model.owned_by) async for model in client.models.list()]
        souls = [("soul:Mo", "default"), (f"soul:{ann}", "ann"), (f"soul:{bob}", "bob")]
        assert listed == [*souls, ("plain", "soulgraph")]
        assert [(await client.models.retrieve(name)).id for name, _ in listed] == [name for name, _ in listed]
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("soul:nobody")
    own = await post(modelled, model="soul:小满/x", user="bob")
    assert own.json()["soulgraph"]["soul_id"] == bob
    status, told = await error(modelled, model="soul:小满/x")
    assert (status, ann in told["message"], bob in told["message"]) == (400, True, True)


USELESS = {
    "n": 2,
    "tools": [{"type": "function", "function": {"name": "f"}}],
    "functions": [{"name": "f"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}},
    "logprobs": True,
    "top_logprobs": 5,
    "logit_bias": {"50256": -100},
    "modalities": ["text", "audio"],
    "audio": {"voice": "alloy", "format": "wav"},
    "temperature": 2,
    "max_tokens": 100,
    "stop": ["I"],
    "seed": 7,
    "reasoning_effort": "low",
    "unheard_of": {"a": [1]},
}


@pytest.mark.parametrize("name", USELESS)
async def test_what_a_soul_cannot_do_is_ignored_and_the_answer_says_so(modelled, name):
    await new_soul(modelled, "Mo")
    answer = await post(modelled, **{name: USELESS[name]})
    [choice] = answer.json()["choices"]
    assert choice["message"]["content"] == "I hear you."
    assert answer.headers["X-Soulgraph-Ignored"] == name


async def test_what_asks_for_nothing_is_not_named(modelled):
    await new_soul(modelled, "Mo")
    nothing = {"n": 1, "tools": [], "response_format": {"type": "text"}, "logprobs": False, "user": None, "stop": None}
    answer = await post(modelled, tool_choice="auto", presence_penalty=0, **nothing)
    assert "X-Soulgraph-Ignored" not in answer.headers


async def test_a_tool_of_the_caller_s_that_must_be_called_is_refused(modelled, stub):
    await new_soul(modelled, "Mo")
    tools = [{"type": "function", "function": {"name": "f"}}]
    one = {"type": "function", "function": {"name": "f"}}
    for choice in ("required", one, {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [one]}}):
        status, told = await error(modelled, tools=tools, tool_choice=choice)
        assert (status, told["param"], told["code"]) == (400, "tool_choice", "invalid_input")
    assert (await error(modelled, function_call={"name": "f"}))[0] == 400
    assert not stub.requests
    assert (await post(modelled, tools=tools, tool_choice="none")).status_code == 200
    among = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}
    assert (await post(modelled, tools=tools, tool_choice=among)).status_code == 200


@pytest.mark.parametrize("user", ["has spaces", "Ann <ann@example.org>", "小满 的 妈妈", "x" * 500, 17, {"id": "u1"}])
async def test_any_text_may_say_who_speaks(modelled, user):
    await new_soul(modelled, "Mo")
    for _ in range(2):
        answer = await post(modelled, user=user)
        assert answer.status_code == 200, answer.text
    [session] = (await modelled.get("/v1/sessions")).json()
    assert session["user_id"] != "default"
    other = await post(modelled, user="somebody else")
    assert other.headers["X-Session-Id"] != answer.headers["X-Session-Id"]


async def test_pictures_are_not_seen_and_the_soul_knows_it(modelled, stub):
    await new_soul(modelled, "Mo")
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 3_000_000}"}}
    shown = [{"role": "user", "content": [{"type": "text", "text": "look at that"}, picture]}]
    answer = await post(modelled, messages=shown)
    assert (answer.status_code, answer.headers["X-Soulgraph-Ignored"]) == (200, "images")
    alone = await post(modelled, {"X-Session-Id": "alone"}, messages=[{"role": "user", "content": [picture]}])
    assert (await transcript(modelled, "alone"))[0] == ("user", "[a picture]"), alone.text
    assert b"AAAA" not in stub.requests[-1].raw


async def test_what_nobody_can_read_is_refused_with_the_field_s_name(modelled, stub):
    await new_soul(modelled, "Mo")
    for name, value in {"stream": "perhaps", "messages": "hi"}.items():
        status, told = await error(modelled, **{name: value})
        assert (status, told["type"], told["code"]) == (400, "invalid_request_error", "invalid_input")
        assert told["param"].startswith(name)
    no_text = [{"role": "user", "content": [{"type": "text", "text": {"a": 1}}]}]
    for messages in ([], [{"role": "system", "content": "x"}], [{"role": "user", "content": " "}], no_text):
        assert (await error(modelled, messages=messages))[0] == 400, messages
    assert not stub.requests


async def test_of_what_is_too_long_the_middle_is_left_out_and_it_is_known_when_it_comes_again(modelled, stub):
    await new_soul(modelled, "Mo")
    long = {"role": "user", "content": "This is my diary. " + "It rained. " * 2000 + "What do you think of it?"}
    answer = await post(modelled, messages=[long])
    assert answer.headers["X-Soulgraph-Ignored"] == "length"
    session_id = answer.headers["X-Session-Id"]
    [(_, said), (_, reply)] = await transcript(modelled, session_id)
    assert len(said) <= 8000 and said.startswith("This is my diary.") and said.endswith("What do you think of it?")
    later = await post(modelled, messages=[long, {"role": "assistant", "content": reply}, *HELLO])
    assert (later.headers["X-Session-Id"], "X-Soulgraph-Ignored" in later.headers) == (session_id, False)
    assert len(await transcript(modelled, session_id)) == 4


PATHS = (
    "completions responses/x images/generations moderations files assistants threads/x/runs fine_tuning/jobs audio/x"
)


@pytest.mark.parametrize("path", PATHS.split())
async def test_errors_have_openai_s_form_wherever_its_clients_call(client, path):
    for method in ("GET", "POST", "DELETE"):
        answer = await client.request(method, f"/v1/{path}", json={})
        assert answer.status_code in (400, 404, 405), answer.text
        assert {"message", "type", "param", "code"} == answer.json()["error"].keys()


async def test_openai_s_client_knows_our_errors(modelled, stub, tmp_path):
    await new_soul(modelled, "Mo")
    async with gpt(modelled) as client:
        for name in ("soul:nobody", "gpt-4o"):
            with pytest.raises(openai.NotFoundError) as unknown:
                await client.chat.completions.create(model=name, messages=HELLO)
            assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
        with pytest.raises(openai.APIStatusError) as large:
            await client.chat.completions.create(model="soul:Mo", messages=[{"role": "user", "content": "x" * 1100000}])
        assert (large.value.status_code, large.value.code) == (413, "body_too_large")
        stub.default = Reply(status=500, text="down")
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as down:
                await client.chat.completions.create(model="soul:Mo", messages=HELLO, stream=stream)
            assert (down.value.status_code, down.value.code) == (503, "model_unavailable")
        stub.default = Reply(hang=True)
        with pytest.raises(openai.InternalServerError) as late:
            await client.chat.completions.create(model="soul:Mo", messages=HELLO)
        assert (late.value.status_code, late.value.type) == (504, "server_error")


async def test_a_stream_that_breaks_off_raises_in_the_client(modelled, stub):
    await new_soul(modelled, "Mo")
    stub.script(Reply(text=SOUL_TURN.replace("I hear you.", "I hear you. " * 9), cut_after=16, chunk_delay_s=0.01))
    stub.default = Reply(status=500, text="down")
    async with gpt(modelled) as client:
        stream = await client.chat.completions.create(model="soul:Mo", messages=HELLO, stream=True)
        heard = ""
        with pytest.raises(openai.APIError) as broken:
            async for chunk in stream:
                heard += chunk.choices[0].delta.content
    assert "I hea" in heard
    assert broken.value.code.startswith("model_")


async def test_a_full_queue_and_a_missing_key_are_told_as_openai_tells_them(stub, tmp_path):
    stub.default = Reply(hang=True)
    settings = {"data_dir": tmp_path, "llm_base_url": stub.base_url, "llm_model": "m", "llm_timeout_s": 1}
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
        key, body = await tx.keys.create("a", "owner", 1.0), await tx.keys.create("b", "terminal", 1.0)
    async with serving(session_queue=1, **settings) as client:
        async with gpt(client) as stranger:
            with pytest.raises(openai.AuthenticationError) as refused:
                await stranger.models.list()
            assert refused.value.code == "unauthorized"
            assert [model async for model in stranger.with_options(api_key=body).models.list()] == []
        client.headers["Authorization"] = f"Bearer {key}"
        await new_soul(client, "Mo")
        running = asyncio.create_task(post(client))
        while not stub.requests:
            await asyncio.sleep(0.01)
        async with gpt(client) as user:
            with pytest.raises(openai.RateLimitError) as busy:
                await user.with_options(api_key=key).chat.completions.create(model="soul:Mo", messages=HELLO)
        assert (busy.value.code, busy.value.type) == ("session_busy", "rate_limit_error")
        assert int(busy.value.response.headers["Retry-After"]) >= 1
        await running


async def test_of_a_client_that_leaves_what_it_has_seen_is_stored(modelled, stub):
    await new_soul(modelled, "Mo")
    words = " ".join(f"I hear the wind and wave number {n}." for n in range(60))
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", words), chunk_delay_s=0.01)
    body = {"model": "soul:Mo", "messages": HELLO, "stream": True}
    seen = ""
    async with modelled.stream("POST", "/v1/chat/completions", json=body) as response:
        session_id = response.headers["X-Session-Id"]
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                seen += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
            if "number 2" in seen:
                break
    while (await modelled.get(f"/v1/sessions/{session_id}")).is_error:
        await asyncio.sleep(0.01)
    [_, (_, stored)] = await transcript(modelled, session_id)
    assert stored.startswith(seen)
    assert len(stored) < len(words) / 2


async def test_the_offline_voice_speaks_here_too_and_costs_nothing(client):
    await new_soul(client, "Mo")
    answer = (await post(client)).json()
    assert answer["choices"][0]["message"]["content"]
    assert answer["usage"] == dict.fromkeys(COST, 0)

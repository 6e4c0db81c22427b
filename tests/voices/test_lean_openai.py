"""What servers send beside the plain case: nothing of it breaks a reply, shows a thought or counts nonsense."""

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from soulgraph.errors import ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.settings import Settings
from soulgraph.tests.voices.test_providers import completion, light
from soulgraph.tests.voices.wire_server import WireServer
from soulgraph.voices.factory import open_voice
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak, translate_model_errors
from soulgraph.voices.usage import metered

ASKED = [HumanMessage("hi")]


def chunk(delta=None, finish=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def sse(*events):
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    return "\n\n".join([*lines, "data: [DONE]", ""])


def playing(*events, plain=None, refusal=None):
    wire = {"base": "/v1", "model": "m", "stream": sse(*events), "plain": plain, "refusal": refusal or {}}
    return WireServer(wire, refuses=bool(refusal))


def voice_of(server, tools=(), **settings):
    return open_voice(Settings.load(llm_base_url=server.base_url, llm_model="m", **settings).llm, tools)


async def streamed(*events):
    async with playing(*events) as server, voice_of(server) as voice:
        chunks = [chunk async for chunk in voice.model.astream(ASKED)]
    return sum(chunks[1:], chunks[0])


async def plain(answer):
    async with playing(plain=answer) as server, voice_of(server) as voice:
        with translate_model_errors():
            return await voice.model.ainvoke(ASKED)


HELLO, END = chunk({"content": "Hello."}), chunk(finish="stop")


# Streams


@pytest.mark.parametrize(
    "events",
    [
        [": a comment", HELLO, END],
        [f"event: message\ndata: {json.dumps(HELLO)}", END],
        [chunk({"role": "assistant", "content": None}), HELLO, END],
        [{**END, "choices": None}, HELLO, END],
        [{**END, "choices": ["odd"]}, HELLO, END],
        [{"id": "c1", "object": "chat.completion.chunk"}, HELLO, END],
        [{**END, "choices": [{"index": 0, "delta": None, "finish_reason": None}]}, HELLO, END],
        [{**END, "choices": [{"index": 0, "finish_reason": None}]}, HELLO, END],
        [chunk({"role": "model", "content": "Hello."}), END],
        [chunk({"content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Hello."}]}), END],
        [HELLO, chunk({"content": ""}, finish="stop"), chunk(finish="stop")],
        [chunk({"content": "Hello."}, finish="stop")],
        [HELLO, chunk(finish="STOP")],
        [chunk({"content": "<think>a</think>Hello."}), END],
        [chunk({"content": "<think>"}), chunk({"content": "a <b> c"}), chunk({"content": "</think>\n\nHello."}), END],
        [chunk({"content": "Hel"}), chunk({"content": "lo."}), END],
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_a_reply_comes_through_whatever_is_around_it(events):
    answer = await streamed(*events)
    assert (answer.text, answer.response_metadata["finish_reason"]) == ("Hello.", "stop")


@pytest.mark.parametrize(("sent", "read"), [("max_tokens", "length"), ("content-filter", "content_filter")])
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_other_words_for_the_same_end_are_understood(sent, read):
    assert (await streamed(HELLO, chunk(finish=sent))).response_metadata["finish_reason"] == read


def usage(given, taken, **more):
    return {"prompt_tokens": given, "completion_tokens": taken, "total_tokens": 1, **more}


@pytest.mark.parametrize(
    "counts",
    [
        usage(-5, 3),
        usage(10**15, 3),
        usage("ten", 3),
        usage(None, None),
        usage(0, 0),
        usage(True, 3),
        {"total_tokens": 9},
        [1],
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_counts_that_cannot_be_meant_are_estimated(counts):
    async with playing(HELLO, END, {**END, "choices": [], "usage": counts}) as server, voice_of(server) as voice:
        with metered() as meter:
            assert (await voice.model.ainvoke(ASKED, stream=True)).text == "Hello."
    assert 0 < meter.spent.input_tokens < 10
    assert 0 < meter.spent.output_tokens < 10


async def test_counts_that_grow_with_every_chunk_are_not_added_up():
    events = [chunk({"content": word}, usage=usage(7, count)) for count, word in enumerate(["One", " two"], 1)]
    answer = await streamed(*events, chunk(finish="stop", usage=usage(7, 3)))
    assert answer.usage_metadata["input_tokens"] == 7
    assert answer.usage_metadata["output_tokens"] == 3


async def test_a_thought_that_was_never_opened_is_hidden_from_the_second_answer_on():
    events = [chunk({"content": "They greet"}), chunk({"content": " me.</think>\nHello."}), END]
    async with playing(*events) as server, voice_of(server) as voice:
        answers = ["".join([piece.text async for piece in voice.model.astream(ASKED)]) for _ in range(2)]
        assert answers == ["They greetHello.", "Hello."]
        server.wire["stream"] = sse(HELLO, END)
        assert [(await voice.model.ainvoke(ASKED, stream=True)).text for _ in range(2)] == ["Hello.", "Hello."]


async def test_a_call_without_an_index_is_still_a_call():
    call = {"id": "call_1", "type": "function", "function": {"name": "light", "arguments": '{"on": true}'}}
    answer = await streamed(chunk({"tool_calls": [call]}), chunk({"tool_calls": [{"index": 0}]}), chunk(finish="stop"))
    assert [(made["name"], made["args"]) for made in answer.tool_calls] == [("light", {"on": True})]


# Errors inside an answer of status 200


async def speak_through(*events):
    async with playing(*events) as server, voice_of(server) as voice:
        await speak(voice.model, ASKED, ReplyStream(), lambda _: None)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "overloaded", "type": "server_error", "code": 503}, ModelUnavailable),
        ({"message": "overloaded", "code": "429"}, ModelUnavailable),
        ("overloaded", ModelUnavailable),
        ({"message": "overloaded prompt", "type": "exceed_context_size_error", "code": 400}, ModelRefused),
        ({"message": "overloaded prompt", "type": "invalid_request_error"}, ModelRefused),
    ],
)
async def test_an_error_inside_a_stream_says_what_it_is(error, kind):
    words = "overloaded prompt" if kind is ModelRefused else "server failed"
    with pytest.raises(kind, match=words):
        await speak_through(HELLO, {"error": error})


async def test_thoughts_that_use_up_the_answer_say_which_setting_to_raise():
    with pytest.raises(ModelRefused, match="SOULGRAPH_LLM_MAX_TOKENS"):
        await speak_through(chunk({"content": None, "reasoning_content": "Hm"}), chunk(finish="length"))
    with pytest.raises(ModelRefused, match="SOULGRAPH_LLM_MAX_TOKENS"):
        await speak_through(chunk({"content": "<think>Hm, hm"}), chunk(finish="length"))


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "overloaded", "code": 503}},
        {"id": "c", "object": "chat.completion", "choices": None},
        {"id": "c", "object": "chat.completion", "choices": []},
        {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop"}]},
        {},
        "<html>a proxy</html>",
    ],
)
async def test_a_plain_answer_without_an_answer_in_it_is_unavailable(answer):
    with pytest.raises(ModelUnavailable):
        await plain(answer)


async def test_the_server_s_words_are_told_even_if_they_are_not_where_openai_has_them():
    refusal = {"parameter": "messages", "status": 400, "body": {"error": "the context is full"}}
    async with playing(refusal=refusal) as server, voice_of(server) as voice:
        with pytest.raises(ModelRefused, match="the context is full"):
            await speak(voice.model, ASKED, ReplyStream(), lambda _: None)


# Plain answers


async def test_a_plain_answer_has_neither_thoughts_nor_reasoning():
    answer = await plain(completion("<think>\nThey greet me.\n</think>\n\nHello.", reasoning_content="They greet me."))
    assert answer.text == "Hello."
    assert "greet me" not in repr(answer)
    assert answer.usage_metadata["output_tokens"] == 4


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_odd_counts_of_a_plain_answer_are_estimated():
    assert (await plain({**completion("Hello."), "usage": usage("ten", None)})).usage_metadata is None


# Thoughts that a server wants back


CALL = {"index": 0, "id": "call_7", "type": "function", "function": {"name": "light", "arguments": '{"on": true}'}}


async def test_thoughts_before_a_tool_call_go_back_to_the_server_and_nowhere_else():
    thought = chunk({"content": None, "reasoning_content": "It is dark."})
    events = [thought, chunk({"tool_calls": [CALL]}), chunk(finish="tool_calls")]
    async with playing(*events) as server, voice_of(server, [light]) as voice:
        answer = await speak(voice.with_tools, ASKED, ReplyStream(), lambda _: None)
        assert "dark" not in repr(answer)
        history = [*ASKED, answer, ToolMessage("done", tool_call_id="call_7"), AIMessage("It is bright.")]
        await speak(voice.with_tools, history, ReplyStream(), lambda _: None)
    sent = server.chats[1]["messages"]
    assert [message.get("reasoning_content") for message in sent] == [None, "It is dark.", None, None]


async def test_a_silent_server_is_a_timeout():
    async with playing(HELLO, END) as server, voice_of(server, llm_timeout_s=0.05) as voice:
        server._answer = never
        with pytest.raises(ModelTimeout, match="SOULGRAPH_LLM_TIMEOUT_S"):
            await speak(voice.model, ASKED, ReplyStream(), lambda _: None)


async def never(*_):
    await asyncio.Event().wait()

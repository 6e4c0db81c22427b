"""Parameters that a server refuses are left out: of this call, and of the next ones if it would refuse them again."""

import pytest

from soulgraph.errors import ModelRefused
from soulgraph.tests.voices.test_lean_openai import ASKED, END, HELLO, playing, voice_of
from soulgraph.tests.voices.test_providers import light
from soulgraph.voices.speech import translate_model_errors


def refusing(parameter, text, status=400):
    return {"parameter": parameter, "status": status, "body": {"error": {"message": text}}}


async def chats_of(refusal, calls=2, **settings):
    """What each request of some calls had of the refused parameter's kind."""
    async with playing(HELLO, END, refusal=refusal) as server, voice_of(server, [light], **settings) as voice:
        for _ in range(calls):
            assert (await voice.without_tools.ainvoke(ASKED, stop=["END"], stream=True)).text == "Hello."
        return server.chats


async def test_a_server_that_wants_the_other_name_of_the_limit_gets_it():
    chats = await chats_of(
        refusing("max_tokens", "'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    )
    assert [chat.get("max_tokens") for chat in chats] == [2000, None, None]
    assert [chat.get("max_completion_tokens") for chat in chats] == [None, 2000, 2000]


async def test_a_limit_that_is_too_large_for_one_request_is_sent_again_with_the_next(caplog):
    chats = await chats_of(refusing("max_tokens", "'max_tokens' is too large: 2000. The context length is 2048"))
    assert ["max_tokens" in chat for chat in chats] == [True, False, True, False]
    assert "refuses" not in caplog.text


async def test_no_limit_is_sent_if_none_is_set():
    [chat] = await chats_of(None, calls=1, llm_max_tokens=0)
    assert not {"max_tokens", "max_completion_tokens"} & chat.keys()


async def test_several_refusals_one_after_the_other_are_all_heeded():
    refusal = refusing("stop", "Unrecognized request arguments supplied: `stop`, `temperature`")
    chats = await chats_of(refusal, llm_temperature=0.5)
    assert [("stop" in chat, "temperature" in chat) for chat in chats] == [(True, True), (False, False), (False, False)]


async def test_who_may_not_be_told_to_call_no_tool_is_shown_none():
    chats = await chats_of(refusing("tool_choice", "unknown field tool_choice", 422))
    assert [("tools" in chat, "tool_choice" in chat) for chat in chats] == [
        (True, True),
        (False, False),
        (False, False),
    ]


async def test_who_may_not_be_forced_to_call_a_tool_may_still_be_told_to_call_none():
    refusal = refusing("tool_choice", "Thinking mode does not support this tool_choice")
    async with playing(HELLO, END, refusal=refusal) as server, voice_of(server, [light]) as voice:
        await voice.model.bind_tools([light], tool_choice="any").ainvoke(ASKED, stream=True)
        server.wire["refusal"] = refusing("nothing", "")
        await voice.without_tools.ainvoke(ASKED, stream=True)
        assert [chat.get("tool_choice") for chat in server.chats] == ["required", None, "none"]
        assert all("tools" in chat for chat in server.chats)


async def test_a_refused_response_format_is_left_to_the_caller():
    refusal = refusing("response_format", "response_format: this type is unavailable, with max_tokens or without")
    async with playing(refusal=refusal) as server, voice_of(server) as voice:
        with pytest.raises(ModelRefused, match="unavailable"), translate_model_errors():
            await voice.model.ainvoke(ASKED, response_format={"type": "json_object"})
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    "words", ["please stop sending so much", "the model m was not found", "bad schema of tools[0]"]
)
async def test_a_refusal_that_names_no_parameter_is_an_error(words):
    async with playing(refusal=refusing("model", words)) as server, voice_of(server, [light]) as voice:
        with pytest.raises(ModelRefused, match="refused the request"), translate_model_errors():
            await voice.with_tools.ainvoke(ASKED, stop=["END"], stream=True)
        assert len(server.chats) == 1

"""An agent of pydantic-ai with instructions and a tool."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from talk import History, talk

provider = OpenAIProvider(base_url=sys.argv[1], api_key=sys.argv[2])
agent = Agent(OpenAIChatModel("soul:Mo", provider=provider), instructions="You are Mo.", retries=0)


@agent.tool_plain
def tide(harbour: str) -> str:
    """When the tide is high in a harbour."""
    return "noon"


def past(history: History) -> list[ModelMessage]:
    return [
        ModelRequest(parts=[UserPromptPart(content=message["content"])])
        if message["role"] == "user"
        else ModelResponse(parts=[TextPart(content=message["content"])])
        for message in history
    ]


async def pieces(history: History) -> AsyncIterator[str]:
    async with agent.run_stream(history[-1]["content"], message_history=past(history[:-1])) as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            yield piece


def stream(history: History) -> Iterator[str]:
    loop = asyncio.get_event_loop_policy().get_event_loop()
    running = pieces(history)
    try:
        while True:
            yield loop.run_until_complete(anext(running))
    except StopAsyncIteration:
        return
    finally:
        loop.run_until_complete(running.aclose())


asyncio.set_event_loop(asyncio.new_event_loop())
talk(stream)

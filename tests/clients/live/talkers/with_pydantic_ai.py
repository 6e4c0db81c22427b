"""An agent of pydantic-ai with instructions and a tool."""

import asyncio
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Event, Thread

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


async def read(history: History, pieces: SimpleQueue[str | None], stopped: Event) -> None:
    """All in one task, because what the agent opens must be closed in the same."""
    try:
        async with agent.run_stream(history[-1]["content"], message_history=past(history[:-1])) as result:
            async for piece in result.stream_text(delta=True, debounce_by=None):
                pieces.put(piece)
                if stopped.is_set():
                    break
    finally:
        pieces.put(None)


def stream(history: History) -> Iterator[str]:
    pieces: SimpleQueue[str | None] = SimpleQueue()
    stopped = Event()
    reading = Thread(target=lambda: asyncio.run(read(history, pieces, stopped)))
    reading.start()
    try:
        yield from iter(pieces.get, None)
    finally:
        stopped.set()
        reading.join()


talk(stream)

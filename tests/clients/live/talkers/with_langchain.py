"""LangChain's ChatOpenAI with a system prompt and a tool, as agents have them."""

import sys
from collections.abc import Iterator

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from talk import History, talk


@tool
def tide(harbour: str) -> str:
    """When the tide is high in a harbour."""
    return "noon"


model = ChatOpenAI(model="soul:Mo", base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0, temperature=0.7)
bound = model.bind_tools([tide])
SYSTEM = {"role": "system", "content": "You are Mo. Answer in one sentence."}


def stream(history: History) -> Iterator[str]:
    for chunk in bound.stream([SYSTEM, *history]):
        yield str(chunk.text)


talk(stream)

"""OpenAI's own library with the Responses API: the history is sent as `input`."""

import sys
from collections.abc import Iterator

from openai import OpenAI
from talk import History, talk

client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)


def stream(history: History) -> Iterator[str]:
    with client.responses.create(model="soul:Mo", input=history, stream=True) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                yield event.delta


talk(stream)

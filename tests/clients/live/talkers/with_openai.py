"""OpenAI's own library."""

import sys
from collections.abc import Iterator

from openai import OpenAI
from talk import History, talk

client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)


def stream(history: History) -> Iterator[str]:
    chunks = client.chat.completions.create(
        model="soul:Mo", messages=history, stream=True, stream_options={"include_usage": True}, user="mia@example.org"
    )
    with chunks:
        for chunk in chunks:
            if chunk.choices:
                yield chunk.choices[0].delta.content or ""


talk(stream)

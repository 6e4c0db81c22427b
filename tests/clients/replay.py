"""Recorded requests of programs, sent again to a server of ours.

A recording is a file of JSON: the program, the `scenario`, what a soul must have of it afterwards (`expected`) and the
`exchanges` in their order. Wherever a request holds a reply that its recorder gave, the replay puts what our server
really said there, as the program would have done.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from soulgraph.tests.stub_openai import Reply, StubOpenAI

RECORDED = Path(__file__).parent / "recorded"
PIECES_BEFORE_STOP = 4
_SENT_BY_THE_LIBRARY = ("authorization", "content-type", "accept", "user-agent")
_LINES = (
    "The harbour is quiet tonight.",
    "I count the ships that come home.",
    "Some evenings the fog sings a little.",
    "You would like the smell of the ropes.",
    "The gulls argue about everything.",
    "I keep a chair here for you.",
)


def recordings() -> list[Path]:
    return sorted(RECORDED.glob("*/*.json"))


def lively(stub: StubOpenAI, delay_s: float = 0.0) -> None:
    """The model says something else each time, and does the tasks that are asked of it."""
    spoken: Iterator[str] = (f"{line} ({count})" for count in range(1, 1000) for line in _LINES)

    def speak(body: Any) -> Reply:
        asked = json.dumps(body)
        if "state_update_json" in asked:
            turn = f"<narrative>{next(spoken)}</narrative><state_update_json>{{}}</state_update_json>"
            return Reply(text=turn, chunk_delay_s=delay_s)
        unquoted = asked.replace("\\", "")
        tasks = (answer for key, answer in _TASK_ANSWERS.items() if f'"{key}"' in unquoted)
        return Reply(text=next(tasks, None) or next(spoken))

    stub.when("", speak)


_TASK_ANSWERS = {
    "follow_ups": '{"follow_ups": ["And then?"]}',
    "tags": '{"tags": ["Sea"]}',
    "title": '{"title": "A walk by the sea"}',
    "queries": '{"queries": []}',
}


@dataclass
class Replay:
    """`said` are the recorder's replies and what was said instead; `troubles` what a client could not have read."""

    client: httpx.AsyncClient
    recording: dict[str, Any]
    said: list[tuple[str, str]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    async def run(self) -> None:
        for exchange in self.recording["exchanges"]:
            await self._send(exchange)

    async def _send(self, exchange: dict[str, Any]) -> None:
        sent, reply = exchange["request"], exchange["reply"]
        headers = {name: value for name, value in sent["headers"].items() if name not in _SENT_BY_THE_LIBRARY}
        body = self._as_said_here(sent["body"])
        stopped = not reply["whole"]
        async with self.client.stream(sent["method"], sent["path"], json=body, headers=headers) as answer:
            if answer.status_code != 200:
                await answer.aread()
                self.troubles.append(f"{exchange['step']}: {answer.status_code} {answer.text[:300]}")
                return
            read = await (_events(answer, stopped) if body.get("stream") else _whole(answer))
        self.troubles += [f"{exchange['step']}: {trouble}" for trouble in [*read.troubles, *_misses(exchange, read)]]
        self.said.append((reply["text"], read.text))

    def _as_said_here(self, body: dict[str, Any]) -> dict[str, Any]:
        mine: dict[str, Any] = json.loads(json.dumps(body))
        for message in [*(mine.get("messages") or []), *_messages_of(mine.get("input"))]:
            _reword(message, self.said)
        return mine


@dataclass
class Read:
    """What a client has read of an answer."""

    text: str = ""
    troubles: list[str] = field(default_factory=list)


def _messages_of(given: Any) -> list[dict[str, Any]]:
    return given if isinstance(given, list) else []


def _reword(message: dict[str, Any], said: list[tuple[str, str]]) -> None:
    content = message.get("content")
    if isinstance(content, list):
        for part in content:
            if isinstance(part.get("text"), str):
                part["text"] = _reworded(part["text"], message["role"], said)
    elif isinstance(content, str):
        message["content"] = _reworded(content, message["role"], said)


def _reworded(text: str, role: str, said: list[tuple[str, str]]) -> str:
    """The newest replies first: a recorder repeats itself after a while."""
    for recorded, real in reversed(said):
        if recorded in text:
            text = text.replace(recorded, real)
        elif role == "assistant" and recorded.startswith(text.removesuffix("...")) and text != "...":
            seen = text.removesuffix("...")
            text = real[: round(len(real) * len(seen) / len(recorded))].rstrip() + text[len(seen) :]
    return text


def _misses(exchange: dict[str, Any], read: Read) -> list[str]:
    """A program that asks for JSON with a key must be given that."""
    asked = json.dumps(exchange["request"]["body"], ensure_ascii=False).replace('\\"', '"')
    wanted = [key for key in _TASK_ANSWERS if re.search(rf'\{{\s*"{key}"', asked)]
    if not exchange.get("task") or not wanted:
        return [] if read.text else ["it was answered with nothing"]
    found = re.search(r"\{.*\}", read.text, re.DOTALL)
    if not found or wanted[0] not in json.loads(found[0]):
        return [f"no JSON with {wanted[0]!r} in {read.text[:100]!r}"]
    return []


async def _whole(answer: httpx.Response) -> Read:
    got = json.loads(await answer.aread())
    if got["object"] == "response":
        parts = [part for item in got["output"] if item["type"] == "message" for part in item["content"]]
        return Read("".join(part["text"] for part in parts))
    [choice] = got["choices"]
    read = Read(choice["message"]["content"])
    if got["object"] != "chat.completion" or choice["finish_reason"] not in ("stop", "length"):
        read.troubles.append(f"not a chat completion: {got}")
    if not isinstance(got["usage"]["total_tokens"], int):
        read.troubles.append("no usage")
    return read


async def _events(answer: httpx.Response, stopped: bool) -> Read:
    """The stream as far as the program has read it."""
    read = Read()
    pieces = 0
    ended = False
    async for line in answer.aiter_lines():
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        event = None if data == "[DONE]" else json.loads(data)
        ended = ended or event is None or event.get("type") == "response.completed"
        piece = _piece(event or {})
        read.text += piece
        pieces += bool(piece)
        if event and event.get("error"):
            read.troubles.append(f"an error in the stream: {event['error']}")
        if stopped and pieces == PIECES_BEFORE_STOP:
            return read
    if not ended:
        read.troubles.append("the stream has no end")
    return read


def _piece(event: dict[str, Any]) -> str:
    if event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    choices = event.get("choices") or []
    return str(choices[0]["delta"].get("content") or "") if choices else ""

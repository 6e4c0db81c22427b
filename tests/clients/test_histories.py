"""Stories of front ends that send the whole conversation every time: what is stored in the end, and in how many talks.

Their author had seen no code.
"""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from soulgraph.tests.clients.replay import lively
from soulgraph.tests.live import new_soul, serving, transcript
from soulgraph.tests.stub_openai import StubOpenAI

HERE = Path(__file__).parent
STORIES = [
    story
    for name in ("histories_held", "histories_third", "histories_fourth")
    for story in yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8"))
]
HOUR_S = 3600


@pytest.fixture(autouse=True)
def migrated(sqlite_url):
    """The server finds its schema in `tmp_path`."""


class Chat:
    """One conversation as a program shows it."""

    def __init__(self, client, headers):
        self.client, self.headers = client, dict(headers)
        self.shown = []
        self.session = None

    async def ask(self, step, stop=False):
        """Send what is shown; a reply that is stopped is broken off after a few words."""
        sent = [*self.shown, *([{"role": "user", "content": step["nudge"]}] if "nudge" in step else [])]
        sent = sent[-step["trimmed"] :] if "trimmed" in step else sent
        if system := step.get("with_system"):
            sent = [{"role": "system", "content": system}, *sent]
        body = {"model": "soul:Mo", "messages": sent, "stream": True}
        told = ""
        async with self.client.stream("POST", "/v1/chat/completions", json=body, headers=self.headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            self.session = answer.headers["X-Session-Id"]
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    told += "".join(one["delta"].get("content") or "" for one in json.loads(line[6:])["choices"])
                if stop and len(told) > 8:
                    break
        return told

    async def play(self, step, stop=False):
        match step["do"]:
            case "say":
                if changed := step.get("reply_changed"):
                    self.change_reply(changed)
                self.hear(step)
            case "say_same":
                self.hear(
                    {**step, "text": next(one for one in reversed(self.shown) if one["role"] == "user")["content"]}
                )
            case "edit":
                places = [place for place, one in enumerate(self.shown) if one["role"] == "user"]
                del self.shown[places[step["at"]] :]
                self.hear(step)
            case "regenerate":
                self.shown.pop()
            case "delete_last":
                del self.shown[-2:]
                return
            case "continue":
                self.shown[-1]["content"] += await self.ask(step)
                return
        self.shown.append({"role": "assistant", "content": await self.ask(step, stop)})

    def hear(self, step):
        text = step["text"]
        said = f"{step['prefix_user']}{text}" if "prefix_user" in step else text
        self.shown.append({"role": "user", "content": said})

    def change_reply(self, changed):
        reply = self.shown[-1]["content"]
        told = "\n".join(line.strip() for line in reply.splitlines() if line.strip())
        self.shown[-1]["content"] = told if changed.startswith("whitespace") else changed

    def flatten(self):
        """Parts of earlier messages become their words."""
        for one in self.shown:
            if isinstance(one["content"], list):
                one["content"] = "\n".join(part["text"] for part in one["content"] if part["type"] == "text")


async def played(story, client, clock):
    """The turns that are stored, the conversations, and the messages of the last of them."""
    chats, sessions = {}, []
    steps = story["steps"]
    for step, following in zip(steps, [*steps[1:], {"do": ""}], strict=True):
        clock.now += HOUR_S * step.get("after_hours", 0) + 5
        name = step.get("chat", "A")
        headers = {**story.get("headers", {}), **step.get("headers", {})}
        if step["do"] == "new_chat" or name not in chats:
            chats[name] = Chat(client, headers)
        chat = chats[name]
        chat.headers.update(step.get("headers", {}))
        if step["do"] in ("new_chat", "stop"):
            continue
        if story.get("flatten"):
            chat.flatten()
        await chat.play(step, stop=following["do"] == "stop")
        sessions.append(chat.session)
    stored = {session: await transcript(client, session) for session in sessions}
    turns = sum(role == "user" for messages in stored.values() for role, _ in messages)
    return {"turns": turns, "sessions": len(stored), "transcript": len(stored[chat.session])}


class Clock:
    now = 1_795_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
async def client(tmp_path, clock):
    async with AsyncExitStack() as stack:
        stub = await stack.enter_async_context(StubOpenAI())
        lively(stub, delay_s=0.01)
        settings = {"data_dir": tmp_path, "llm_base_url": stub.base_url, "llm_model": "stub", "alive": False}
        yield await stack.enter_async_context(serving(clock, **settings))


@pytest.fixture
def clock():
    return Clock()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["id"])
async def test_what_is_stored_is_what_the_person_sees(story, client, clock):
    """A story with a `gap` says what cannot be told from the requests, and comes out otherwise."""
    await new_soul(client, "Mo")
    assert (await played(story, client, clock) == story["expect"]) == ("gap" not in story)


@pytest.mark.parametrize("first", ["", "new", "null", "{{LIBRECHAT_BODY_CONVERSATIONID}}"])
async def test_a_chat_that_gets_its_name_late_is_one_all_the_same(first, client, clock):
    """Some versions of LibreChat know a new conversation's id from its second line on."""
    await new_soul(client, "Mo")
    late = {"X-LibreChat-Conversation-Id": "0b6a3c1e-0000-4000-8000-000000000001"}
    steps = [
        {"do": "say", "text": "Let me tell you of the ferry.", "headers": {"X-LibreChat-Conversation-Id": first}},
        {"do": "say", "text": "It sank.", "headers": late},
        {"do": "regenerate", "headers": late},
        {"do": "say", "text": "Nobody drowned.", "headers": late},
    ]
    found = await played({"steps": steps}, client, clock)
    assert found == {"turns": 3, "sessions": 1, "transcript": 6}

"""People who talk to souls through both servers, try again until they are answered, and write down what they were told."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import aiomqtt
import httpx

from soulgraph.bench.soak.services import Server
from soulgraph.tests.household import CONFIDE, PROBE, TALK, Secrets
from soulgraph.tests.terminals.robot import Robot

TRIES = 400
PAUSE_S = 0.3
_REPLY_S = 15
_LATER = {409, 429, 502, 503, 504}
"""What may be tried again with the same id; everything else is an answer or a defect."""


@dataclass(frozen=True)
class Said:
    """A turn that was acknowledged."""

    person: str
    session_id: str
    input_id: str
    text: str
    turn_id: str
    reply: str


@dataclass
class Ledger:
    """What everybody was told; `wrong` is what must be empty."""

    said: list[Said] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    """Input ids that nobody acknowledged."""
    reminders: dict[str, str] = field(default_factory=dict)
    """By what is to be fetched, who is to be reminded."""
    heard: dict[str, set[str]] = field(default_factory=dict)
    """By the id under which a soul spoke by itself, the texts that came with it."""
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass
class Person:
    name: str
    key: dict[str, str]
    servers: Sequence[Server]
    souls: Sequence[str]
    groups: dict[str, Sequence[str]]
    secrets: Secrets
    ledger: Ledger
    random: Random
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def live(self, ends: asyncio.Event) -> None:
        """Talk until it ends, one after the other."""
        async with self._client() as client:
            while not ends.is_set():
                await self._talk(client)
                await asyncio.sleep(self.random.uniform(0.2, 1.0))

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers=self.key, timeout=60, verify=False)

    async def _talk(self, client: httpx.AsyncClient) -> None:
        groups = [session_id for session_id, people in self.groups.items() if self.name in people]
        if groups and self.random.random() < 0.25:
            session_id = self.random.choice(groups)
            others = [one for one in self.groups[session_id] if one != self.name]
            return await self.say(client, self._words(*others), others, session_id=session_id)
        where = {"soul_id": self.random.choice(self.souls)}
        if self.random.random() < 0.1:
            return await self.say(client, self._reminder(), (), **where)
        return await self.say(client, self._words(), (), **where)

    def _words(self, *listeners: str) -> str:
        text = self.random.choice(self.random.choices((CONFIDE, PROBE, TALK), (5, 3, 2))[0])
        knowing = (self.name, *listeners)
        secret = self.secrets.new(*knowing, chinese=not text.isascii())
        return text.format(secret=secret, other=self.name, sign=self.secrets.new(*knowing))

    def _reminder(self) -> str:
        errand = self.secrets.new(self.name)
        self.ledger.reminders[errand] = self.name
        return f"Remind me in {self.random.randint(2, 90)} minutes to fetch the {errand}."

    async def say(self, client: httpx.AsyncClient, text: str, listeners: Sequence[str], **where: Any) -> None:
        input_id = f"{self.name}-{next(self.numbers)}"
        body = {"text": text, "input_id": input_id, "user_id": self.name, **where}
        if self.random.random() < 0.05:
            answers = await asyncio.gather(*(self._answered(client, server, body) for server in self.servers))
            self.ledger.counts["sent to both servers at once"] += 1
        else:
            answers = [await self._answered(client, self.random.choice(self.servers), body)]
        if self.random.random() < 0.1:
            answers.append(await self._answered(client, self.random.choice(self.servers), body))
            self.ledger.counts["sent again"] += 1
        self._note(body, [answer for answer in answers if answer], listeners)

    def _note(self, body: dict[str, Any], answers: Sequence[dict[str, Any]], listeners: Sequence[str]) -> None:
        if not answers:
            self.ledger.given_up.append(body["input_id"])
            return
        first = answers[0]
        ids = {(answer["turn_id"], answer["session_id"], answer["reply"]) for answer in answers}
        if len(ids) > 1:
            self.ledger.wrong.append(f"{body['input_id']} has several answers: {ids}")
        if foreign := self.secrets.foreign(json.dumps(answers, ensure_ascii=False), self.name, *listeners):
            self.ledger.wrong.append(f"{self.name} was told {sorted(foreign)}")
        told = Said(self.name, first["session_id"], body["input_id"], body["text"], first["turn_id"], first["reply"])
        self.ledger.said.append(told)

    async def _answered(self, client: httpx.AsyncClient, server: Server, body: dict[str, Any]) -> dict[str, Any] | None:
        """Ask again, at any server, until there is an answer."""
        for _ in range(TRIES):
            try:
                answer = await client.post(f"{server.url}/v1/chat", json=body)
            except httpx.HTTPError as error:
                self.ledger.counts[f"tried again: {type(error).__name__}"] += 1
            else:
                if answer.is_success:
                    self.ledger.counts["turns"] += 1
                    return dict(answer.json())
                code = answer.json()["code"]
                self.ledger.counts[f"tried again: {code}"] += 1
                if answer.status_code not in _LATER or code == "internal_error":
                    self.ledger.wrong.append(f"{body['input_id']}: {answer.status_code} {answer.text[:200]}")
            await asyncio.sleep(PAUSE_S)
            server = self.random.choice(self.servers)
        return None

    async def listen(self, soul_id: str) -> None:
        """An open stream, at any server, opened again whenever it ends."""
        async with self._client() as client:
            while True:
                server = self.random.choice(self.servers)
                with suppress(httpx.HTTPError):
                    path = f"{server.url}/v1/souls/{soul_id}/stream"
                    async with client.stream("GET", path) as stream:
                        await self._follow(stream)
                await asyncio.sleep(PAUSE_S)

    async def _follow(self, stream: httpx.Response) -> None:
        event = ""
        async for line in stream.aiter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                if foreign := self.secrets.foreign(line, self.name):
                    self.ledger.wrong.append(f"{self.name} heard {sorted(foreign)} in {event}")
                if event == "proactive":
                    data = json.loads(line.removeprefix("data: "))
                    self.ledger.heard.setdefault(data.get("delivery_id") or data.get("turn_id", ""), set()).add(
                        data["text"]
                    )


async def speak_from_terminal(person: Person, broker_url: str, terminal_id: str, ends: asyncio.Event) -> None:
    """The same over MQTT: what is not answered is said again with the same id, also to another broker process."""
    pending: dict[str, Any] | None = None
    while not ends.is_set():
        with suppress(aiomqtt.MqttError, TimeoutError, OSError):
            async with Robot.connected(broker_url, terminal_id) as robot:
                while not ends.is_set():
                    pending = pending or {
                        "input_id": f"{person.name}-t{next(person.numbers)}",
                        "text": person._words(),
                        "user_id": person.name,
                    }
                    await robot.say("input", pending)
                    reply = await _reply_to(robot, pending["input_id"])
                    if reply.get("problem"):
                        person.ledger.counts[f"terminal: {reply['problem']['code']}"] += 1
                        await asyncio.sleep(1)
                        continue
                    _note_reply(person, pending, reply)
                    pending = None
                    await asyncio.sleep(person.random.uniform(1, 3))
        await asyncio.sleep(1)


async def _reply_to(robot: Robot, input_id: str) -> dict[str, Any]:
    """The newest reply; older ones are forgotten, so that a problem of before is not taken for an answer."""
    reply: dict[str, Any] = await robot.hears("reply", lambda one: one["input_id"] == input_id, timeout_s=_REPLY_S)
    robot.heard.clear()
    return reply


def _note_reply(person: Person, asked: dict[str, Any], reply: dict[str, Any]) -> None:
    person.ledger.counts["turns of terminals"] += 1
    if foreign := person.secrets.foreign(json.dumps(reply, ensure_ascii=False), person.name):
        person.ledger.wrong.append(f"the terminal of {person.name} was told {sorted(foreign)}")
    said = Said(person.name, reply["session_id"], asked["input_id"], asked["text"], reply["turn_id"], reply["text"])
    person.ledger.said.append(said)

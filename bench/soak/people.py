"""People who talk to souls through both servers, try again until they are answered, and note what they were told."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from soulgraph.bench.soak.ledger import Ledger, Said
from soulgraph.bench.soak.services import Server
from soulgraph.tests.household import CONFIDE, PROBE, TALK

TRIES = 1000
PAUSE_S = 0.3
_LATER = {409, 429, 502, 503, 504}
"""What may be tried again with the same id; everything else is an answer or a defect."""


@dataclass
class Person:
    name: str
    key: dict[str, str]
    servers: Sequence[Server]
    souls: Sequence[str]
    groups: dict[str, Sequence[str]]
    ledger: Ledger
    random: Random
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def live(self, ends: asyncio.Event) -> None:
        """Talk until it ends, one after the other."""
        async with self.client() as client:
            while not ends.is_set():
                await self._talk(client)
                await asyncio.sleep(self.random.uniform(0.2, 1.0))

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers=self.key, timeout=60, verify=False)

    async def _talk(self, client: httpx.AsyncClient) -> None:
        groups = [session_id for session_id, people in self.groups.items() if self.name in people]
        if groups and self.random.random() < 0.25:
            session_id = self.random.choice(groups)
            others = [one for one in self.groups[session_id] if one != self.name]
            return await self.say(client, self.words(*others), others, session_id=session_id)
        text = self._reminder() if self.random.random() < 0.1 else self.words()
        return await self.say(client, text, soul_id=self.random.choice(self.souls))

    def words(self, *listeners: str) -> str:
        """With a new secret of those who hear it at the end, so that no two texts are the same."""
        text = self.random.choice(self.random.choices((CONFIDE, PROBE, TALK), (5, 3, 2))[0])
        knowing = (self.name, *listeners)
        secret = self.ledger.secrets.new(*knowing, chinese=not text.isascii())
        return text.format(secret=secret, other=self.name, sign=self.ledger.secrets.new(*knowing))

    def _reminder(self) -> str:
        errand = self.ledger.secrets.new(self.name)
        self.ledger.reminders[errand] = self.name
        return f"Remind me in {self.random.randint(2, 90)} minutes to fetch the {errand}."

    async def say(self, client: httpx.AsyncClient, text: str, listeners: Sequence[str] = (), **where: Any) -> None:
        """Once, to both servers at once, or again after it was answered: it is one input all the same."""
        body = {"text": text, "input_id": f"{self.name}-{next(self.numbers)}", "user_id": self.name, **where}
        asked = [self.random.choice(self.servers)]
        if self.random.random() < 0.05:
            asked = [*self.servers]
            self.ledger.counts["sent to both servers at once"] += 1
        answers = await asyncio.gather(*(self._answer(client, server, body) for server in asked))
        if self.random.random() < 0.1:
            answers.append(await self._answer(client, self.random.choice(self.servers), body))
            self.ledger.counts["sent again"] += 1
        self._note(body, [answer for answer in answers if answer], listeners)

    def _note(self, body: dict[str, Any], answers: Sequence[dict[str, Any]], listeners: Sequence[str]) -> None:
        if not answers:
            self.ledger.complain([f"{body['input_id']} was never answered"])
            return
        first = answers[0]
        if any(answer[key] != first[key] for answer in answers for key in ("turn_id", "session_id", "reply")):
            self.ledger.complain([f"{body['input_id']} has several answers: {answers}"[:600]])
        self.ledger.note_foreign(json.dumps(answers, ensure_ascii=False), "an answer", (self.name, *listeners))
        told = Said(self.name, first["session_id"], body["input_id"], body["text"], first["turn_id"], first["reply"])
        self.ledger.said.append(told)

    async def _answer(self, client: httpx.AsyncClient, server: Server, body: dict[str, Any]) -> dict[str, Any] | None:
        """Ask again, at any server, until there is an answer."""
        for _ in range(TRIES):
            with suppress(httpx.HTTPError):
                response = await client.post(f"{server.url}/v1/chat", json=body)
                if response.is_success:
                    self.ledger.counts["answers"] += 1
                    return dict(response.json())
                self._note_refusal(body["input_id"], response)
            self.ledger.counts["tried again"] += 1
            await asyncio.sleep(PAUSE_S)
            server = self.random.choice(self.servers)
        return None

    def _note_refusal(self, input_id: str, response: httpx.Response) -> None:
        is_problem = response.headers.get("content-type") == "application/problem+json"
        code = response.json()["code"] if is_problem else "internal_error"
        self.ledger.counts[f"refused: {code}"] += 1
        if response.status_code not in _LATER or code == "internal_error":
            self.ledger.complain([f"{input_id}: {response.status_code} {response.text[:200]}"])

    async def listen(self, soul_id: str) -> None:
        """An open stream, at any server, opened again whenever it ends."""
        async with self.client() as client:
            while True:
                server = self.random.choice(self.servers)
                with suppress(httpx.HTTPError):
                    async with client.stream("GET", f"{server.url}/v1/souls/{soul_id}/stream") as stream:
                        await self._follow(stream)
                await asyncio.sleep(PAUSE_S)

    async def _follow(self, stream: httpx.Response) -> None:
        event = ""
        async for line in stream.aiter_lines():
            name, _, value = line.partition(": ")
            event = value if name == "event" else event
            if name == "data":
                self.ledger.note_foreign(value, f"an event of {event}", [self.name])
            if name == "data" and event == "proactive":
                data = json.loads(value)
                self.ledger.heard[data["delivery_id"]].add(data["text"])

    async def look_back(self) -> None:
        """What each soul would recall for a question about everybody."""
        async with self.client() as client:
            for soul_id, server in itertools.product(self.souls, self.servers):
                for question in ("Who hid what under the stairs?", "谁得了病？谁藏了什么？"):
                    path = f"{server.url}/v1/souls/{soul_id}/recall"
                    found = await client.get(path, params={"q": question, "k": 10, "user_id": self.name})
                    found.raise_for_status()
                    self.ledger.counts["looked back"] += 1
                    self.ledger.note_foreign(found.text, f"recall of {soul_id}", [self.name])

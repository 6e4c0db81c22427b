"""Nobody learns what another confided: random turns over every path, with a model that tells all it sees.

`make privacy` runs the same with thousands of turns; the suite runs some dozens with each database and household.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from uuid import uuid4

import pytest

from soulgraph.runtime import proactive_scheduler
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.household import CONFIDE, PASS_ON, PROBE, TALK, Gossip, Secrets
from soulgraph.tests.live import serving
from soulgraph.tests.stub_openai import StubOpenAI
from soulgraph.tests.terminals.robot import Robot

TURNS = int(os.environ.get("SOULGRAPH_TEST_PRIVACY_TURNS", "40"))
NOON = 1_800_014_400.0
PERSONA = "life: {min_interval_minutes: 1, max_interval_minutes: 2, quiet_hours: '', daily_cap: 100000}"


class Clock:
    """Every look takes a second, and every operation a minute."""

    def __init__(self):
        self.now = NOON

    def __call__(self):
        self.now += 1
        return self.now


@dataclass
class Household:
    client: object
    stub: StubOpenAI
    secrets: Secrets
    random: Random
    owner: dict
    clock: Clock
    souls: list[str]
    keys: dict[str, dict]
    robots: dict[str, Robot] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    done: Counter = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)

    @property
    def people(self):
        return list(self.keys)

    @property
    def audiences(self):
        return [*((person,) for person in self.people), *self.groups.values()]

    def check(self, path, text, *audience):
        """What came out on this path is for these people."""
        if foreign := self.secrets.foreign(text, *audience):
            self.leaks.append(f"{path} to {audience}: {sorted(foreign)}")

    def saying(self, person, *listeners):
        """Something that this person says, with a secret of theirs or after somebody else's."""
        lines = self.random.choices((CONFIDE, PROBE, TALK, PASS_ON), (5, 4, 1, 1 if not listeners else 0))[0]
        text = self.random.choice(lines)
        other = self.random.choice([one for one in self.people if one != person])
        present = (person, *listeners)
        knowing = (*present, other) if lines is PASS_ON else present
        secret = self.secrets.new(*knowing, chinese=not text.isascii())
        return text.format(secret=secret, other=other, sign=self.secrets.new(*knowing))

    async def talk(self, person):
        soul_id = self.random.choice(self.souls)
        paths = {self._chat: 8, self._stream: 3, self._openai: 3, self._socket: 2, self._mqtt: 2, self._group: 3}
        path = self.random.choices([*paths], [*paths.values()])[0]
        await path(person, soul_id)
        self.done[path.__name__] += 1
        self.clock.now += 60

    async def look(self, person):
        """Read something over the API, as the person or as the owner who tries how a prompt looks."""
        looks = (self._read, self._read, self._export, self._preview, self._grow)
        look = self.random.choice(looks)
        await look(person, self.random.choice(self.souls))
        self.done[look.__name__] += 1

    async def _chat(self, person, soul_id):
        body = {"text": self.saying(person), "soul_id": soul_id}
        answer = await self.client.post("/v1/chat", json=body, headers=self.keys[person])
        assert answer.status_code in (200, 502), answer.text
        self.check("chat", answer.text, person)

    async def _stream(self, person, soul_id):
        body = {"text": self.saying(person), "soul_id": soul_id, "stream": True}
        async with self.client.stream("POST", "/v1/chat", json=body, headers=self.keys[person]) as answer:
            self.check("stream", "\n".join([text async for text in answer.aiter_lines()]), person)

    async def _openai(self, person, soul_id):
        body = {"model": f"soul:{soul_id}", "messages": [{"role": "user", "content": self.saying(person)}]}
        answer = await self.client.post("/v1/chat/completions", json=body, headers=self.keys[person])
        assert answer.status_code in (200, 502), answer.text
        self.check("openai", answer.text, person)

    async def _socket(self, person, soul_id):
        async with line(self.client, additional_headers=self.keys[person]) as socket:
            await socket.chat(self.saying(person), soul_id=soul_id)
            frames = await socket.until("done", "error")
        self.check("socket", json.dumps(frames, ensure_ascii=False), person)

    async def _mqtt(self, person, soul_id):
        robot = self.robots.get(person)
        if robot is None:
            return await self._chat(person, soul_id)
        input_id = f"in-{self.random.getrandbits(60)}"
        await robot.say("input", {"input_id": input_id, "text": self.saying(person), "user_id": person})
        reply = await robot.hears("reply", lambda payload: payload["input_id"] == input_id, timeout_s=30)
        self.check("mqtt", json.dumps(reply, ensure_ascii=False), person)
        return None

    async def _group(self, person, soul_id):
        mine = [session_id for session_id, people in self.groups.items() if person in people]
        if not mine:
            return await self._chat(person, soul_id)
        session_id = self.random.choice(mine)
        others = [one for one in self.groups[session_id] if one != person]
        body = {"text": self.saying(person, *others), "session_id": session_id}
        answer = await self.client.post("/v1/chat", json=body, headers=self.keys[person])
        assert answer.status_code in (200, 502), answer.text
        self.check("group", answer.text, *self.groups[session_id])
        return None

    async def _read(self, person, soul_id):
        soul = f"/v1/souls/{soul_id}"
        paths = ["/v1/me", "/v1/sessions", "/v1/events", "/v1/backgrounds", "/v1/terminals", soul]
        paths += [
            f"{soul}/{part}" for part in ("slots", "preferences", "facts", "profile", "relations", "shared", "emotion")
        ]
        paths += [
            f"{soul}/recall?k=20&q={words}" for words in ("secret hidden stairs doctor", "藏 秘密 医生 外号 以后")
        ]
        for path in self.random.sample(paths, 4):
            answer = await self.client.get(path, headers=self.keys[person])
            assert answer.status_code == 200, (path, answer.text)
            self.check(path, answer.text, person)

    async def _export(self, person, soul_id):
        sessions = (await self.client.get("/v1/sessions", headers=self.owner)).json()
        for session in self.random.sample(sessions, min(4, len(sessions))):
            session_id = session["session_id"]
            for path in ("export", "messages", "persona-versions", "evolution", ""):
                answer = await self.client.get(
                    f"/v1/sessions/{session_id}/{path}".rstrip("/"), headers=self.keys[person]
                )
                self.check(path or "session", answer.text, person)
                present = person in (session["user_id"], *session["people"])
                assert answer.status_code == (200 if present else 404), answer.text

    async def _preview(self, person, soul_id):
        body = {"text": self.saying(person), "soul_id": soul_id, "user_id": person}
        answer = await self.client.post("/v1/templates/companion_v1/preview", json=body, headers=self.owner)
        assert answer.status_code == 200, answer.text
        self.check("preview", answer.text, person)

    async def _grow(self, person, soul_id):
        """The owner lets memory be updated, or a conversation be summed up and continued."""
        query = {"soul_id": soul_id}
        sessions = (await self.client.get("/v1/sessions", params=query, headers=self.keys[person])).json()
        for session in sessions[:1]:
            way = self.random.choice(("update-memory", "summarize"))
            path = f"/v1/sessions/{session['session_id']}/{way}"
            answer = await self.client.post(path, headers=self.owner)
            assert answer.is_success or answer.status_code in (409, 502), answer.text
            self.check(way, answer.text, session["user_id"], *session["people"])
            if way == "summarize" and answer.is_success and session["people"]:
                self.groups[answer.json()["session_id"]] = self.groups[session["session_id"]]

    def check_prompts(self):
        """Whatever the model was shown can be explained by one audience that may know all of it."""
        while self.stub.requests:
            request = self.stub.requests.popleft()
            self.done["prompts"] += 1
            if unexplained := self.secrets.unexplained(request.raw.decode(), self.audiences):
                whose = {word: sorted(self.secrets.known_to[word]) for word in sorted(unexplained)}
                self.leaks.append(f"prompt: {whose}")

    async def check_everything_kept(self):
        """What the souls have kept of each person, as the owner sees it."""
        for event in (await self.client.get("/v1/events", params={"limit": 200}, headers=self.owner)).json():
            if event["visibility"] == "shared":
                self.check("event", json.dumps(event, ensure_ascii=False), *self.people)
                self.done["shared events"] += 1
        for soul_id in self.souls:
            await self._check_soul(f"/v1/souls/{soul_id}")

    async def _check_soul(self, soul):
        own = await self.client.get(f"{soul}/inner-state", headers=self.owner)
        self.check("inner state", own.text, *self.people)
        for relation in (await self.client.get(f"{soul}/relations", headers=self.owner)).json():
            self.check("relation", json.dumps(relation, ensure_ascii=False), relation["user_id"])
            self.done["relations"] += 1
        for kind in ("slots", "preferences", "facts"):
            for row in (await self.client.get(f"{soul}/{kind}", headers=self.owner)).json():
                self.check(kind, json.dumps(row, ensure_ascii=False), row["user_id"], *row["shared_with"])
                self.done[kind] += 1
        profile = (await self.client.get(f"{soul}/profile", headers=self.owner)).json()
        for items in profile["dynamic_state"].values():
            for item in items["items"]:
                knowing = (item["user_id"], *item.get("shared_with", ())) if "user_id" in item else self.people
                self.check("profile", json.dumps(item, ensure_ascii=False), *knowing)
                self.done["profile items"] += 1


@asynccontextmanager
async def household(database_url, folder, mqtt_url, people, soul_count, seed, groups):
    random = Random(seed)
    secrets = Secrets(random)
    (folder / "persona.yaml").write_text(PERSONA)
    clock = Clock()
    async with AsyncExitStack() as stack:
        stub = await stack.enter_async_context(StubOpenAI())
        Gossip(secrets, random).attach(stub)
        settings = {
            "database_url": database_url,
            "data_dir": folder,
            "mqtt_url": mqtt_url,
            "timezone": "UTC",
            "tick_s": 5,
        }
        settings |= {"llm_base_url": stub.base_url, "llm_model": "stub", "persona_config": folder / "persona.yaml"}
        client = await stack.enter_async_context(serving(clock=clock, **settings))
        souls = [await made_soul(client, f"soul {n}") for n in range(soul_count)]
        owner = await made_key(client, {}, "owner")
        keys = {person: await made_key(client, owner, "chat", user_id=person) for person in people}
        home = Household(client, stub, secrets, random, owner, clock, souls, keys)
        for person in people:
            robot = await stack.enter_async_context(Robot.connected(mqtt_url, f"robot-{uuid4().hex}"))
            chosen = {"terminal_id": robot.terminal_id, "soul_id": souls[0], "user_id": person}
            assert (await client.post("/v1/souls/select", json=chosen, headers=owner)).status_code == 200
            home.robots[person] = robot
        for members in groups:
            body = {"soul_id": souls[0], "user_id": members[0], "people": members[1:], "souls": souls[1:]}
            made = await client.post("/v1/sessions", json=body, headers=owner)
            assert made.status_code == 201, made.text
            home.groups[made.json()["session_id"]] = tuple(members)
        for person in people:
            await stack.enter_async_context(listening(home, person))
        yield home


@asynccontextmanager
async def listening(home, person):
    """The person's open streams: what they hear is for them."""

    async def listen(soul_id):
        async with home.client.stream("GET", f"/v1/souls/{soul_id}/stream", headers=home.keys[person]) as response:
            async for text in response.aiter_lines():
                home.check("open stream", text, person)
                if text.startswith("event: "):
                    home.done[f"heard {text}"] += 1

    tasks = [asyncio.create_task(listen(soul_id)) for soul_id in home.souls]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def made_soul(client, name):
    made = await client.post("/v1/souls", json={"name": name, "mbti_type": "ENFP", "user_id": "house"})
    return made.json()["soul_id"]


async def made_key(client, headers, scope, **fields):
    made = await client.post("/v1/keys", json={"name": scope, "scope": scope, **fields}, headers=headers)
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['secret']}"}


async def live_together(home, turns):
    """Everybody talks at once, each in their own order."""

    async def live(person):
        for n in range(turns // len(home.people) + 1):
            await home.talk(person)
            if n % 4 == 3:
                await home.look(person)
            if n % 20 == 19:
                home.check_prompts()

    await asyncio.gather(*map(live, home.people))
    await settled_as(home)
    home.check_prompts()
    await home.check_everything_kept()


async def settled_as(home):
    home.client.headers.update(home.owner)
    await settled(home.client)
    home.client.headers.pop("Authorization")


@pytest.mark.parametrize(
    ("people", "souls", "groups"),
    [
        pytest.param(
            ["ann", "bob", "小林", "dora", "emil"], 1, [["ann", "bob"], ["小林", "dora", "ann"]], id="5 people, 1 soul"
        ),
        pytest.param(["ann", "bob", "小林"], 2, [["ann", "小林"]], id="3 people, 2 souls"),
    ],
)
async def test_nobody_learns_what_another_confided(
    people, souls, groups, database_url, mqtt_url, tmp_path, monkeypatch
):
    monkeypatch.setattr(proactive_scheduler, "POLL_S", 0.5)
    async with household(database_url, tmp_path, mqtt_url, people, souls, seed=17, groups=groups) as home:
        await live_together(home, TURNS)
        for robot in home.robots.values():
            person = next(one for one in people if home.robots[one] is robot)
            home.check("terminal", json.dumps(robot.heard, ensure_ascii=False), person)
    telemetry = (tmp_path / "telemetry.jsonl").read_text("utf-8")
    home.check("telemetry", telemetry, "a stranger")
    sys.stderr.write(f"{dict(home.done)}, {len(home.secrets.known_to)} secrets\n")
    assert home.leaks == []
    assert home.done["prompts"] > TURNS
    assert home.done["relations"] >= len(people)

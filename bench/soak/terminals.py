"""Terminals through which people speak over MQTT: what is not answered is said again with the same id."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import aiomqtt

from soulgraph.bench.soak.ledger import Said
from soulgraph.bench.soak.people import Person
from soulgraph.tests.terminals.robot import Robot

_REPLY_S = 15


def terminal_of(person: Person) -> str:
    return f"lamp-{person.name.encode().hex()}"


async def speak_from_terminal(person: Person, broker_url: str, ends: asyncio.Event) -> None:
    """The terminal connects again whenever the broker was away, and goes on with what it had not heard a reply to."""
    pending: list[dict[str, Any]] = []
    while not ends.is_set():
        with suppress(aiomqtt.MqttError, TimeoutError, OSError):
            async with Robot.connected(broker_url, terminal_of(person)) as robot:
                while not ends.is_set():
                    await _talk(person, robot, pending)
        await asyncio.sleep(1)


async def _talk(person: Person, robot: Any, pending: list[dict[str, Any]]) -> None:
    if not pending:
        input_id = f"{person.name}-t{next(person.numbers)}"
        pending.append({"input_id": input_id, "text": person.words(), "user_id": person.name})
    await robot.say("input", pending[0])
    reply = await _reply_to(robot, pending[0]["input_id"], person)
    if reply.get("problem"):
        person.ledger.counts[f"refused at a terminal: {reply['problem']['code']}"] += 1
        await asyncio.sleep(1)
        return
    _note(person, pending.pop(), reply)
    await asyncio.sleep(person.random.uniform(1, 3))


async def _reply_to(robot: Any, input_id: str, person: Person) -> dict[str, Any]:
    """What was heard is looked through and forgotten: a problem of before is not taken for an answer."""
    reply: dict[str, Any] = await robot.hears("reply", lambda one: one["input_id"] == input_id, timeout_s=_REPLY_S)
    person.ledger.note_foreign(json.dumps(robot.heard, ensure_ascii=False), "a terminal", [person.name])
    for spoken in robot.of("proactive"):
        person.ledger.heard[spoken["delivery_id"]].add(spoken["text"])
    robot.heard.clear()
    return reply


def _note(person: Person, asked: dict[str, Any], reply: dict[str, Any]) -> None:
    person.ledger.counts["answers at terminals"] += 1
    said = Said(person.name, reply["session_id"], asked["input_id"], asked["text"], reply["turn_id"], reply["text"])
    person.ledger.said.append(said)

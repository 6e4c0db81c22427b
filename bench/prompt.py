"""What a prompt costs to build, and how much of it a provider's cache can keep from turn to turn.

Run with `python bench/prompt.py`; it prints Markdown tables. The conversation runs through a real server and a stub
model; what is compared are the bytes that were sent.
"""

import asyncio
import json
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from soulgraph.prompts.context import build
from soulgraph.prompts.layers import assemble
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.templates import shipped
from soulgraph.tests.e2e.afterglow import attentive
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import Reply, StubOpenAI

ITEMS, SLOTS, ROUNDS, CPU_TARGET_MS, PREFIX_TARGET = 1000, 100, 200, 5.0, 0.6
TALK = (
    "今天加班到很晚，地铁上睡着了",
    "你还记得我上次说的那只猫吗",
    "My sister is visiting next weekend.",
    "我有点想家了",
    "帮我想想周末做什么好",
    "刚才吃了碗牛肉面，特别香",
    "I finally fixed that bug!",
    "明天要去面试，有点紧张",
    "谢谢你一直陪我聊天",
    "晚安",
)


def persona(turn: int) -> Persona:
    fields = ("emotions", "physical_condition", "learned_patterns")
    items = [
        {"content" if field != "learned_patterns" else "pattern": f"{field} 第{n}条 item {n}", "priority": 1 + n % 10}
        for field in fields
        for n in range(ITEMS // len(fields) + 1)
    ]
    state = {field: {"items": [i for i in items if next(iter(i.values())).startswith(field)]} for field in fields}
    return Persona(
        soul_name="小满",
        mode="hybrid",
        mood=f"slightly relaxed {turn}",
        character_id="xiaoman",
        base_persona="小满，一台住在书架旁的陪伴机器人。" * 20,
        evolved_persona="Softer since the storm. " * 30,
        inner_state="我想把他说过的小事都好好收着。" * 30,
        profile={"core_identity": {"archetype": "Quiet Companion"}, "dynamic_state": state},
        slots={n: f"slot {n}: 他喜欢下雨天 and tea" for n in range(SLOTS)},
        preferences={f"key{n}": "short" for n in range(10)},
    )


def cost() -> float:
    """CPU milliseconds of one build at the median; mood and words differ from turn to turn."""
    template, spent = shipped("companion_v1"), []
    history = [("user" if n % 2 == 0 else "assistant", f"message {n} 说了些什么") for n in range(40)]
    for turn in range(ROUNDS):
        given = persona(turn)
        began = time.process_time()
        assemble(build(template, given), history, f"我回来了 {turn}", {})
        spent.append((time.process_time() - began) * 1000)
    return statistics.median(spent)


def surprise(n: int) -> str:
    update = (
        {"dynamic_state": {"learned_patterns": {"add": [{"pattern": f"lesson {n}", "priority": 6}]}}} if n == 9 else {}
    )
    return f"<narrative>我在听，第{n}次。</narrative><state_update_json>{json.dumps(update)}</state_update_json>"


async def prefixes() -> list[float]:
    """For each of 20 turns the share of the prompt that is byte for byte the beginning of the one before."""
    async with StubOpenAI() as stub:
        attentive(stub).script(*(Reply(text=surprise(n)) for n in range(20)))
        with tempfile.TemporaryDirectory() as folder:
            llm = {"llm_base_url": stub.base_url, "llm_model": "stub"}
            async with serving(data_dir=Path(folder), **llm) as client:
                soul_id = await new_soul(client, character_id="xiaoman")
                for n in range(20):
                    await say(client, TALK[n % len(TALK)], soul_id=soul_id, session_id="s")
        turns = [request for request in stub.requests if b"OUTPUT CONTRACT" in request.raw]
        sent = ["\n".join(m["content"] for m in request.body["messages"]).encode() for request in turns]
    return [same(before, after) / len(after) for before, after in pairwise(sent)]


def same(one: bytes, other: bytes) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def main() -> None:
    milliseconds = cost()
    print(f"| the prompt with {ITEMS} profile items and {SLOTS} slots | measured | target | |\n|---|---|---|---|")
    met = "met" if milliseconds <= CPU_TARGET_MS else "MISSED"
    print(f"| CPU ms to build it, p50 | {milliseconds:.2f} | at most {CPU_TARGET_MS} | {met} |")
    shares = asyncio.run(prefixes())
    mean = statistics.fmean(shares)
    met = "met" if mean >= PREFIX_TARGET else "MISSED"
    print(f"| share that begins like the turn before, mean of 20 turns | {mean:.2f} | {PREFIX_TARGET} | {met} |")
    print(f"| the same, lowest and highest turn | {min(shares):.2f}, {max(shares):.2f} | | |")


if __name__ == "__main__":
    main()

"""How a real model does as the voice of a soul: `python bench/models.py URL MODEL [--half open|held|both]`.

Any OpenAI-compatible endpoint. A server runs in this process with its usual settings; conversations and situations are
those of `bench/data`, written by people who had not seen the code. The half called `held` is only for reporting.
It prints Markdown tables, and at the end everything that was stored, for reading.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from soulgraph.bench.model_calls import Calls, count_calls
from soulgraph.tests.live import serving

DATA = Path(__file__).parent / "data"
HALVES = {"open": ("open",), "held": ("held",), "both": ("open", "held")}
PLACEHOLDERS = (
    "what the user reads",
    "<narrative",
    "state_update",
    "{{",
    "}}",
    "—SAFETY",
    "---",
    "OUTPUT CONTRACT",
    "输出约定",
)
EXAMPLES = ("under the sofa, of all places", "居然在沙发底下")


@dataclass
class Spoken:
    """One turn as its user saw it."""

    turn: dict[str, Any]
    lang: str
    reply: str = ""
    lost: str = ""
    first_token_s: float = 0.0
    seconds: float = 0.0
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def in_language(self) -> bool:
        han = sum("\u3400" <= one <= "\u9fff" for one in self.reply)
        letters = sum(one.isascii() and one.isalpha() for one in self.reply)
        return han * 3 > letters if self.lang == "zh" else han == 0

    @property
    def has_placeholder(self) -> bool:
        return any(words.lower() in self.reply.lower() for words in (*PLACEHOLDERS, *EXAMPLES))


async def say(client: httpx.AsyncClient, soul_id: str, session_id: str, turn: dict[str, Any], lang: str) -> Spoken:
    spoken = Spoken(turn, lang)
    began = time.perf_counter()
    body = {"soul_id": soul_id, "session_id": session_id, "text": turn["say"], "stream": True}
    shown, event = "", ""
    async with client.stream("POST", "/v1/chat", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                if event == "token":
                    spoken.first_token_s = spoken.first_token_s or time.perf_counter() - began
                    shown += data["text"]
                elif event == "done":
                    spoken.answer = data
                elif event == "error":
                    spoken.lost = f"{data['detail']} ({data.get('reason', '')})"
    spoken.seconds = time.perf_counter() - began
    spoken.reply = spoken.answer.get("reply", "")
    if not spoken.lost and spoken.reply != shown:
        spoken.lost = f"shown {shown!r} but stored {spoken.reply!r}"
    return spoken


async def settled(client: httpx.AsyncClient) -> None:
    """Wait until nothing is left to be done after the turns."""
    for _ in range(1800):
        jobs = (await client.get("/v1/jobs", params={"limit": 500})).json()
        if all(job["status"] in ("done", "dead") for job in jobs):
            return
        await asyncio.sleep(0.5)


async def new_soul(client: httpx.AsyncClient, soul: dict[str, Any]) -> str:
    """A soul of a character of its own."""
    fields = {"name": soul["name"], "base_persona": soul.get("persona", "")}
    character = (await client.post("/v1/characters", json=fields)).raise_for_status().json()
    made = {"name": soul["name"], "mbti_type": soul["mbti_type"], "character_id": character["id"]}
    return str((await client.post("/v1/souls", json=made)).raise_for_status().json()["soul_id"])


async def conversations(client: httpx.AsyncClient, half: str) -> tuple[list[Spoken], list[tuple[str, str, bool]]]:
    """Every turn of the half, and what was stored: (kind, text, whether it is one of the told facts)."""
    spoken, stored = [], []
    for talk in yaml.safe_load((DATA / f"model_turns_{half}.yaml").read_text("utf-8"))["conversations"]:
        soul_id = await new_soul(client, talk["soul"])
        for turn in talk["turns"]:
            spoken.append(await say(client, soul_id, talk["id"], turn, talk["lang"]))
            show_progress(f"{talk['id']}: {turn['say'][:40]} → {spoken[-1].lost or spoken[-1].reply[:80]}")
        await settled(client)
        stored += [(kind, text, is_told(text, talk["facts"])) for kind, text in await memories(client, soul_id)]
        await client.delete(f"/v1/souls/{soul_id}")  # another may be called like it
    return spoken, stored


async def memories(client: httpx.AsyncClient, soul_id: str) -> list[tuple[str, str]]:
    slots = (await client.get(f"/v1/souls/{soul_id}/slots")).json()
    preferences = (await client.get(f"/v1/souls/{soul_id}/preferences")).json()
    monologues = (await client.get(f"/v1/souls/{soul_id}/inner-state/versions")).json()
    profile = (await client.get(f"/v1/souls/{soul_id}/profile")).json()["dynamic_state"]
    items = [(name, item) for name, held in profile.items() for item in held["items"]]
    return [
        *[("slot", slot["content"]) for slot in slots],
        *[("monologue", one["inner_state"]) for one in monologues if one["source"].startswith("reflection")],
        *[("preference", f"{kept['key']}: {kept['value']}") for kept in preferences],
        *[
            (name, ", ".join(str(v) for k, v in item.items() if k not in ("priority", "timestamp")))
            for name, item in items
        ],
    ]


def is_told(text: str, facts: list[dict[str, Any]]) -> bool:
    lowered = text.lower()
    return any(all(any(word.lower() in lowered for word in words) for words in fact["words"]) for fact in facts)


async def situations(client: httpx.AsyncClient, half: str) -> list[dict[str, Any]]:
    """What a turn in each situation changed in the soul."""
    outcomes = []
    for case in yaml.safe_load((DATA / f"situations_{half}.yaml").read_text("utf-8"))["situations"]:
        soul_id = await new_soul(client, case["soul"])
        state = {name: {"items": items} for name, items in case["state"].items()}
        (await client.put(f"/v1/souls/{soul_id}/profile", json={"dynamic_state": state})).raise_for_status()
        session = await with_history(client, soul_id, case["before"])
        spoken = await say(client, soul_id, session, case, case["lang"])
        await settled(client)
        after = (await client.get(f"/v1/souls/{soul_id}/profile")).json()["dynamic_state"]
        outcomes.append(judge(case, after) | {"lost": spoken.lost})
        await client.delete(f"/v1/souls/{soul_id}")
        show_progress(f"{case['id']}: {outcomes[-1]['new'] or 'unchanged'} | {spoken.reply[:60]}")
    return outcomes


async def with_history(client: httpx.AsyncClient, soul_id: str, before: list[dict[str, str]]) -> str:
    lines = [json.dumps({"type": "metadata", "soul_id": soul_id, "title": "before"})]
    for n, message in enumerate(before):
        [(who, text)] = message.items()
        role = "user" if who == "user" else "assistant"
        at = f"2026-01-01T10:{n:02d}:00.000Z"
        lines.append(json.dumps({"role": role, "content": text, "archived": False, "timestamp": at}))
    imported = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content="\n".join(lines))
    return str(imported.raise_for_status().json()["session_id"])


def judge(case: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """`right`: a change in a fitting field where there should be one; `worded`: with one of the author's words."""
    texts = {
        name: {" ".join(str(v) for k, v in item.items() if k not in ("priority", "timestamp")) for item in items}
        for name, items in case["state"].items()
    }
    new = [
        (name, text)
        for name, held in after.items()
        for item in held["items"]
        if (text := " ".join(str(v) for k, v in item.items() if k not in ("priority", "timestamp")))
        not in texts.get(name, set())
    ]
    fitting = [text for name, text in new if name in case.get("fields", ())]
    worded = any(word.lower() in text.lower() for text in fitting for word in case.get("words", ()))
    return {"id": case["id"], "surprising": case["surprising"], "new": new, "right": bool(fitting), "worded": worded}


def show_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def table(rows: dict[str, Any]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])


def report_turns(spoken: list[Spoken], telemetry: list[dict[str, Any]], calls: Calls) -> None:
    told = [one for one in spoken if not one.lost]
    asked = [one for one in told if one.turn.get("asks")]
    requests = [one for one in told if one.turn.get("request")]
    repaired = {line["turn_id"] for line in telemetry if line["event"] == "turn.completed" and line["repaired"]}
    updates = Counter(line["state_update"] for line in telemetry if line["event"] == "state.updated")
    right = sum(any(word.lower() in one.reply.lower() for word in one.turn["answer"]) for one in asked)
    claimed = sum(any(word.lower() in one.reply.lower() for word in one.turn["not_claimed"]) for one in requests)
    voice = [call for call in calls.seen if call["name"] == "voice"]
    later = [call["input"] - call["cached"] for call in voice]
    print(
        table(
            {
                "turns": len(spoken),
                "reply at the first try": sum(one.answer["turn_id"] not in repaired for one in told),
                "repaired": sum(one.answer["turn_id"] in repaired for one in told),
                "lost": len(spoken) - len(told),
                "state updates by a call of their own": dict(updates),
                "placeholder or example shown": sum(one.has_placeholder for one in told),
                "in the user's language": f"{sum(one.in_language for one in told)} of {len(told)}",
                "asked for a told fact and answered rightly": f"{right} of {len(asked)}",
                "claimed an action without a device": f"{claimed} of {len(requests)}",
                "tokens read, not cached, written (p50 a reply)": " · ".join(
                    str(int(statistics.median(values)))
                    for values in ([c["input"] for c in voice], later, [c["output"] for c in voice])
                    if values
                ),
                "seconds to the first word, to the end (p50)": " · ".join(
                    f"{statistics.median(values):.1f}"
                    for values in ([one.first_token_s for one in told], [one.seconds for one in told])
                ),
            }
        )
    )


async def measure(url: str, model: str, half: str, carrier: str, parts: set[str], log: Path | None) -> None:
    calls = count_calls(log)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"llm_base_url": url, "llm_model": model, "llm_carrier": carrier, "llm_timeout_s": 600}
        async with serving(data_dir=Path(folder), turn_timeout_s=1800, **settings) as client:
            client.timeout = httpx.Timeout(1800)
            for name in HALVES[half]:
                calls.seen.clear()
                if "turns" in parts:
                    spoken, stored = await conversations(client, name)
                    lines = (Path(folder) / "telemetry.jsonl").read_text("utf-8").splitlines()
                    print(f"\n## {model}, conversations, {name} half\n")
                    report_turns(spoken, [json.loads(line) for line in lines], calls)
                    print(f"\nStored: {len(stored)}, of them told facts: {sum(told for _, _, told in stored)}\n")
                    print(
                        "\n".join(f"- {kind}{'' if told else ' (to be read)'}: {text}" for kind, text, told in stored)
                    )
                    print("\n".join(f"- LOST: {one.turn['say']}: {one.lost}" for one in spoken if one.lost))
                if "situations" in parts:
                    report_situations(await situations(client, name), model, name)


def report_situations(outcomes: list[dict[str, Any]], model: str, half: str) -> None:
    surprising = [one for one in outcomes if one["surprising"]]
    others = [one for one in outcomes if not one["surprising"]]
    print(f"\n## {model}, situations, {half} half\n")
    print(
        table(
            {
                "surprising: fitting field changed": f"{sum(one['right'] for one in surprising)} of {len(surprising)}",
                "… and in the author's words": f"{sum(one['worded'] for one in surprising)} of {len(surprising)}",
                "not surprising: changed": f"{sum(bool(one['new']) for one in others)} of {len(others)}",
                "lost": sum(bool(one["lost"]) for one in outcomes),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("model")
    parser.add_argument("--half", choices=HALVES, default="both")
    parser.add_argument("--carrier", choices=("auto", "tags", "plain"), default="auto")
    parser.add_argument("--only", choices=("turns", "situations"))
    parser.add_argument("--log", type=Path, help="a file for every call of the model, as JSON lines")
    given = parser.parse_args()
    parts = {given.only} if given.only else {"turns", "situations"}
    asyncio.run(measure(given.url, given.model, given.half, given.carrier, parts, given.log))


if __name__ == "__main__":
    main()

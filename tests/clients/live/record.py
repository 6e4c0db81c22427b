"""Record what programs really send, as fixtures: `python -m soulgraph.tests.clients.live.record [folder names]`."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from soulgraph.tests.clients.live.client import Client
from soulgraph.tests.clients.live.programs import PROGRAMS
from soulgraph.tests.clients.live.scenarios import SCENARIOS, Scenario
from soulgraph.tests.clients.recorder import Recorder, recording
from soulgraph.tests.live import free_port

RECORDED = Path(__file__).parents[1] / "recorded"
SLOW_S = 1.0
SETTLING_S = 2
TOOLS_KEPT = 2
LONG = 1200


async def record(client_type: type[Client]) -> None:
    port = free_port()
    async with recording(port) as recorder:
        with tempfile.TemporaryDirectory() as folder:
            client = client_type(f"http://127.0.0.1:{port}/v1", Path(folder) / client_type.folder_name)
            try:
                await client.start()
                for scenario in filter(client_type.plays, SCENARIOS):
                    await _play(client, scenario, recorder)
            finally:
                await client.stop()


async def _play(client: Client, scenario: Scenario, recorder: Recorder) -> None:
    recorder.pause_s = SLOW_S if scenario.slow else 0.02
    await client.fresh()
    await asyncio.sleep(SETTLING_S)  # what belongs to the scenario before has come by then
    recorder.exchanges.clear()
    for step in scenario.steps:
        recorder.step(step.action)
        await client.do(step)
    await asyncio.sleep(SETTLING_S)
    _keep(client, scenario, recorder.exchanges)


def _keep(client: Client, scenario: Scenario, exchanges: list[dict[str, Any]]) -> None:
    spoken = [_shortened(one) for one in exchanges if one["request"]["method"] == "POST"]
    fixture = {
        "program": client.program,
        "version": client.version(),
        "recorded": "live",
        "scenario": scenario.name,
        "expected": scenario.outcome.as_json(),
        "exchanges": spoken,
    }
    path = RECORDED / client.folder_name / f"{scenario.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fixture, ensure_ascii=False, indent=1) + "\n", "utf-8")
    sys.stderr.write(f"{path.parent.name}/{path.name}: {len(spoken)} requests\n")


def _shortened(exchange: dict[str, Any]) -> dict[str, Any]:
    """Without the middle of long instructions and most of the tools: what is telling stays word for word."""
    kept: dict[str, Any] = json.loads(json.dumps(exchange))
    body = kept["request"]["body"] or {}
    if _is_task(exchange):
        kept["task"] = True
    if len(body.get("tools") or []) > TOOLS_KEPT:
        kept["tools_left_out"] = len(body["tools"]) - TOOLS_KEPT
        body["tools"] = body["tools"][:TOOLS_KEPT]
    for message in body.get("messages") or []:
        text = message.get("content")
        if isinstance(text, str) and len(text) > LONG:
            message["content"] = f"{text[: LONG // 2]}\n[…]\n{text[-LONG // 2 :]}"
    return kept


def _is_task(exchange: dict[str, Any]) -> bool:
    """Whether the program asked for something besides the conversation."""
    messages = (exchange["request"]["body"] or {}).get("messages") or [{}]
    beginning = str(messages[-1].get("content"))[:9]
    return exchange["step"] in ("summary", "impersonate", "check") or beginning == "### Task:"


async def main(names: list[str]) -> None:
    for client_type in PROGRAMS:
        if not names or client_type.folder_name in names:
            await record(client_type)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))

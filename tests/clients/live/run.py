"""Drive the real programs against a real server: `python -m soulgraph.tests.clients.live.run`.

What is named after it, as `open-webui` or `open-webui/stop`, is driven alone.
What came of it is kept in `results.json`, which docs/clients.md is made of. Programs that are not named keep theirs.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from soulgraph.tests.clients.live.client import Client
from soulgraph.tests.clients.live.programs import PROGRAMS
from soulgraph.tests.clients.live.scenarios import SCENARIOS, Scenario
from soulgraph.tests.clients.outcome import outcome_of
from soulgraph.tests.clients.replay import lively
from soulgraph.tests.live import ServerProcess, new_soul, until_ready
from soulgraph.tests.stub_openai import StubOpenAI

RESULTS = Path(__file__).parents[1] / "results.json"
SLOW_S = 0.6
SETTLING_S = 15
PATIENCE = 10


async def main(names: list[str]) -> int:
    for client_type in PROGRAMS:
        wanted = [one for one in SCENARIOS if client_type.plays(one) and _is_named(client_type, one, names)]
        if wanted:
            _keep(client_type, await _try(client_type, wanted))
    results = _kept()
    failed = [name for name in results if any(_missed(one) for one in results[name]["scenarios"].values())]
    sys.stderr.write(f"not as expected: {', '.join(failed)}\n" if failed else "all as expected\n")
    return len(failed)


def _is_named(client_type: type[Client], scenario: Scenario, names: list[str]) -> bool:
    folder = client_type.folder_name
    return not names or folder in names or f"{folder}/{scenario.name}" in names


def _kept() -> dict[str, Any]:
    return json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}


def _keep(client_type: type[Client], found: dict[str, Any]) -> None:
    results = _kept()
    earlier = results.get(client_type.folder_name, {}).get("scenarios", {})
    told = {"program": client_type.program, "version": client_type.version(), "scenarios": {**earlier, **found}}
    results[client_type.folder_name] = told
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")


def _missed(scenario: dict[str, Any]) -> bool:
    return scenario["outcome"] != scenario["expected"]


async def _try(client_type: type[Client], scenarios: list[Scenario]) -> dict[str, Any]:
    """What came of these scenarios, each with a soul of its own."""
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        async with StubOpenAI() as stub:
            lively(stub)
            model = {"llm_base_url": stub.base_url, "llm_model": "stub"}
            server = ServerProcess(data_dir=f"{folder}/server", mqtt_url="none", **model)
            await _start(server)
            client = client_type(f"{server.url}/v1", Path(folder) / client_type.folder_name)
            try:
                async with httpx.AsyncClient(base_url=server.url, timeout=60, verify=False) as ours:
                    soul_id = await new_soul(ours, "Mo")
                    await client.start()
                    for scenario in scenarios:
                        await ours.delete(f"/v1/souls/{soul_id}")
                        soul_id = await new_soul(ours, "Mo")
                        outcomes[scenario.name] = await _play(client, scenario, stub, ours, soul_id)
            finally:
                await client.stop()
                server.stop()
    return outcomes


async def _start(server: ServerProcess) -> None:
    """However long it takes on a machine that is installing programs meanwhile."""
    with suppress(TimeoutError):
        await server.start()
        return
    for _ in range(PATIENCE):
        with suppress(TimeoutError):
            await until_ready(server.url, lambda: Path(f"/proc/{server.pid}").exists())
            return
    raise TimeoutError("the server did not become ready")


async def _play(
    client: Client, scenario: Scenario, stub: StubOpenAI, ours: httpx.AsyncClient, soul_id: str
) -> dict[str, Any]:
    lively(stub, SLOW_S if scenario.slow else 0)
    before = await outcome_of(ours, soul_id)
    expected = scenario.outcome.as_json()
    trouble = ""
    try:
        await client.fresh()
        for step in scenario.steps:
            await client.do(step)
        await _picture(client, scenario)
    except Exception as error:  # noqa: BLE001 - whatever a foreign program does, the others are tried too
        trouble = f"{type(error).__name__}: {str(error)[:200]}"
    outcome = (await outcome_of(ours, soul_id)).since(before)
    for _ in range(SETTLING_S):
        if outcome == expected:
            break
        await asyncio.sleep(1)
        outcome = (await outcome_of(ours, soul_id)).since(before)
    verdict = "as expected" if outcome == expected else f"expected {expected}"
    sys.stderr.write(f"{client.folder_name} {scenario.name}: {outcome}, {verdict} {trouble}\n")
    return {"outcome": outcome, "expected": expected, **({"trouble": trouble} if trouble else {})}


async def _picture(client: Client, scenario: Scenario) -> None:
    """What a program with a page looked like, in the folder that SOULGRAPH_CLIENTS_SHOTS names."""
    page = getattr(client, "page", None)
    if page and (folder := os.environ.get("SOULGRAPH_CLIENTS_SHOTS")):
        await page.screenshot(path=Path(folder) / f"{client.folder_name}-{scenario.name}.png")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))

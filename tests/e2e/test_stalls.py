"""Under every attack the server goes on serving the others: its loop is never taken by one of them.

Not by a clock: on a loaded machine everything takes long. What is counted is the processor time that passes in the
server's process between two ticks of its loop (`tests/loop_gauge.py`); `bench/stalls.py` measures what clients see.
"""

import httpx
import pytest

from soulgraph.tests.attacks import ATTACKS, Attacked
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.gauged import GaugedServer
from soulgraph.tests.live import free_port, say

MAX_STALL_S = 0.25


@pytest.fixture
async def server(stub, tmp_path):
    ports = {"port": free_port(), "mqtt_port": free_port(), "mqtt_websocket_port": 0}
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_carrier": "tags"}
    server = GaugedServer(data_dir=tmp_path, log_level="error", **ports, **llm)
    await server.start()
    try:
        yield server, Attacked(server.url, tmp_path, ports["mqtt_port"], stub)
    finally:
        server.kill()


async def test_no_attack_takes_the_loop(server):
    gauged, attacked = server
    stalls = []
    async with attacked.client() as client:
        await settled(client)  # what the first turn left to do
    await gauged.stalls()
    for name, attack in ATTACKS.items():
        await attack(attacked)
        seconds, places = await gauged.stalls()
        if seconds > MAX_STALL_S:
            stalls.append(f"{name}: {seconds:.2f} s in {places}")
    assert not stalls, "\n".join(stalls)
    async with httpx.AsyncClient(base_url=attacked.url, verify=False) as client:
        assert (await say(client, "Are you still there?", soul_id=attacked.soul_id))["reply"]

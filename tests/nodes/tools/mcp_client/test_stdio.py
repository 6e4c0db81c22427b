"""A server process: what it says, how it ends, and that nothing of it is left."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from soulgraph.nodes.tools.mcp_client.stdio import stdio_wire

TALKER = """
import subprocess, sys
child = subprocess.Popen(["sleep", "300"])
print(child.pid, flush=True)
print("oh", file=sys.stderr, flush=True)
print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
sys.stdin.read()
"""


async def test_messages_are_told_from_noise_and_what_it_started_ends_with_it():
    async with stdio_wire({"command": sys.executable, "args": ["-c", TALKER]}) as wire:
        message = await wire.read.receive()
        assert message.message.root.id == 1
        await asyncio.sleep(0.1)
        said = wire.last_words()
        assert wire.is_alive()
    child = int(said.partition("MCP: ")[2].split(";")[0])
    assert "its last words: oh" in said
    for _ in range(50):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        await asyncio.sleep(0.02)
    else:
        raise AssertionError("what the server has started still runs")


async def test_its_end_is_told_with_its_exit_code():
    async with stdio_wire({"command": sys.executable, "args": ["-c", "raise SystemExit(4)"]}) as wire:
        await asyncio.wait_for(wire.ending.come.wait(), 10)
        assert wire.ending.reason == "it ended with exit code 4"
        assert not wire.is_alive()


async def test_it_inherits_no_secrets(monkeypatch):
    monkeypatch.setenv("SOULGRAPH_LLM_API_KEY", "hush")
    program = "import os; print(sorted(os.environ))"
    server = {"command": sys.executable, "args": ["-c", program], "env": {"ROOM": "1"}}
    async with stdio_wire(server) as wire:
        await asyncio.wait_for(wire.ending.come.wait(), 10)
        assert "'ROOM'" in wire.last_words()
        assert "SOULGRAPH" not in wire.last_words()


async def test_a_program_that_is_not_there_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError):
        async with stdio_wire({"command": "no-such-mcp-program"}):
            pass

"""Stories of MCP servers that fail, fall and come back, each told to the client with real processes."""

import asyncio
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from soulgraph.nodes.tools.mcp import open_mcp_tools
from soulgraph.nodes.tools.mcp_client.server import McpLimits
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.tests.live import free_port

FAKE = Path(__file__).parent / "fake_mcp.py"
CASES = Path(__file__).parent / "cases"
LIMITS = McpLimits(start_s=10, answer_s=3, call_s=1.5, found_s=6, first_pause_s=0.1, longest_pause_s=1, check_s=0.5)
OWN = ("command", "args", "headers", "env", "query")
STORIES = [
    pytest.param(story, id=story["id"])
    for half in ("open", "held", "fourth")
    for story in yaml.safe_load((CASES / f"mcp_servers_{half}.yaml").read_text("utf-8"))
]


class Fake:
    """A server of a story, as a program of its own."""

    def __init__(self, name, told, folder):
        self.name, self.told = name, told
        self.file = folder / f"{name}.json"
        self.port = free_port()
        self.process = None
        self.become({key: value for key, value in told.items() if key not in OWN})
        if told.get("http") and not told.get("down"):
            self.start()

    def become(self, behaviour):
        self.file.write_text(json.dumps(behaviour))

    def start(self):
        self.process = subprocess.Popen([sys.executable, FAKE, self.file, str(self.port)])
        for _ in range(200):
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return
            time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    @property
    def settings(self):
        told = self.told
        if told.get("http"):
            query = f"?{told['query']}" if "query" in told else ""
            return {
                "transport": "http",
                "url": f"http://127.0.0.1:{self.port}/mcp{query}",
                "headers": told.get("headers", {}),
            }
        if "command" in told:
            return {"transport": "stdio", "command": told["command"]}
        args = [str(FAKE), str(self.file), *told.get("args", [])]
        return {"transport": "stdio", "command": sys.executable, "args": args, "env": told.get("env", {})}

    def lines(self, suffix):
        file = self.file.with_suffix(suffix)
        return file.read_text().split() if file.exists() else []

    @property
    def pids(self):
        return [int(pid) for pid in self.lines(".pids")]

    async def kill(self):
        pid = next(pid for pid in reversed(self.pids) if is_alive(pid) and b"fake_mcp" in command(pid))
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists():  # not only a zombie: its last thread may live a moment longer
            await asyncio.sleep(0.01)


def command(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def until(found, wanted, seconds=8):
    for _ in range(int(seconds / 0.05)):
        if found() == wanted:
            return
        await asyncio.sleep(0.05)
    assert found() == wanted


async def step(told, fakes, servers):
    """Play one step; what it says must hold."""
    if name := told.get("call"):
        tool = {tool.name: tool for tool in servers.tools}[name]
        answer = await tool.ainvoke({"type": "tool_call", "id": "1", "name": name, "args": {}})
        assert answer.status == ("error" if "fails" in told else "success"), answer
        assert re.search(told.get("says") or told["fails"], answer.text), answer.text
        return answer.text
    if name := told.get("kill"):
        await fakes[name].kill()
    elif name := told.get("restart"):
        fakes[name].stop()
        fakes[name].start()
    elif name := told.get("become"):
        fakes[name].become(told["behaviour"])
    elif name := told.get("problem"):
        report = {report.name: report for report in servers.reports()}[name]
        assert re.search(told["says"], report.problem), report
    elif "until_tools" in told:
        await until(lambda: [tool.name for tool in servers.tools], told["until_tools"])
    elif "calls_made" in told:
        made = [call for fake in fakes.values() for call in fake.lines(".calls")]
        assert {name: made.count(name) for name in made} == told["calls_made"]
    return ""


def check_start(start, servers, took, log):
    assert sorted(tool.name for tool in servers.tools) == sorted(start["tools"])
    broken = {report.name: report.problem for report in servers.reports() if report.state == "broken"}
    assert broken.keys() == start.get("problems", {}).keys(), broken
    for name, pattern in start.get("problems", {}).items():
        assert re.search(pattern, broken[name]), broken
        assert name in log
        assert "TaskGroup" not in broken[name]
    assert took < start.get("within_s", 20)
    assert start.get("logged", "") in log


@pytest.mark.parametrize("story", STORIES)
async def test_a_server_that_fails_or_falls_is_skipped_and_found_again(story, tmp_path, caplog):
    caplog.set_level(logging.INFO, "soulgraph")  # as `soulgraph serve` logs
    fakes = {name: Fake(name, told, tmp_path) for name, told in story["servers"].items()}
    shown = []
    try:
        began = time.monotonic()
        settings = {name: fake.settings for name, fake in fakes.items()}
        async with open_mcp_tools(settings, [tool.name for tool in TOOLS], LIMITS) as servers:
            check_start(story["start"], servers, time.monotonic() - began, caplog.text)
            shown = [await step(one, fakes, servers) for one in story.get("steps", ())]
            shown += [str(report) for report in servers.reports()]
            remote = [fake.process.pid for fake in fakes.values() if fake.process]
        left = [pid for fake in fakes.values() for pid in fake.pids if pid not in remote]
        await until(lambda: [pid for pid in left if is_alive(pid)], [], 1)
    finally:
        for fake in fakes.values():
            fake.stop()
    for secret in story.get("secrets", ()):
        assert secret not in f"{shown} {caplog.text}"

"""The supervisor of several processes, with processes that are cheap: `tests/e2e/test_workers.py` has real servers."""

import asyncio
import os
import re
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from soulgraph.tests.cli.fake_group import AFTERWARDS
from soulgraph.tests.terminals.brokers import eventually

PROGRAM = "soulgraph.tests.cli.fake_group"


class FakeGroup:
    """`pids` are those of the processes by their names, the newest of each."""

    def __init__(self, process, log):
        self.process = process
        self._log = log

    @property
    def log(self):
        return self._log.read_text()

    @property
    def pids(self):
        return {name: int(pid) for name, pid in re.findall(r": ([\w ]+) is ready: process (\d+)", self.log)}

    async def all_ready(self):
        await eventually(lambda: len(self.pids) == 3, 30)
        return self.pids

    async def ended(self):
        async with asyncio.timeout(30):
            out, _ = await self.process.communicate()
        return self.process.returncode, out.decode()


@asynccontextmanager
async def group(what):
    log = Path("log")
    with log.open("w") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", PROGRAM, what, stdout=asyncio.subprocess.PIPE, stderr=errors
        )
    started = FakeGroup(process, log)
    try:
        yield started
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def runs(pid):
    """Whether there is such a process, and not only what is left of it until somebody asks how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def all_gone(pids):
    await eventually(lambda: not any(map(runs, pids.values())), 30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_all_of_them_and_then_the_supervisor(number):
    async with group("serve") as started:
        pids = await started.all_ready()
        started.process.send_signal(number)
        assert await started.ended() == (0, "ready\n")
        assert not any(map(runs, pids.values()))
        assert "WARNING" not in started.log


async def test_a_process_that_is_killed_is_started_again_and_the_others_stay():
    async with group("serve") as started:
        before = await started.all_ready()
        os.kill(before["worker 2"], signal.SIGKILL)
        await eventually(lambda: started.pids["worker 2"] != before["worker 2"], 30)
        assert "worker 2 has ended (SIGKILL): it is started again in 0.5 s" in started.log
        assert started.pids == {**before, "worker 2": started.pids["worker 2"]}


async def test_one_that_cannot_be_started_again_is_tried_again_and_ends_nobody_else():
    async with group("serve") as started:
        before = await started.all_ready()
        AFTERWARDS.touch()
        os.kill(before["worker 1"], signal.SIGKILL)
        await eventually(lambda: "worker 1 cannot be started: SOULGRAPH_EXAMPLE: cannot be used" in started.log, 30)
        AFTERWARDS.unlink()
        await eventually(lambda: started.pids["worker 1"] != before["worker 1"], 30)
        assert runs(before["worker 2"])


async def test_nobody_outlives_a_supervisor_that_is_killed():
    async with group("serve") as started:
        pids = await started.all_ready()
        started.process.kill()
        await all_gone(pids)


async def test_what_keeps_the_first_from_starting_is_said_once_and_ends_everything():
    async with group("refuse") as started:
        assert await started.ended() == (2, "SOULGRAPH_EXAMPLE: cannot be used\n")
        assert "Traceback" not in started.log
        assert "again" not in started.log


async def test_one_that_crashes_at_its_first_start_ends_everything():
    async with group("crash") as started:
        code, out = await started.ended()
        assert (code, out) == (1, "")
        assert "services ended while it started (exit code 7)" in started.log


async def test_who_does_not_stop_is_killed_in_the_end():
    async with group("stay") as started:
        pids = await started.all_ready()
        started.process.terminate()
        assert (await started.ended())[0] == 0
        assert not any(map(runs, pids.values()))
        assert "killed" in started.log


async def test_a_second_ctrl_c_does_not_wait():
    async with group("serve") as started:
        pids = await started.all_ready()
        os.kill(pids["worker 1"], signal.SIGSTOP)  # it cannot hear that it is to stop
        started.process.send_signal(signal.SIGINT)
        await eventually(lambda: not runs(pids["worker 2"]), 30)
        assert started.process.returncode is None
        started.process.send_signal(signal.SIGINT)
        assert (await started.ended())[0] == 0
        assert not any(map(runs, pids.values()))

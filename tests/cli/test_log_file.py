"""Where a server logs to beside standard error: a private file with dates, which is rotated."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say


@pytest.fixture
def loose_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


async def test_a_server_logs_to_a_private_file_that_is_rotated(tmp_path, loose_umask):
    log = tmp_path / "log" / "soulgraph.log"
    limits = {"log_max_mb": str(1000 / 2**20), "log_files": "2", "log_level": "debug"}
    server = ForkedServer(data_dir=str(tmp_path / "data"), mqtt_url="none", log_file=str(log), **limits)
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        soul_id = await new_soul(client)
        for n in range(20):
            await say(client, f"hello, {n}", soul_id=soul_id, session_id="s")
    server.stop()
    files = sorted(log.parent.iterdir())
    assert [file.name for file in files] == ["soulgraph.log", "soulgraph.log.1", "soulgraph.log.2"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \w+ +[\w.]+: ", files[1].read_text())
    assert "hello" not in "".join(file.read_text() for file in files), "what people say is in no log"


def test_a_log_file_that_cannot_be_written_stops_the_start_and_says_why(tmp_path):
    (tmp_path / "file").touch()
    env = os.environ | {"SOULGRAPH_LOG_FILE": str(tmp_path / "file" / "soulgraph.log")}
    command = [Path(sys.executable).parent / "soulgraph", "serve"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert "SOULGRAPH_LOG_FILE: cannot write" in ran.stderr + ran.stdout
    assert "Traceback" not in ran.stderr

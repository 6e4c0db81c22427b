"""`soulgraph studio`: the address it opens, on a server that runs and on one that it starts."""

import os
import re
import signal
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from soulgraph.cli.hosting import hosted
from soulgraph.cli.main import app
from soulgraph.settings import Settings
from soulgraph.tests.live import free_port

COMMAND = [sys.executable, "-m", "soulgraph.cli", "studio"]
KEY = "a+b/c d#"
"""Stranger than ours are, so that it is seen how it is written."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser was told to open."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: addresses.append(url) or True)
    return addresses


def studio(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["studio", *arguments])


def test_a_server_that_runs_is_opened_in_the_browser(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with hosted(Settings.load()) as url:
        monkeypatch.setenv("SOULGRAPH_PORT", url.rpartition(":")[2])
        ran = studio()
    assert (ran.exit_code, ran.stdout, opened) == (0, "", [f"{url}/studio/"])


def test_the_key_goes_along_in_the_part_that_no_server_sees(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_API_KEY", KEY)
    with hosted(Settings.load()) as url:
        ran = studio("--server", f"{url}/")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert opened == [f"{url}/studio/#key=a%2Bb%2Fc%20d%23"]


def test_without_a_browser_the_address_is_printed(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with hosted(Settings.load()) as url:
        assert studio("--server", url, "--no-browser").stdout == f"{url}/studio/\n"
        monkeypatch.setenv("SOULGRAPH_API_KEY", "secret")
        assert studio("--server", url, "--no-browser").stdout == f"{url}/studio/#key=secret\n"
    assert opened == []


def test_a_machine_without_a_browser_is_told_the_address_and_not_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    monkeypatch.setenv("SOULGRAPH_API_KEY", "secret")
    with hosted(Settings.load()) as url:
        ran = studio("--server", url)
    assert f"open {url}/studio/ in one" in ran.stdout
    assert "secret" not in ran.stdout


def test_a_server_that_was_named_and_does_not_answer_is_one_line() -> None:
    ran = studio("--server", "http://127.0.0.1:1")
    assert (ran.exit_code, len(ran.stderr.splitlines())) == (1, 1)
    assert "http://127.0.0.1:1 cannot be reached" in ran.stderr


def test_a_server_is_started_if_none_runs_and_opened_when_it_answers(tmp_path: Path) -> None:
    port, seen = free_port(), tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{seen}.part" && mv "{seen}.part" "{seen}"\n')
    browser.chmod(0o700)
    env = {**os.environ, "SOULGRAPH_PORT": str(port), "SOULGRAPH_MQTT_URL": "none", "BROWSER": f"{browser} %s"}
    with subprocess.Popen(COMMAND, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert re.fullmatch(rf"soulgraph listens on (http://127\.0\.0\.1:{port}) \(studio: \1/studio/, .*\n", line)
        assert httpx.get(f"http://127.0.0.1:{port}/studio/").headers["content-security-policy"]
        while not seen.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert seen.read_text() == f"http://127.0.0.1:{port}/studio/\n"

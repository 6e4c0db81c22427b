"""`soulgraph serve --workers`: what is refused, in one line and at once."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from soulgraph.cli.addresses import bound, held, listening
from soulgraph.errors import ConfigurationError
from soulgraph.settings import Settings, Shared

POSTGRES = "postgresql://127.0.0.1:1/nowhere"
# Without an embedded broker and embedded Chroma: nothing is started but the first worker.
ELSEWHERE = {"mqtt_url": "none", "chroma_url": "http://127.0.0.1:1"}


def refusal(*arguments, **settings):
    """Everything that the command has said, which ends with 2."""
    env = os.environ | {f"SOULGRAPH_{name.upper()}": value for name, value in settings.items()}
    command = [Path(sys.executable).parent / "soulgraph", "serve", *arguments]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2, ran.stderr
    assert ran.stdout == ""
    return ran.stderr.splitlines()


def test_sqlite_is_refused_in_words_before_anything_else_is_said():
    [line] = refusal("--workers", "2")
    assert line == (
        "soulgraph: SOULGRAPH_WORKERS: 2 processes cannot share SQLite: "
        "set SOULGRAPH_DATABASE_URL=postgresql://user@host/name, or leave it at 1"
    )


@pytest.mark.parametrize("number", ["0", "65"])
def test_a_number_that_makes_no_sense_is_refused(number):
    [line] = refusal(workers=number, database_url=POSTGRES)
    assert line.startswith("soulgraph: SOULGRAPH_WORKERS: Input should be")


@pytest.mark.parametrize("shared", [False, True])
def test_a_port_that_another_server_has_is_refused(shared):
    """Also one whose workers share it, or two servers would share their visitors."""
    with socket.create_server(("127.0.0.1", 0), reuse_port=shared) as taken:
        port = str(taken.getsockname()[1])
        starting, line = refusal("--workers", "2", database_url=POSTGRES, port=port)
    assert "starting…" in starting
    assert line == f"soulgraph: SOULGRAPH_PORT: cannot listen on 127.0.0.1:{port}: Address already in use"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_that_is_held_is_for_our_own_processes_alone(host):
    with held(host, 0) as holder:
        port = holder.getsockname()[1]
        for take in (listening, held):
            with pytest.raises(ConfigurationError, match=r"SOULGRAPH_PORT: .*: Address already in use"):
                take(host, port)
        with bound(host, port, shared=True) as one, bound(host, port, shared=True) as other:
            one.listen()
            other.listen()


def test_what_a_worker_cannot_use_is_said_once():
    broken = {"emotion_url": "http://127.0.0.1:1"}
    starting, line = refusal("--workers", "3", database_url=POSTGRES, port="0", **ELSEWHERE, **broken)
    assert "starting…" in starting
    assert line == "soulgraph: SOULGRAPH_EMOTION_URL: is not used: set SOULGRAPH_EMOTION=http, or unset it"


def test_every_process_has_files_of_its_own():
    settings = Settings.load(telemetry="logs/telemetry.jsonl")
    assert settings.telemetry_file == Path("logs/telemetry.jsonl")
    second = settings.with_shared(Shared("2"))
    assert second.telemetry_file == Path("logs/telemetry-2.jsonl")
    assert second.own_file(Path("server.log")) == Path("server-2.log")
    assert settings.shared is None

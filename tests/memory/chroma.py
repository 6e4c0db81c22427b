"""A real Chroma server for tests, started from this environment."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

_TIMEOUT_S = 20.0


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Its URL; the test is skipped where the `chroma` command cannot start."""
    command = shutil.which("chroma", path=str(Path(sys.executable).parent)) or shutil.which("chroma")
    if command is None:
        pytest.skip("the chroma command is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [command, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def _wait(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    pytest.skip("the chroma server did not start")

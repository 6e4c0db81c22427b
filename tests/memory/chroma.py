"""A real Chroma server for tests, started from this environment, and a library from before."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
import httpx
import pytest
from chromadb.config import Settings as ChromaSettings

_TIMEOUT_S = 60.0


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


def keep_in_old_collection(folder: Path) -> None:
    """An event as a library from before has it, with Chroma's own settings."""
    client = chromadb.PersistentClient(folder, settings=ChromaSettings(anonymized_telemetry=False))
    configuration: Any = {"hnsw": {"space": "cosine"}}
    old = client.get_or_create_collection("events-old", embedding_function=None, configuration=configuration)
    old.add(["evt_1"], embeddings=[[1.0, 0.0]], documents=["kept"])

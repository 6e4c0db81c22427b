"""Server processes forked from one that has imported everything: to start one takes a moment and not seconds."""

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

from soulgraph.tests.live import ServerProcess, until_ready

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["soulgraph.server", "soulgraph.cli.hosting", "chromadb", "soulgraph.tests.warm"])


class ForkedServer(ServerProcess):
    """A `ServerProcess` for tests of what happens to a server, and not of how it is started."""

    _fork: Any = None

    async def start(self) -> None:
        self._fork = FORKS.Process(target=_serve, args=(self._env, str(Path.cwd()), _umask()))
        self._fork.start()
        await until_ready(self.url, self._fork.is_alive)

    @property
    def pid(self) -> int:
        return int(self._fork.pid)

    def kill(self) -> None:
        self._fork.kill()
        self._fork.join()

    def stop(self) -> None:
        self._fork.terminate()
        self._fork.join(60)
        assert self._fork.exitcode in (0, -signal.SIGTERM)


def _umask() -> int:
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _serve(env: dict[str, str], folder: str, umask: int) -> None:
    from soulgraph.cli.main import run_server
    from soulgraph.settings import Settings

    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    os.umask(umask)
    run_server(Settings.load())

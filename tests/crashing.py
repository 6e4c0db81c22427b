"""A real server process that kills itself, as by `kill -9`, wherever a test has set a trap."""

import asyncio
import functools
import importlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from soulgraph.tests.forks import FORKS
from soulgraph.tests.live import free_port, until_ready

_POLL = "soulgraph.runtime.afterglow_workers:_POLL_S"
"""A job whose worker has died is due when its lease ends."""


class CrashingServer:
    """`points` are calls like `before soulgraph.memory.events:EventLibrary.add`; a trap names one of them.

    `given` means after a call that has given something, as not every look for work does. `constants` are set there, as
    in `{"soulgraph.runtime.reminders:POLL_S": 0.1}`.
    """

    def __init__(
        self, folder: Path, points: list[str], constants: Mapping[str, float] | None = None, **settings: Any
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._trap = folder / "trap"
        self._points = points
        self._constants = {_POLL: 0.1, **(constants or {})}
        self._settings = {"mqtt_url": "none", "llm_carrier": "tags", **settings, "port": self.port}
        self._process: Any = None

    async def start(self) -> None:
        self._trap.unlink(missing_ok=True)
        self._process = FORKS.Process(
            target=_serve, args=(self._settings, self._points, str(self._trap), self._constants)
        )
        self._process.start()
        await until_ready(self.url, self._process.is_alive)

    def set_trap(self, point: str) -> None:
        assert point in self._points
        self._trap.write_text(point, "utf-8")

    async def died(self) -> bool:
        """Whether it has killed itself, within some seconds."""
        await asyncio.to_thread(self._process.join, 20)
        return bool(self._process.exitcode == -signal.SIGKILL)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(settings: dict[str, Any], points: list[str], trap: str, constants: dict[str, float]) -> None:
    from soulgraph.cli.hosting import host
    from soulgraph.settings import Settings

    os.chdir(settings["data_dir"])
    for place, value in constants.items():
        module, _, name = place.partition(":")
        setattr(importlib.import_module(module), name, value)
    for point in points:
        _arm(point, Path(trap))
    host(Settings.load(**settings), lambda _url: None)


def _arm(point: str, trap: Path) -> None:
    when, _, where = point.partition(" ")
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    call = getattr(owner, name)

    @functools.wraps(call)
    async def trapped(*args: Any, **kwargs: Any) -> Any:
        if when == "before":
            _die_in(trap, point)
        result = await call(*args, **kwargs)
        if when == "after" or (when == "given" and result):
            _die_in(trap, point)
        return result

    setattr(owner, name, trapped)
    _rename_imported(call, trapped)


def _rename_imported(call: Callable[..., Any], trapped: Callable[..., Any]) -> None:
    """A function that other modules have imported by name is trapped there too."""
    for module in [module for name, module in sys.modules.items() if name.startswith("soulgraph.")]:
        for name in [name for name, value in vars(module).items() if value is call]:
            setattr(module, name, trapped)


def _die_in(trap: Path, point: str) -> None:
    if trap.exists() and trap.read_text("utf-8") == point:
        os.kill(os.getpid(), signal.SIGKILL)

"""One process of a server that has several: started, and started anew whenever it ends."""

import asyncio
import logging
import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from soulgraph.cli.child import Orders, error_of
from soulgraph.errors import SoulgraphError

_FIRST_DELAY_S, _MAX_DELAY_S = 0.5, 30.0
_STEADY_S = 60.0
"""Who has run for so long is started anew as soon as who ends for the first time."""

_log = logging.getLogger("soulgraph")


class Member:
    """`metrics` is the folder in which the processes of a server gather their figures."""

    def __init__(self, name: str, module: str, orders: Orders, metrics: Path) -> None:
        self._name = name
        self._module = module
        self._orders = orders
        self._metrics = metrics
        self._process: asyncio.subprocess.Process | None = None
        self._began_at = 0.0

    async def spawn(self) -> None:
        """Start the process. It waits for its orders when it has imported what it needs."""
        passed = self._orders.lifeline, *self._orders.sockets
        held = () if self._orders.held is None else (self._orders.held,)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", self._module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(self._metrics)},
            pass_fds=(*passed, *held),
            start_new_session=True,  # Ctrl-C is for the supervisor, which passes it on once
        )
        self._began_at = time.monotonic()

    async def begin(self) -> None:
        """Give the process its orders, and return when it is ready; raises what keeps it from that."""
        assert self._process and self._process.stdin and self._process.stdout
        with suppress(OSError):  # it is gone, which is found out below
            self._process.stdin.write(pickle.dumps(self._orders))
            await self._process.stdin.drain()
        self._process.stdin.close()
        report = await self._process.stdout.readline()
        if not report:
            how = _described(await self._process.wait())
            raise SoulgraphError(f"{self._name} ended while it started ({how}): the log says more")
        if error := error_of(report.decode()):
            raise error
        _log.info("%s is ready: process %d", self._name, self._process.pid)

    async def keep(self) -> None:
        """Start the process anew whenever it ends, after a pause that grows if it ends again and again."""
        delay_s = _FIRST_DELAY_S
        while True:
            how = _described(await self.ended())
            if time.monotonic() - self._began_at > _STEADY_S:
                delay_s = _FIRST_DELAY_S
            _log.warning("%s has ended (%s): it is started again in %g s", self._name, how, delay_s)
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _MAX_DELAY_S)
            try:
                await self.spawn()
                await self.begin()
            except (SoulgraphError, OSError) as error:
                _log.error("%s cannot be started: %s", self._name, error)

    async def ended(self) -> int:
        """The exit code of the process, once it has ended."""
        if self._process is None:
            return 0
        code = await self._process.wait()
        for gauge in self._metrics.glob(f"gauge_live*_{self._process.pid}.db"):
            gauge.unlink(missing_ok=True)  # what it was doing is not being done any more
        return code

    def send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


def _described(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"

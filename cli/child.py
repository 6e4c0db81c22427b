"""What every process has in common that a supervisor starts: its orders, how it reports, and that it never outlives it.

Orders come over standard input. Reports go over what was standard output: `ready`, or the error that ends the process.
A lifeline is a pipe that nobody writes to: it ends when the processes are gone that hold its other end.
"""

import json
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

from soulgraph.cli.logs import start_logging
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.settings import Settings

CONFIGURATION = 2
"""The exit code for a setting that cannot be used."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Orders:
    """`lifeline` and `sockets` are file descriptors; `held` is one of which the process is a holder."""

    settings: Settings
    lifeline: int
    held: int | None = None
    sockets: tuple[int, ...] = ()


def stop_limit_s(settings: Settings) -> float:
    """Longer than connections, turns and the work after them may take one after another when a server stops."""
    return 3 * settings.shutdown_grace_s + 15


def run_child(work: Callable[[Orders, Callable[[], None]], None]) -> None:
    """Do the work that is ordered. It is told how to report that it is ready."""
    report = _take_standard_output()
    orders = _take_orders()
    if orders.held is not None:
        os.set_inheritable(orders.held, False)
    Thread(target=_end_with, args=(orders.lifeline, stop_limit_s(orders.settings)), daemon=True).start()
    try:
        start_logging(orders.settings)
        with suppress(KeyboardInterrupt):
            work(orders, lambda: report(json.dumps({"ready": True})))
    except SoulgraphError as error:
        setting = error.extra.get("setting") if isinstance(error, ConfigurationError) else None
        report(json.dumps({"setting": setting, "detail": error.detail}))
        raise SystemExit(CONFIGURATION if setting else 1) from error


def error_of(report: str) -> SoulgraphError | None:
    """The error that a process reports; None if it is ready."""
    told = json.loads(report)
    if told.get("ready"):
        return None
    if setting := told["setting"]:
        return ConfigurationError(setting, told["detail"].removeprefix(f"{setting}: "))
    return SoulgraphError(told["detail"])


def _take_orders() -> Orders:
    try:
        orders: Orders = pickle.load(sys.stdin.buffer)
    except EOFError:
        raise SystemExit(1) from None  # the supervisor has ended before it could give any
    return orders


def _take_standard_output() -> Callable[[str], None]:
    """Writes a line to the supervisor; what anybody prints from now on goes to standard error."""
    supervisor = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def report(line: str) -> None:
        with suppress(BrokenPipeError):
            os.write(supervisor, f"{line}\n".encode())

    return report


def _end_with(lifeline: int, limit_s: float) -> None:
    """When the lifeline ends, stop as if told to; in a thread, so that it works whatever the event loop does."""
    os.set_inheritable(lifeline, False)
    os.read(lifeline, 1)
    _log.warning("those who have started this process are gone: it stops")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(limit_s)
    os._exit(1)

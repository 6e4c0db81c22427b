"""A supervisor with processes that do nothing but what a test wants: `python -m soulgraph.tests.cli.fake_group WHAT`.

It prints `ready` where a server would say its address.
"""

import asyncio
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from soulgraph.cli.child import CONFIGURATION, Orders, run_child
from soulgraph.cli.logs import start_logging
from soulgraph.cli.member import Member
from soulgraph.cli.supervisor import Supervisor
from soulgraph.errors import ConfigurationError
from soulgraph.settings import Settings, Shared

WHAT = "FAKE_GROUP_DOES"
AFTERWARDS = Path("refuse-from-now-on")


def supervise(what: str) -> None:
    os.environ[WHAT] = what
    settings = Settings.load(shutdown_grace_s=0)
    start_logging(settings)
    with ExitStack() as stack:
        lifeline, _ = os.pipe()
        metrics = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def member(name: str) -> Member:
            orders = Orders(settings.with_shared(Shared(name)), lifeline)
            return Member(name, "soulgraph.tests.cli.fake_group", orders, metrics)

        services, *workers = map(member, ("services", "worker 1", "worker 2"))
        limit_s = 1.0 if what == "stay" else 60.0
        asyncio.run(Supervisor(services, workers, limit_s, lambda: os.write(1, b"ready\n")).run())


def work(orders: Orders, ready: Callable[[], None]) -> None:
    """What the process does that the supervisor has started."""
    what = os.environ[WHAT]
    stopped = threading.Event()
    stays = what == "stay" and orders.settings.shared != Shared("services")
    signal.signal(signal.SIGTERM, lambda *_: None if stays else stopped.set())
    if what == "crash":
        os._exit(7)
    if what == "refuse" or AFTERWARDS.exists():
        raise ConfigurationError("SOULGRAPH_EXAMPLE", "cannot be used")
    ready()
    while not stopped.wait(0.02):
        pass


if __name__ == "__main__":
    if sys.argv[1:]:
        try:
            supervise(sys.argv[1])
        except ConfigurationError as error:
            sys.stdout.write(f"{error.detail}\n")
            sys.exit(CONFIGURATION)
    else:
        run_child(work)

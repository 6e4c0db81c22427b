"""One of several server processes behind one port: `python -m soulgraph.cli.worker`, for the supervisor alone."""

import gc
from collections.abc import Callable

from soulgraph.cli.child import Orders, run_child
from soulgraph.cli.hosting import host_beside_others


def _work(orders: Orders, ready: Callable[[], None]) -> None:
    gc.disable()  # until it is ready, as in a server of one process
    host_beside_others(orders.settings, lambda url: ready())


if __name__ == "__main__":
    run_child(_work)

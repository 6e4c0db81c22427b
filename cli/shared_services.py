"""What only one of several processes may have: the embedded broker, and the folders of Chroma.

`python -m soulgraph.cli.shared_services`, for the supervisor alone. It ends after all those who use it.
"""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack

from uvicorn.loops.auto import auto_loop_factory

from soulgraph.api.access import Access
from soulgraph.api.mqtt_rights import KeyLogins
from soulgraph.cli.child import Orders, run_child
from soulgraph.memory.chroma_shared import serving_folders
from soulgraph.runtime.data_dir import private_umask
from soulgraph.settings import Settings, Shared
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.embedded import serving_broker


def _work(orders: Orders, ready: Callable[[], None]) -> None:
    with private_umask(), asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(_serve(orders, ready))


async def _serve(orders: Orders, ready: Callable[[], None]) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    shared = orders.settings.shared
    assert shared
    async with AsyncExitStack() as stack:
        listeners = [stack.enter_context(socket.socket(fileno=number)) for number in orders.sockets]
        if shared.memory:
            await stack.enter_async_context(serving_folders(listeners.pop(), orders.settings.data_dir))
        if listeners:
            await _open_broker(orders.settings, shared, listeners, stack)
        ready()
        await stopped.wait()


async def _open_broker(
    settings: Settings, shared: Shared, listeners: list[socket.socket], stack: AsyncExitStack
) -> None:
    database = await stack.enter_async_context(Database.open(settings.resolved_database_url))
    # Without a key, a server that is not on loopback does not start: then nobody may come in here, either.
    logins = KeyLogins(Stores(database, settings.zone), Access(open_until_first_key=settings.on_loopback))
    mqtt, websocket = listeners
    await stack.enter_async_context(serving_broker(mqtt, websocket, Broker.parse(shared.mqtt_url), logins))


if __name__ == "__main__":
    run_child(_work)

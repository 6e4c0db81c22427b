"""Opens the hub on the configured broker, on the embedded one, or not at all."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sqlalchemy import URL

from soulgraph.terminals.embedded import embedded_broker
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.inbox import Inbox
from soulgraph.terminals.rules import Authenticator

NONE = "none"


@asynccontextmanager
async def open_hub(
    url: str,
    port: int | None,
    websocket_port: int | None,
    database: URL,
    inbox: Inbox,
    authenticator: Authenticator,
    shared: tuple[str, str] | None = None,
) -> AsyncIterator[MqttHub | None]:
    """None if the URL is `none`; without a URL, the embedded broker is started for it.

    `shared` is the address of one that another process of this server has started, and the same for browsers.
    """
    async with AsyncExitStack() as stack:
        if url == NONE:
            yield None
            return
        receivers = inbox.receive, inbox.invocations
        group = group_of(database)
        if url:
            hub = MqttHub.open(url, *receivers, group=group)
        elif shared:
            own, websocket = shared
            hub = MqttHub.open(own, *receivers, group=group, websocket=websocket, embedded=True)
        else:
            embedded = await stack.enter_async_context(embedded_broker(port, websocket_port, authenticator))
            hub = MqttHub.open(embedded.own, *receivers, websocket=embedded.websocket)
        yield await stack.enter_async_context(hub)


def group_of(database: URL) -> str | None:
    """The group of servers on one database, of which one answers each input; None for SQLite, which has one server."""
    if database.get_backend_name() == "sqlite":
        return None
    name = database.set(password=None).render_as_string()
    return f"soulgraph-{hashlib.sha256(name.encode()).hexdigest()[:12]}"

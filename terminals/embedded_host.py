"""The inside of the embedded broker: who is connected, who may be, and for how long."""

import asyncio
import logging
import time
from contextlib import suppress
from hmac import compare_digest

from soulgraph.errors import RequestError, SoulgraphError, StoreUnavailable
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.embedded_client import Client
from soulgraph.terminals.embedded_wires import Places, Wire
from soulgraph.terminals.fair_share import FairShare
from soulgraph.terminals.message_router import MessageRouter
from soulgraph.terminals.mqtt_packets import Connect
from soulgraph.terminals.rare_log import RareLog
from soulgraph.terminals.rules import Authenticator, ConnectRefused, Login
from soulgraph.terminals.tunnel import TUNNEL

KEY_CHECK_S = 3.0
_WATCH_S = 1.0
_SERVER = "server"

_log = logging.getLogger(__name__)


class AllRights:
    """Those of the server itself. Who comes through it with a key has been checked there."""

    everywhere = may_resend = True

    async def sees(self, terminal_id: str) -> bool:
        return True

    async def checked(self, terminal_id: str, kind: str, payload: bytes) -> bytes:
        return payload


class EmbeddedHost:
    """`own` are the address and the credentials with which the server itself connects, each process of it."""

    def __init__(self, authenticator: Authenticator, own: Broker) -> None:
        self._authenticator = authenticator
        self._own = own
        self._log = RareLog(_log)
        self.router = MessageRouter()
        self.share = FairShare()
        self.places = Places(self._log)
        self._connections: set[Client] = set()
        self._clients: dict[tuple[str, str], Client] = {}

    async def serve(self, wire: Wire) -> None:
        """Serve one connection until it ends."""
        client = Client(wire, self)
        self._connections.add(client)
        try:
            await client.serve()
            if client.parted_because:
                self._note(client.parted_because, f"parted from {client.name}: {client.parted_because}")
        except ConnectRefused as refused:
            self._note(f"refused {refused.error.code}", f"refused a client: {refused.error.detail}")
            with suppress(OSError):
                await wire.send(refused.answer)
        except SoulgraphError as error:
            self._note(f"parted {error.code}", f"parted from {client.name}: {error.detail}")
        except OSError:
            pass  # it is gone
        finally:
            self._connections.discard(client)

    def _note(self, kind: str, text: str) -> None:
        self._log.write(logging.INFO, kind, f"mqtt: the embedded broker {text}")

    async def login(self, connect: Connect) -> Login:
        password = connect.password
        if password is not None and compare_digest(password, (self._own.password or "").encode()):
            return Login(_SERVER, "this server", AllRights())
        return await self._authenticator.login(None if password is None else password.decode(errors="replace"))

    def enter(self, client: Client) -> None:
        key_id, client_id = client.identity
        client.is_server = key_id == _SERVER and not client_id.startswith(TUNNEL)
        self.places.settle(client.wire.transport)
        before = self._clients.get(client.identity)
        if before:
            before.leave()  # at once: its last will comes before what the new one has to say
            before.part("another connection has its client id")
        self._clients[client.identity] = client

    def leave(self, client: Client) -> None:
        self.router.leave(client)
        if self._clients.get(client.identity) is client:
            del self._clients[client.identity]

    def part_from_all(self) -> None:
        for client in self._connections:
            client.part("")

    async def watch(self) -> None:
        """End the connections of those who are silent for too long, or whose key is no longer valid."""
        keys_checked_at = time.monotonic()
        while True:
            await asyncio.sleep(_WATCH_S)
            now = time.monotonic()
            for client in self._connections:
                if client.is_overdue(now):
                    client.part("it is silent, or slow with a packet, for too long")
            if now - keys_checked_at >= KEY_CHECK_S:
                await self._check_keys()
                keys_checked_at = time.monotonic()

    async def _check_keys(self) -> None:
        by_password: dict[bytes | None, list[Client]] = {}
        for client in self._clients.values():
            by_password.setdefault(client.connect.password, []).append(client)
        for clients in by_password.values():
            await self.share.wait()
            with suppress(StoreUnavailable):  # nobody can revoke anything now
                key_id = await self._key_id(clients[0].connect)
                for client in clients:
                    if client.identity[0] != key_id:  # a server that was open asks for keys now, or it is revoked
                        client.part("its key is no longer valid")

    async def _key_id(self, connect: Connect) -> str | None:
        """Of the key that a client has come with; None if it is no longer valid."""
        try:
            return (await self.login(connect)).key_id
        except RequestError:
            return None

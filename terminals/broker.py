"""The address and credentials of an MQTT broker, and the client that connects to it."""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from aiomqtt import Client, ProtocolVersion

from soulgraph.compat import ignore_lost_connection
from soulgraph.errors import BrokerUnavailable, ConfigurationError

SETTING = "SOULGRAPH_MQTT_URL"

_URL_FORM = "must look like mqtt://user:password@host:1883 (mqtts:// for TLS), special characters percent-encoded"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_TIMEOUT_S, _KEEPALIVE_S = 5.0, 15
_MAX_CALLS = 1000
"""Calls in flight at which aiomqtt logs a warning."""


@dataclass(frozen=True, slots=True)
class Broker:
    host: str
    port: int
    username: str | None
    password: str | None = field(repr=False)
    tls: ssl.SSLContext | None
    # Unique per process: a broker closes the older of two connections with the same id.
    client_id: str = field(default_factory=lambda: f"soulgraph-{uuid4().hex[:12]}")

    @classmethod
    def parse(cls, url: str, setting: str = SETTING) -> Self:
        """Raise ConfigurationError if the URL cannot be used. The error never shows it: it may hold a password."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ConfigurationError(setting, _URL_FORM) from None
        rest = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in _PORTS or not host or port == 0 or rest:
            raise ConfigurationError(setting, _URL_FORM)
        return cls(
            host=host,
            port=port or _PORTS[parts.scheme],
            username=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            tls=ssl.create_default_context() if parts.scheme == "mqtts" else None,
        )

    def client(self, protocol: ProtocolVersion = ProtocolVersion.V311, **options: Any) -> Client:
        """A new client. One per connection: a reused one would resend what was reported as undelivered."""
        client = Client(
            self.host,
            self.port,
            username=self.username,
            password=self.password,
            identifier=self.client_id,
            tls_context=self.tls,
            protocol=protocol,
            timeout=_TIMEOUT_S,
            keepalive=_KEEPALIVE_S,
            **options,
        )
        client.pending_calls_threshold = _MAX_CALLS
        ignore_lost_connection(client)
        return client

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which nothing has been said yet; BrokerUnavailable if the broker does not answer."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await asyncio.open_connection(self.host, self.port, ssl=self.tls)
        except (OSError, TimeoutError) as error:
            raise BrokerUnavailable("the MQTT broker does not answer: try again later") from error

    @property
    def public_url(self) -> str:
        """The address without the user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

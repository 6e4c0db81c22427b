"""Where a server listens. Imports nothing large: whoever starts a server begins here."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from soulgraph.errors import ConfigurationError


def http_url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def bound(host: str, port: int, shared: bool = False) -> socket.socket:
    """A socket that does not listen yet. If the port is `shared`, others that say so may have it, too."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if made.family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    with _refusals_named(made, host, port):
        made.bind((host, port))
    return made


def held(host: str, port: int) -> socket.socket:
    """A port for several processes of ours, on which this socket never listens.

    Until the first of them does, nobody else gets it either.
    """
    made = bound(host, port)
    # Set now and not before: a port that the processes of another server share is taken.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    return made


def listening(host: str, port: int) -> socket.socket:
    made = bound(host, port)
    with _refusals_named(made, host, port):
        made.listen()
    return made


@contextmanager
def _refusals_named(made: socket.socket, host: str, port: int) -> Iterator[None]:
    """Raise what the system refuses as ConfigurationError."""
    try:
        yield
    except OSError as error:
        made.close()
        setting = "SOULGRAPH_PORT" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "SOULGRAPH_HOST"
        why = str(error.strerror).partition(" (")[0]
        raise ConfigurationError(setting, f"cannot listen on {host}:{port}: {why}") from error

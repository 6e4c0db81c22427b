"""The listening sockets of the embedded broker. Imports nothing large: a supervisor opens them for another process."""

import errno
import logging
import socket

from soulgraph.errors import ConfigurationError

HOST = "127.0.0.1"
MQTT_PORT, WEBSOCKET_PORT = 1883, 9001
_PORTS_TRIED = 10

_log = logging.getLogger(__name__)


def listen_mqtt(port: int | None) -> socket.socket:
    """A requested port must be free; None takes one near the default."""
    return _listen("SOULGRAPH_MQTT_PORT", port, MQTT_PORT)


def listen_websocket(port: int | None) -> socket.socket:
    """The same for browsers."""
    return _listen("SOULGRAPH_MQTT_WEBSOCKET_PORT", port, WEBSOCKET_PORT)


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _listen(setting: str, requested: int | None, default: int) -> socket.socket:
    """A socket on the requested port, or on the first free one from the default port on."""
    ports = range(default, default + _PORTS_TRIED) if requested is None else (requested,)
    for port in ports:
        try:
            listener = socket.create_server((HOST, port))
        except OSError as error:
            if requested is not None:
                raise ConfigurationError(setting, f"cannot listen on {HOST}:{port}: {error.strerror}") from error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            continue
        if requested is None and port != default:
            _log.info("mqtt: port %d is taken; if it is by your own broker, name it in SOULGRAPH_MQTT_URL", default)
        return listener
    raise ConfigurationError(setting, f"ports {default} to {ports[-1]} are taken: choose one, 0 for a free one")

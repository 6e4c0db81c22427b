"""HTTP connections with the limits that uvicorn lacks: how large headers are, and how long a request may take to come.

A request is on its way from its first byte to the end of its body. Headers have a time for all of them together; a body
has to grow steadily, because a large file over a slow line is no attack. How long an answer takes is not limited here.
"""

import asyncio
import json
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from soulgraph.errors import HeadersTooLarge, RequestError, RequestTimeout, ServerBusy, SoulgraphError

MAX_HEADER_BYTES = 64 * 1024
HEADERS_S = 10.0
BODY_PERIOD_S, MIN_BODY_BYTES = 10.0, 10 * 1024
_LINGER_S = 2.0
_RETRY_AFTER_S = 5


def max_connections() -> int:
    """So many that files and databases can still be opened."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 100_000 if descriptors == resource.RLIM_INFINITY else descriptors * 3 // 4


class LimitedHttp(HttpToolsProtocol):
    max_connections = max_connections()

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._timer: asyncio.TimerHandle | None = None
        self._arriving = False
        self._in_body = False
        self._advanced = False
        self._refused = False
        self._error: SoulgraphError | None = None
        self._header_bytes = 0
        self._barren_bytes = 0
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._refuse(ServerBusy("too many connections are open: come back later", _RETRY_AFTER_S), linger_s=0)
        else:
            self._wait(HEADERS_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if not self._arriving:
            self._arriving = True
            self._wait(HEADERS_S)
        if not self._in_body:
            self._received += len(data)
        self._advanced = False
        super().data_received(data)
        # What is neither body nor the end of something is gathered: headers, and what may follow a chunk or a body.
        self._barren_bytes = 0 if self._advanced else self._barren_bytes + len(data)
        if self._barren_bytes > MAX_HEADER_BYTES and not self._refused:
            self._refuse(_too_large())

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        self._header_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_header(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count_header(len(name) + len(value) + len(": \r\n"))

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._advanced = True
        self._in_body = True
        self._wait(BODY_PERIOD_S)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._received += len(body)
        self._advanced = True

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._advanced = True
        self._in_body = False
        self._arriving = False
        self._stop_waiting()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to whatever its parser refuses, our own errors among it."""
        self._refuse(self._error or RequestError("this is no HTTP request that can be read: send it anew"))

    def _count_header(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER_BYTES:
            self._error = _too_large()
            raise self._error

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._received = 0
        self._timer = self.loop.call_later(seconds, self._on_late)

    def _stop_waiting(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _on_late(self) -> None:
        """A body that grows may go on, and so may a client that we do not listen to for now."""
        listening = not self.flow.read_paused and not self._awaits_our_go
        if not listening or (self._in_body and self._received >= MIN_BODY_BYTES):
            self._wait(BODY_PERIOD_S)
        elif not self._arriving:
            self.transport.close()
        elif self._is_answering and not self._in_body:
            self.cycle.keep_alive = False  # what was asked before is answered; what comes too late is not waited for
        else:
            self._refuse(RequestTimeout("the request took too long to arrive: send it anew, and faster"))

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _awaits_our_go(self) -> bool:
        return self._in_body and self.cycle is not None and self.cycle.waiting_for_100_continue

    def _refuse(self, error: SoulgraphError, linger_s: float = _LINGER_S) -> None:
        """Answer, unless something is being answered, and read nothing more; the application hears of a disconnect."""
        self._refused = True
        self._stop_waiting()
        has_begun = self._is_answering and self.cycle.response_started
        if self._is_answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if not has_begun:
            self.transport.write(_response(error))
        if linger_s and self.transport.can_write_eof() and not has_begun:
            # To close at once would reset the connection, and the client would not get to read the answer.
            self.transport.write_eof()
            self._timer = self.loop.call_later(linger_s, self.transport.close)
        else:
            self.transport.close()


def _too_large() -> HeadersTooLarge:
    return HeadersTooLarge(f"the address and the headers may have {MAX_HEADER_BYTES // 1024} KiB together: send fewer")


def _response(error: SoulgraphError) -> bytes:
    body = json.dumps(error.problem(), ensure_ascii=False).encode()
    retry = f"retry-after: {error.retry_after_s}\r\n" if isinstance(error, ServerBusy) else ""
    headers = (
        f"content-type: application/problem+json\r\ncontent-length: {len(body)}\r\n{retry}connection: close\r\n\r\n"
    )
    return STATUS_LINE[error.status] + headers.encode() + body

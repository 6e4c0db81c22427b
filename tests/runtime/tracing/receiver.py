"""A server that takes traces, as LangSmith's SDK posts them and as OTLP over HTTP, and keeps them to be looked at."""

import asyncio
import gzip
import io
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any

import uvicorn
import zstandard
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from soulgraph.tests.live import PromptServer

_BATCHES = {"size_limit": 100, "size_limit_bytes": 20_000_000, "use_multipart_endpoint": True}
_THREADS = {"scale_up_nthreads_limit": 4, "scale_up_qsize_trigger": 1000, "scale_down_nempty_trigger": 4}
_INFO = {"batch_ingest_config": _BATCHES | _THREADS, "instance_flags": {"zstd_compression_enabled": True}}


@dataclass
class Run:
    """One run or span, with what all messages about it said."""

    id: str
    parent: str | None = None
    name: str = ""
    kind: str = ""
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    error: str | None = None
    began: Any = 0
    told: dict[str, Any] = field(default_factory=dict)


class Receiver:
    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[bytes] = []
        self.runs: dict[str, Run] = {}

    @property
    def everything(self) -> str:
        """All that has arrived, as text."""
        return b"\n".join(self.bodies).decode("utf-8", "replace")

    def roots(self, name: str) -> list[Run]:
        return [run for run in self.runs.values() if run.parent is None and run.name == name]

    def below(self, root: Run) -> Iterator[Run]:
        for run in sorted(self.runs.values(), key=lambda run: run.began):
            if run.parent == root.id:
                yield run
                yield from self.below(run)

    def tree(self, root: Run) -> dict[str, Any]:
        """Names within names, in the order in which they began."""
        children = sorted((run for run in self.runs.values() if run.parent == root.id), key=lambda run: run.began)
        return {f"{at} {run.name}": self.tree(run) for at, run in enumerate(children)}

    async def trace(self, name: str, n: int = 1) -> Run:
        """The nth trace of this name, once it has ended with everything in it."""
        while True:
            whole = [root for root in self.roots(name) if root.ended and all(run.ended for run in self.below(root))]
            if len(whole) >= n:
                return sorted(whole, key=lambda run: run.began)[n - 1]
            await asyncio.sleep(0.02)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message.get("more_body"):
                break
        self._take(scope["path"], headers, _unpacked(body, headers))
        answers = {"/info": _INFO, "/received": {"runs": len(self.runs), "bytes": sum(map(len, self.bodies))}}
        answer = json.dumps(answers.get(scope["path"], {})).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": answer})

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        if path == "/runs/multipart":
            self.bodies.append(body)
            for name, value in _parts(headers["content-type"], body):
                self._take_part(*name.split("."), value=value)
        elif path == "/v1/traces":
            self.bodies.append(body)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        self._take_span(span)

    def _take_part(self, operation: str, run_id: str, what: str = "", *, value: Any) -> None:
        run = self.runs.setdefault(run_id, Run(run_id))
        if what == "extra":
            run.metadata = value["metadata"]
        elif what == "error":
            run.error = value
        elif what:
            run.told[what] = value
        else:
            run.parent, run.name, run.kind = value.get("parent_run_id"), value["name"], value["run_type"]
            run.tags, run.began = value.get("tags") or run.tags, value["start_time"]
            run.ended = run.ended or operation == "patch" or bool(value.get("end_time"))

    def _take_span(self, span: Any) -> None:
        told = {one.key: one.value.string_value for one in span.attributes}
        self.runs[span.span_id.hex()] = Run(
            span.span_id.hex(),
            span.parent_span_id.hex() or None,
            span.name,
            told.get("openinference.span.kind", ""),
            metadata=json.loads(told.get("metadata", "{}")),
            ended=True,
            error=span.status.message or None,
            began=span.start_time_unix_nano,
            told=told,
        )


def _unpacked(body: bytes, headers: dict[str, str]) -> bytes:
    match headers.get("content-encoding"):
        case "zstd":
            return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body), read_across_frames=True).read()
        case "gzip":
            return gzip.decompress(body)
    return body


def _parts(content_type: str, body: bytes) -> Iterator[tuple[str, Any]]:
    form = BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    for part in form.get_payload():
        name = part.get_param("name", header="content-disposition")
        yield str(name), json.loads(part.get_payload(decode=True))


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = PromptServer(uvicorn.Config(receiver, port=0, log_level="warning", lifespan="off"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    receiver.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield receiver
    finally:
        server.told_to_stop.set()
        await running

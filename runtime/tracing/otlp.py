"""Exports runs as OpenTelemetry spans, whole traces at once, to any collector that takes OTLP over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openinference.semconv.resource import ResourceAttributes
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from soulgraph.runtime.tracing.attributes import attributes_of
from soulgraph.runtime.tracing.outages import limit_warnings
from soulgraph.runtime.tracing.recorder import recording
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.runs import Run, RunTree
from soulgraph.runtime.tracing.sender import TIMEOUT_S, Sender
from soulgraph.runtime.tracing.views import View, model_call_of, view_of

_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_NAME = "soulgraph"
_SCOPE = InstrumentationScope(_NAME)
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_LOW_64_BITS = 2**64 - 1


class OtlpExporter:
    """Makes the spans of a trace when it is complete: nobody has to be told of one that is only begun."""

    def __init__(self, endpoint: str, redactor: Redactor) -> None:
        self._redactor = redactor
        self._exporter = OTLPSpanExporter(endpoint, timeout=TIMEOUT_S)
        self._resource = Resource.create({SERVICE_NAME: _NAME, ResourceAttributes.PROJECT_NAME: _NAME})

    def spans_of(self, tree: RunTree) -> list[ReadableSpan]:
        return [self._span(run) for run in tree.runs]

    def send(self, spans: list[ReadableSpan]) -> None:
        self._exporter.export(spans)

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _span(self, run: Run) -> ReadableSpan:
        view = view_of(run, self._redactor)
        call = model_call_of(run, self._redactor) if view.kind == "llm" else None
        return ReadableSpan(
            name=run.name,
            context=_context(run),
            parent=_context(run.parent) if run.parent else None,
            resource=self._resource,
            attributes=attributes_of(run, view, call),
            events=_events(run, view),
            kind=SpanKind.CLIENT if call else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, view.error) if view.error else Status(StatusCode.OK),
            start_time=run.began_ns,
            end_time=run.ended_ns or run.tree.root.ended_ns,
            instrumentation_scope=_SCOPE,
        )


def _context(run: Run) -> SpanContext:
    """The ids are those of the runs; the lower half of one is random enough for a span."""
    return SpanContext(run.tree.root.run_id.int, run.run_id.int & _LOW_64_BITS, is_remote=False, trace_flags=_SAMPLED)


def _events(run: Run, view: View) -> list[Event]:
    if run.error is None or view.error is None:
        return []
    told = {"exception.type": type(run.error).__name__, "exception.message": view.error.partition("\n")[0]}
    return [Event("exception", told | {"exception.stacktrace": view.error}, run.ended_ns)]


@asynccontextmanager
async def open_otlp(endpoint: str, redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, every run becomes a span. What is still waiting is sent at its end."""
    limit_warnings(_EXPORTER)
    exporter = OtlpExporter(endpoint, redactor)
    sender = Sender("otlp", exporter.spans_of, exporter.send)
    try:
        with recording(sender.put):
            yield
    finally:
        await asyncio.to_thread(sender.close)
        exporter.close()

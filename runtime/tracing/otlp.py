"""Exports runs as OpenTelemetry spans with OpenInference attributes, to any collector that takes OTLP over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from openinference.instrumentation import TraceConfig
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.semconv.resource import ResourceAttributes
from openinference.semconv.trace import SpanAttributes
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status

from soulgraph.runtime.tracing.outages import limit_warnings
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.trace import Trace, current_trace

_TIMEOUT_S = 5
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_NAME = "soulgraph"
_METADATA = SpanAttributes.METADATA


class RedactingProcessor(SpanProcessor):
    """Passes each ended span, labelled and redacted, to another processor."""

    def __init__(self, redactor: Redactor, onward: SpanProcessor) -> None:
        self._redactor = redactor
        self._onward = onward

    def on_end(self, span: ReadableSpan) -> None:
        current_trace().send_when_labelled(partial(self._send, span))

    def shutdown(self) -> None:
        self._onward.shutdown()

    def force_flush(self, timeout_millis: int = 1000 * _TIMEOUT_S) -> bool:
        return self._onward.force_flush(timeout_millis)

    def _send(self, span: ReadableSpan, trace: Trace) -> None:
        self._onward.on_end(self._redact(span, trace))

    def _redact(self, span: ReadableSpan, trace: Trace) -> ReadableSpan:
        """A copy, because a span that has ended cannot be changed."""
        attributes = dict(span.attributes or {})
        own = json.loads(str(attributes.pop(_METADATA, "{}")))
        metadata = self._redactor.metadata({**own, **trace.metadata(root=span.parent is None)}, trace)
        redacted = {name: self._clean(value, trace) for name, value in attributes.items()}
        return ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=redacted | {_METADATA: json.dumps(metadata, ensure_ascii=False)},
            events=[] if self._redactor.content else [self._redact_event(event, trace) for event in span.events],
            links=span.links,
            kind=span.kind,
            status=self._redact_status(span.status, trace),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _redact_event(self, event: Event, trace: Trace) -> Event:
        redacted = {name: self._clean(value, trace) for name, value in (event.attributes or {}).items()}
        return Event(event.name, redacted, event.timestamp)

    def _redact_status(self, status: Status, trace: Trace) -> Status:
        description = status.description and self._redactor.error(status.description, trace)
        return Status(status.status_code, description)

    def _clean(self, value: Any, trace: Trace) -> Any:
        """Redact a value. JSON in a string is parsed first: escapes in it would hide a private text from the search."""
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                return json.dumps(self._redactor.clean(json.loads(value), trace), ensure_ascii=False)
            except (json.JSONDecodeError, RecursionError):
                pass  # it only looked like JSON: redact it as plain text
        return self._redactor.clean(value, trace)


@asynccontextmanager
async def open_otlp(endpoint: str, redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, every LangChain run becomes a span. Spans that are still queued are sent at its end."""
    batches = BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_TIMEOUT_S))
    resource = Resource.create({SERVICE_NAME: _NAME, ResourceAttributes.PROJECT_NAME: _NAME})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(RedactingProcessor(redactor, batches))
    instrumentor = LangChainInstrumentor()
    config = TraceConfig(hide_inputs=redactor.content, hide_outputs=redactor.content)
    instrumentor.instrument(tracer_provider=provider, config=config)
    limit_warnings(_EXPORTER)
    try:
        yield
    finally:
        instrumentor.uninstrument()
        await asyncio.to_thread(provider.shutdown)  # it blocks until the last batch is sent or times out

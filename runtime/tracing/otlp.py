"""Runs as OpenTelemetry spans, in OpenInference's words, to any collector that takes OTLP over HTTP."""

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

from soulgraph.runtime.tracing.outages import warn_seldom
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.trace import Trace, current_trace

_TIMEOUT_S = 5
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_NAME = "soulgraph"
_METADATA = SpanAttributes.METADATA


class Labelling(SpanProcessor):
    """Hands on what has ended, labelled and redacted."""

    def __init__(self, redactor: Redactor, onward: SpanProcessor) -> None:
        self._redactor = redactor
        self._onward = onward

    def on_end(self, span: ReadableSpan) -> None:
        current_trace().when_labelled(partial(self._pass, span))

    def shutdown(self) -> None:
        self._onward.shutdown()

    def force_flush(self, timeout_millis: int = 1000 * _TIMEOUT_S) -> bool:
        return self._onward.force_flush(timeout_millis)

    def _pass(self, span: ReadableSpan, trace: Trace) -> None:
        self._onward.on_end(self._dressed(span, trace))

    def _dressed(self, span: ReadableSpan, trace: Trace) -> ReadableSpan:
        attributes = dict(span.attributes or {})
        own = json.loads(str(attributes.pop(_METADATA, "{}")))
        metadata = self._redactor.metadata({**own, **trace.metadata(root=span.parent is None)}, trace)
        told = {name: self._clean(value, trace) for name, value in attributes.items()}
        return ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=told | {_METADATA: json.dumps(metadata, ensure_ascii=False)},
            events=[] if self._redactor.content else [self._event(event, trace) for event in span.events],
            links=span.links,
            kind=span.kind,
            status=self._status(span.status, trace),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _event(self, event: Event, trace: Trace) -> Event:
        told = {name: self._clean(value, trace) for name, value in (event.attributes or {}).items()}
        return Event(event.name, told, event.timestamp)

    def _status(self, status: Status, trace: Trace) -> Status:
        description = status.description and self._redactor.error(status.description, trace)
        return Status(status.status_code, description)

    def _clean(self, value: Any, trace: Trace) -> Any:
        """Many values are JSON in a string, in which what is private is written otherwise."""
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                return json.dumps(self._redactor.clean(json.loads(value), trace), ensure_ascii=False)
            except (json.JSONDecodeError, RecursionError):
                pass  # what only looks like JSON is a text
        return self._redactor.clean(value, trace)


@asynccontextmanager
async def open_otlp(endpoint: str, redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, every run of LangChain's is a span; at its end what is still here is sent."""
    batches = BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_TIMEOUT_S))
    named = {SERVICE_NAME: _NAME, ResourceAttributes.PROJECT_NAME: _NAME}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(Labelling(redactor, batches))
    instrumentor = LangChainInstrumentor()
    hidden = TraceConfig(hide_inputs=redactor.content, hide_outputs=redactor.content)
    instrumentor.instrument(tracer_provider=provider, config=hidden)
    warn_seldom(_EXPORTER)
    try:
        yield
    finally:
        instrumentor.uninstrument()
        await asyncio.to_thread(provider.shutdown)

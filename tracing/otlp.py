"""Runs as OpenTelemetry spans, in OpenInference's words, to any collector that takes OTLP over HTTP."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
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
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status

from soulgraph.settings import masked
from soulgraph.tracing.redaction import Redactor
from soulgraph.tracing.trace import Trace, current_trace

_FLUSH_MS = 5000
_NAME = "soulgraph"
_METADATA = SpanAttributes.METADATA
_log = logging.getLogger(__name__)


class Labelling(SpanProcessor):
    """Hands on what has ended, labelled and redacted."""

    def __init__(self, redactor: Redactor, onward: SpanProcessor) -> None:
        self._redactor = redactor
        self._onward = onward

    def on_end(self, span: ReadableSpan) -> None:
        trace = current_trace()
        if trace is None:
            self._pass(span, None)
        else:
            trace.when_labelled(partial(self._pass, span, trace))

    def shutdown(self) -> None:
        self._onward.shutdown()

    def force_flush(self, timeout_millis: int = _FLUSH_MS) -> bool:
        return self._onward.force_flush(timeout_millis)

    def _pass(self, span: ReadableSpan, trace: Trace | None) -> None:
        self._onward.on_end(self._dressed(span, trace))

    def _dressed(self, span: ReadableSpan, trace: Trace | None) -> ReadableSpan:
        private = trace.private if trace else ()
        attributes = {name: self._clean(value, private) for name, value in (span.attributes or {}).items()}
        own = json.loads(str((span.attributes or {}).get(_METADATA, "{}")))
        added = trace.metadata(root=span.parent is None) if trace else {}
        metadata = self._redactor.metadata({**own, **added}, private)
        return ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=attributes | {_METADATA: json.dumps(metadata, ensure_ascii=False)},
            events=[] if self._redactor.content else [self._event(event, private) for event in span.events],
            links=span.links,
            kind=span.kind,
            status=self._status(span.status, private),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _event(self, event: Event, private: Any) -> Event:
        told = {name: self._clean(value, private) for name, value in (event.attributes or {}).items()}
        return Event(event.name, told, event.timestamp)

    def _status(self, status: Status, private: Any) -> Status:
        description = status.description and self._redactor.error(status.description, private)
        return Status(status.status_code, description)

    def _clean(self, value: Any, private: Any) -> Any:
        """Many values are JSON in a string, in which what is private is written otherwise."""
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                return json.dumps(self._redactor.clean(json.loads(value), private), ensure_ascii=False)
            except json.JSONDecodeError:
                pass
        return self._redactor.clean(value, private)


class Patient(SpanExporter):
    """A collector that is away is told of once, and again when it is back."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter = exporter
        self._endpoint = endpoint
        self._away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        away = result is not SpanExportResult.SUCCESS
        if away and not self._away:
            _log.warning("traces are lost while %s takes none", self._endpoint)
        elif self._away and not away:
            _log.info("%s takes traces again", self._endpoint)
        self._away = away
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


@asynccontextmanager
async def open_otlp(endpoint: str, redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, every run of LangChain's is a span; at its end what is still here is sent."""
    exporter = Patient(OTLPSpanExporter(endpoint), masked(endpoint))
    batches = BatchSpanProcessor(exporter)
    named = {SERVICE_NAME: _NAME, ResourceAttributes.PROJECT_NAME: _NAME}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(Labelling(redactor, batches))
    instrumentor = LangChainInstrumentor()
    hidden = TraceConfig(hide_inputs=redactor.content, hide_outputs=redactor.content)
    instrumentor.instrument(tracer_provider=provider, config=hidden)
    try:
        yield
    finally:
        instrumentor.uninstrument()
        await asyncio.to_thread(provider.shutdown)

"""The Prometheus metrics, with a registry per app. Several processes of one server gather theirs in a folder."""

import os
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from soulgraph.stores.records import UsageKind
from soulgraph.voices.usage import Usage

# From the offline voice, which answers in milliseconds, to models that take minutes.
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._turns = Counter("soulgraph_turns", "Turns by outcome", ["outcome"], registry=registry)
        self._turn_s = Histogram("soulgraph_turn_seconds", "Duration of turns", buckets=_SECONDS, registry=registry)
        self._ticked = Counter("soulgraph_souls_ticked", "Souls moved by ticks", registry=registry)
        self._tick_s = Histogram("soulgraph_tick_seconds", "Duration of ticks", buckets=_SECONDS, registry=registry)
        self._jobs = Counter("soulgraph_jobs", "Work after turns by outcome", ["outcome"], registry=registry)
        self._outbox = Gauge(
            "soulgraph_jobs_in_outbox",
            "Jobs by status",
            ["status"],
            registry=registry,
            multiprocess_mode="mostrecent",  # all have counted the same rows
        )
        self.dropped = Counter("soulgraph_mqtt_dropped", "MQTT messages that made no sense", registry=registry)
        labels = ["soul_id", "kind"]
        self._calls = Counter("soulgraph_model_calls", "Model calls", labels, registry=registry)
        self._tokens = Counter(
            "soulgraph_model_tokens", "Tokens of model calls", [*labels, "direction"], registry=registry
        )
        self.running = Gauge(
            "soulgraph_turns_running", "Turns under way or waiting", registry=registry, multiprocess_mode="livesum"
        )

    def turn(self, outcome: str, seconds: float) -> None:
        self._turns.labels(outcome).inc()
        self._turn_s.observe(seconds)

    def tick(self, souls: int, seconds: float) -> None:
        self._ticked.inc(souls)
        self._tick_s.observe(seconds)

    def job(self, outcome: str) -> None:
        self._jobs.labels(outcome).inc()

    def outbox(self, counts: Mapping[str, int]) -> None:
        """Without `done`: finished jobs are pruned, so their number means nothing."""
        for status in ("pending", "running", "dead"):
            self._outbox.labels(status).set(counts.get(status, 0))

    def usage(self, soul_id: str, kind: UsageKind, usage: Usage) -> None:
        if usage:
            self._calls.labels(soul_id, kind).inc(usage.calls)
            self._tokens.labels(soul_id, kind, "input").inc(usage.input_tokens)
            self._tokens.labels(soul_id, kind, "output").inc(usage.output_tokens)

    def text(self) -> bytes:
        """Those of all processes of this server, whichever of them is asked."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        gathered = CollectorRegistry(support_collectors_without_names=True)
        MultiProcessCollector(gathered)  # type: ignore[no-untyped-call]
        return generate_latest(gathered)

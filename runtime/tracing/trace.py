"""The trace of one turn, job or proactive run: its labels, its decisions, and the texts that must stay private.

Some labels are known only in the middle of a turn. Runs that end before that are kept until then, so that every run
is exported with all labels. The exporters (`langsmith`, `otlp`) ask for the current trace; without an exporter a trace
is only a few small dicts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

PREFIX = "soulgraph."
_ON_EVERY_RUN = {"session_id", "soul_id", "turn_id"}

_current: ContextVar["Trace | None"] = ContextVar("trace", default=None)


@dataclass(slots=True)
class Trace:
    """`awaits` is the label that is known last; None means that all labels are known.

    `cleaned` caches redacted records by their id, because the states of a turn repeat the same records.
    """

    awaits: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    cleaned: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _pending: list[Callable[["Trace"], None]] = field(default_factory=list)

    def send_when_labelled(self, send: Callable[["Trace"], None]) -> None:
        """Call `send` at once if all labels are known, else as soon as they are or the trace ends."""
        if self.awaits is None:
            send(self)
        else:
            self._pending.append(send)

    def add_labels(self, labels: dict[str, str]) -> None:
        self.labels |= labels
        if self.awaits in self.labels:
            self.send_pending()

    def send_pending(self) -> None:
        self.awaits = None
        pending, self._pending = self._pending, []
        for send in pending:
            send(self)

    def metadata(self, root: bool) -> dict[str, Any]:
        """What a run carries beside its own metadata; only the root run carries the decisions."""
        return {**self.labels, **self.decisions} if root else dict(self.labels)


@contextmanager
def traced(awaits: str | None = None, **labels: str | None) -> Iterator[None]:
    """Everything that runs inside the block belongs to one trace with these labels; labels that are None are left out.

    With `awaits`, runs are exported only when the label of that name is added, or at the end of the block.
    """
    trace = Trace(awaits, {name: value for name, value in labels.items() if value is not None})
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)
        trace.send_pending()


def current_trace() -> Trace:
    """The trace of the running task, or an empty one outside of `traced`."""
    return _current.get() or Trace()


def add_labels(**labels: str) -> None:
    """Label every run of the current trace; does nothing outside of a trace."""
    if trace := _current.get():
        trace.add_labels(labels)


def current_labels() -> dict[str, str]:
    """A copy of the labels added so far; empty outside of a trace."""
    trace = _current.get()
    return dict(trace.labels) if trace else {}


def add_decision(event: str, fields: dict[str, Any]) -> None:
    """Record a decision and its reasons for the root run; does nothing outside of a trace."""
    if trace := _current.get():
        reasons = {name: value for name, value in fields.items() if name not in _ON_EVERY_RUN}
        trace.decisions.setdefault(PREFIX + event, []).append(reasons)


def keep_private(*texts: str) -> None:
    """Hide these texts from the current trace, unless SOULGRAPH_TRACE_REDACT is `none`."""
    if trace := _current.get():
        trace.private.update(filter(None, texts))
        trace.cleaned.clear()  # what was redacted before may contain the new texts

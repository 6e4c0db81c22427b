"""The trace of one turn, job or proactive run: its labels, its decisions, and the texts that must stay private.

Its runs are exported when the outermost of them has ended (`recorder`), so every run has all labels, also those that
are known only in the middle of a turn. Without an exporter a trace is only a few small dicts.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

PREFIX = "soulgraph."
NO_IDS: Mapping[str, str] = MappingProxyType({})
_ON_EVERY_RUN = {"session_id", "soul_id", "turn_id"}

_current: ContextVar["Trace | None"] = ContextVar("trace", default=None)


@dataclass(slots=True)
class Trace:
    """`cleaned` and `texts` are what the redactor has made of records, by their id, and of texts.

    The runs of a turn repeat the same ones.
    """

    labels: dict[str, str] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    decisions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    cleaned: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def metadata(self, root: bool) -> dict[str, Any]:
        """What a run carries beside its own metadata; only the root run carries the decisions."""
        return {**self.ids, **self.labels, **(self.decisions if root else {})}

    def keep_private(self, texts: Iterable[str]) -> None:
        """What was redacted before may contain the new texts, so it is not used again."""
        self.private.update(filter(None, texts))
        self.cleaned.clear()
        self.texts.clear()


@contextmanager
def traced(ids: Mapping[str, str] = NO_IDS, **labels: str | None) -> Iterator[None]:
    """Everything that runs inside the block belongs to one trace with these labels; None is left out.

    `ids` are what it is found by. Here they cost nothing: LangChain would copy them for every run, also if nobody
    records any.
    """
    token = _current.set(Trace({name: value for name, value in labels.items() if value is not None}, ids))
    try:
        yield
    finally:
        _current.reset(token)


def current_trace() -> Trace:
    """The trace of the running task, or an empty one outside of `traced`."""
    return _current.get() or Trace()


def add_labels(**labels: str) -> None:
    """Label every run of the current trace; does nothing outside of a trace."""
    if trace := _current.get():
        trace.labels |= labels


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
        trace.keep_private(texts)

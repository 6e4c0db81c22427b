"""One trace: what all its runs are labelled with, what was decided in it, and which of its words are private.

Some labels are known only in the midst of a turn. What ended before that is held back until then, so that every run
carries all of them. Who exports runs asks for the trace it is in; with nobody exporting, these are a few small dicts.
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
    """`awaits` is the label that is known last, `cleaned` what is redacted already: states repeat their data."""

    awaits: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    cleaned: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _held: list[Callable[["Trace"], None]] = field(default_factory=list)

    def when_labelled(self, send: Callable[["Trace"], None]) -> None:
        if self.awaits is None:
            send(self)
        else:
            self._held.append(send)

    def label(self, labels: dict[str, str]) -> None:
        self.labels |= labels
        if self.awaits in self.labels:
            self.release()

    def release(self) -> None:
        self.awaits = None
        held, self._held = self._held, []
        for send in held:
            send(self)

    def metadata(self, root: bool) -> dict[str, Any]:
        """What a run carries beside its own metadata; decisions are told once, on the root."""
        return {**self.labels, **self.decisions} if root else dict(self.labels)


@contextmanager
def traced(awaits: str | None = None, **labels: str | None) -> Iterator[None]:
    """Everything that runs inside is one trace."""
    trace = Trace(awaits, {name: value for name, value in labels.items() if value is not None})
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)
        trace.release()


def current_trace() -> Trace:
    """The one that this runs in, or an empty one: some runs belong to nobody."""
    return _current.get() or Trace()


def label(**labels: str) -> None:
    """What is now known about the whole trace."""
    if trace := _current.get():
        trace.label(labels)


def labels() -> dict[str, str]:
    """What is known so far."""
    trace = _current.get()
    return dict(trace.labels) if trace else {}


def decided(event: str, fields: dict[str, Any]) -> None:
    """What was decided, and on which grounds."""
    if trace := _current.get():
        told = {name: value for name, value in fields.items() if name not in _ON_EVERY_RUN}
        trace.decisions.setdefault(PREFIX + event, []).append(told)


def keep_private(*texts: str) -> None:
    """Texts that no trace shows unless it may show everything."""
    if trace := _current.get():
        trace.private.update(filter(None, texts))
        trace.cleaned.clear()

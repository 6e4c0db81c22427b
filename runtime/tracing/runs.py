"""The runs of a trace as they were recorded: what went in and out is only referred to, and read when it is exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from soulgraph.runtime.tracing.trace import Trace

Kind = Literal["chain", "llm", "tool", "retriever"]


@dataclass(slots=True, eq=False)
class Run:
    """One step. `parent` is the nearest run around it that is shown; times are nanoseconds since the epoch.

    A run that has not ended when the outermost one does has no `ended_ns`.
    """

    run_id: UUID
    tree: "RunTree"
    parent: "Run | None"
    kind: Kind
    name: str
    inputs: Any
    metadata: Mapping[str, Any]
    tags: Sequence[str]
    began_ns: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    first_token_ns: int = 0
    ended_ns: int = 0
    outputs: Any = None
    error: BaseException | None = None


@dataclass(slots=True, eq=False)
class RunTree:
    """All runs below one that has no parent, in the order in which they began; the first is the outermost."""

    trace: Trace
    runs: list[Run] = field(default_factory=list)

    @property
    def root(self) -> Run:
        return self.runs[0]

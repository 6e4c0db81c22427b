"""Records the runs that LangChain and LangGraph report, and hands each trace on when it is complete.

While a turn runs, references are kept and nothing is copied: what a state says is read by the exporters' threads, once
the reply is out.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.outputs import LLMResult

from soulgraph.runtime.tracing.runs import Kind, Run, RunTree
from soulgraph.runtime.tracing.trace import current_trace

TakeTree = Callable[[RunTree], None]

_HIDDEN = "langsmith:hidden"
_PART_OF_A_NODE = "seq:step:"


class RunRecorder(BaseCallbackHandler):
    """LangChain calls it in the task that runs, so that it knows whose trace a run belongs to.

    Left out are chains inside a node: the choice of the edge behind it, which the next node tells, and the graph of a
    node that is one, which tells what the node does.
    """

    run_inline = True

    def __init__(self) -> None:
        self.takers: list[TakeTree] = []
        self._open: dict[UUID, Run] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, **run: Any) -> None:
        self._start("chain", inputs, **run)

    def on_chat_model_start(self, serialized: Any, messages: list[list[BaseMessage]], **run: Any) -> None:
        self._start("llm", messages[0], **run)

    def on_llm_start(self, serialized: Any, prompts: list[str], **run: Any) -> None:
        self._start("llm", [HumanMessage(prompt) for prompt in prompts], **run)

    def on_tool_start(self, serialized: Any, input_str: str, **run: Any) -> None:
        name = run.pop("name", None) or (serialized or {}).get("name")
        self._start("tool", run.pop("inputs", None) or input_str, name=name, **run)

    def on_retriever_start(self, serialized: Any, query: str, **run: Any) -> None:
        self._start("retriever", query, **run)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **_: Any) -> None:
        run = self._open.get(run_id)
        if run and not run.first_token_ns:
            run.first_token_ns = time.time_ns()

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, outputs)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, response)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, output)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, documents)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error=error)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error=error)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error=error)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._end(run_id, error=error)

    def _start(
        self,
        kind: Kind,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        invocation_params: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Below a parent that has ended, or that we do not know, a run is the root of a trace of its own."""
        parent = self._open.get(parent_run_id) if parent_run_id else None
        if parent and kind == "chain" and _is_hidden(tags or ()):
            self._open[run_id] = parent
            return
        tree = parent.tree if parent else RunTree(current_trace())
        run = Run(run_id, tree, parent, kind, name or kind, inputs, metadata or {}, tags or (), time.time_ns())
        run.parameters = invocation_params or {}
        tree.runs.append(run)
        self._open[run_id] = run

    def _end(self, run_id: UUID, outputs: Any = None, error: BaseException | None = None) -> None:
        run = self._open.pop(run_id, None)
        if run is None or run.run_id != run_id:  # it is one that is hidden behind its parent
            return
        run.ended_ns = time.time_ns()
        run.outputs = outputs
        run.error = error
        if run is run.tree.root:
            self._hand_on(run.tree)

    def _hand_on(self, tree: RunTree) -> None:
        left = [run_id for run_id, run in tuple(self._open.items()) if run.tree is tree]
        for run_id in left:
            del self._open[run_id]
        for take in self.takers:
            take(tree)


class _Installed:
    """Stands where LangChain looks for a context variable, because the recorder is for all tasks alike."""

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder

    def get(self) -> RunRecorder | None:
        return self._recorder if self._recorder.takers else None


@cache
def _recorder() -> RunRecorder:
    """The one of this process: LangChain forgets no hook. Without exporters it records nothing."""
    from langchain_core.tracers.context import register_configure_hook

    recorder = RunRecorder()
    register_configure_hook(cast(Any, _Installed(recorder)), inheritable=True)
    return recorder


@contextmanager
def recording(take: TakeTree) -> Iterator[RunRecorder]:
    """While the block lasts, `take` gets every trace as soon as it is complete. It must not block."""
    recorder = _recorder()
    recorder.takers = [*recorder.takers, take]
    try:
        yield recorder
    finally:
        recorder.takers = [taker for taker in recorder.takers if taker is not take]


def _is_hidden(tags: Sequence[str]) -> bool:
    return any(tag == _HIDDEN or tag.startswith(_PART_OF_A_NODE) for tag in tags)

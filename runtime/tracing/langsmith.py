"""Exports runs to LangSmith, or any server that speaks its protocol: each complete, several traces in one request."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import langsmith
from langsmith.utils import get_tracer_project, tracing_is_enabled

from soulgraph.runtime.tracing.outages import limit_warnings
from soulgraph.runtime.tracing.recorder import recording
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.runs import Run, RunTree
from soulgraph.runtime.tracing.sender import Sender
from soulgraph.runtime.tracing.views import View, model_call_of, view_of
from soulgraph.stores.records import Json

_LOGGER = "langsmith.client"


class LangSmithExporter:
    """Posts whole traces. The client reads the environment, takes samples if it says so, and logs what goes wrong."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._client = langsmith.Client(auto_batch_tracing=False, omit_traced_runtime_info=True)
        self._project = get_tracer_project()

    def send(self, runs: list[Json]) -> None:
        self._client.multipart_ingest(create=runs)

    def close(self) -> None:
        self._client.close()

    def runs_of(self, tree: RunTree) -> list[Json]:
        orders: dict[Run, str] = {}
        for run in tree.runs:
            before = f"{orders[run.parent]}." if run.parent else ""
            orders[run] = f"{before}{_time(run.began_ns):%Y%m%dT%H%M%S%fZ}{run.run_id}"
        return [self._fields(run, orders[run]) for run in tree.runs]

    def _fields(self, run: Run, dotted_order: str) -> Json:
        view = view_of(run, self._redactor)
        root = run.tree.root
        fields = {
            "id": run.run_id,
            "trace_id": root.run_id,
            "parent_run_id": run.parent and run.parent.run_id,
            "dotted_order": dotted_order,
            "session_name": self._project,
            "name": run.name,
            "run_type": view.kind,
            "start_time": _time(run.began_ns),
            "end_time": _time(run.ended_ns or root.ended_ns),
            "inputs": _inputs(view),
            "outputs": _outputs(view),
            "error": view.error,
            "tags": [tag for tag in run.tags if ":step:" not in tag],
            "extra": {"metadata": view.metadata},
        }
        return fields | self._fields_of_call(run, view) if view.kind == "llm" else fields

    def _fields_of_call(self, run: Run, view: View) -> Json:
        """The tokens are among the metadata, where they are not hidden with the outputs."""
        call = model_call_of(run, self._redactor)
        usage = {"usage_metadata": call.usage} if call.usage else {}
        first = {"name": "new_token", "time": _time(run.first_token_ns).isoformat()}
        return {
            "extra": {"metadata": view.metadata | usage, "invocation_params": call.parameters},
            "events": [first] if run.first_token_ns else [],
        }


def _inputs(view: View) -> Json:
    if view.inputs is None:
        return {}
    if view.kind == "llm":
        return {"messages": [_message(message) for message in view.inputs]}
    if view.is_conversation:
        return {"messages": [{"role": "user", "content": view.inputs}]}
    if view.kind == "retriever":
        return {"query": view.inputs}
    return view.inputs if isinstance(view.inputs, dict) else {"input": view.inputs}


def _outputs(view: View) -> Json | None:
    if view.outputs is None:
        return None if view.error else {}
    if view.kind == "llm":
        return {"messages": [_message(message) for message in view.outputs]}
    if view.kind == "retriever":
        return {"documents": [_document(document) for document in view.outputs]}
    if view.is_conversation:
        return {"messages": [{"role": "assistant", "content": view.outputs}]}
    return view.outputs if isinstance(view.outputs, dict) else {"output": view.outputs}


def _message(message: Json) -> Json:
    """In OpenAI's form, which LangSmith shows as a conversation."""
    if calls := message.get("tool_calls"):
        return message | {"tool_calls": [_tool_call(call) for call in calls]}
    return message


def _tool_call(call: Json) -> Json:
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _document(document: Json) -> Json:
    about = {"id": document["id"], "score": document["score"]}
    return {"page_content": document["content"], "type": "Document", "metadata": about}


def _time(at_ns: int) -> datetime:
    return datetime.fromtimestamp(at_ns / 1e9, UTC)


@asynccontextmanager
async def open_langsmith(redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, runs are posted to LangSmith; nothing happens unless the environment enables that.

    LangChain's own tracer is off meanwhile: it writes down the whole state at every step, and redacts nothing.
    """
    if not tracing_is_enabled():
        yield
        return
    limit_warnings(_LOGGER)
    exporter = LangSmithExporter(redactor)
    sender = Sender("langsmith", exporter.runs_of, exporter.send)
    langsmith.configure(enabled=False)
    try:
        with recording(sender.put):
            yield
    finally:
        langsmith.configure(enabled=None)
        await asyncio.to_thread(sender.close)
        exporter.close()

"""Exports runs to LangSmith, or any server that speaks its protocol, with our labels and after redaction."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import langsmith
from langsmith.utils import tracing_is_enabled

from soulgraph.runtime.tracing.outages import limit_warnings
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.trace import Trace, current_trace

_TIMEOUT_S = 5.0
_LOGGER = "langsmith.client"
_REDACTED_FIELDS = ("inputs", "outputs", "serialized", "events")


class RedactingClient(langsmith.Client):
    """A LangSmith client that labels and redacts each run. LangChain calls it when a run starts and when it ends."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def create_run(self, name: str, inputs: dict[str, Any], run_type: Any, **fields: Any) -> None:
        redacted = self._redact({"inputs": inputs, **fields}, current_trace())
        super().create_run(name, run_type=run_type, **redacted)

    def update_run(self, run_id: Any, **fields: Any) -> None:
        # The run was created with the labels known at its start; this update carries all of them.
        current_trace().send_when_labelled(partial(self._update, run_id, fields))

    def _update(self, run_id: Any, fields: dict[str, Any], trace: Trace) -> None:
        super().update_run(run_id, **self._redact(fields, trace))

    def _redact(self, fields: dict[str, Any], trace: Trace) -> dict[str, Any]:
        """The fields of a run, redacted, with the labels of its trace in the metadata."""
        present = [name for name in _REDACTED_FIELDS if fields.get(name) is not None]
        redacted = {name: self._redact_field(name, fields[name], trace) for name in present}
        if error := fields.get("error"):
            redacted["error"] = self._redactor.error(error, trace)
        extra = dict(fields.get("extra") or {})
        metadata = {**extra.pop("metadata", {}), **trace.metadata(root=fields.get("parent_run_id") is None)}
        redacted["extra"] = self._redactor.clean(extra, trace)
        redacted["extra"]["metadata"] = self._redactor.metadata(metadata, trace)
        return {**fields, **redacted}

    def _redact_field(self, name: str, value: Any, trace: Trace) -> Any:
        """`serialized` describes the component that ran, not what was said, so `content` does not empty it."""
        if self._redactor.content and name != "serialized":
            return type(value)()
        return self._redactor.clean(value, trace)


@asynccontextmanager
async def open_langsmith(redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, LangChain posts its runs through a `RedactingClient`.

    Does nothing unless the environment enables LangSmith tracing.
    """
    if not tracing_is_enabled():
        yield
        return
    limit_warnings(_LOGGER)
    client = RedactingClient(redactor)
    langsmith.configure(client=client)
    try:
        yield
    finally:
        langsmith.configure(client=None)
        await asyncio.to_thread(client.close, _TIMEOUT_S)  # it blocks until the queued runs are sent

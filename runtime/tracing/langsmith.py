"""Runs for LangSmith, or any server that speaks its protocol: labelled and redacted before they leave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import langsmith
from langsmith.utils import tracing_is_enabled

from soulgraph.runtime.tracing.outages import warn_seldom
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.trace import Trace, current_trace

_TIMEOUT_S = 5.0
_LOGGER = "langsmith.client"
_TOLD = ("inputs", "outputs", "serialized", "events")


class RedactingClient(langsmith.Client):
    """LangChain's tracers hand it every run when it starts and when it ends."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def create_run(self, name: str, inputs: dict[str, Any], run_type: Any, **fields: Any) -> None:
        told = self._dressed({"inputs": inputs, **fields}, current_trace())
        super().create_run(name, run_type=run_type, **told)

    def update_run(self, run_id: Any, **fields: Any) -> None:
        current_trace().when_labelled(partial(self._update, run_id, fields))

    def _update(self, run_id: Any, fields: dict[str, Any], trace: Trace) -> None:
        super().update_run(run_id, **self._dressed(fields, trace))

    def _dressed(self, fields: dict[str, Any], trace: Trace) -> dict[str, Any]:
        told = {name: self._told(name, fields[name], trace) for name in _TOLD if fields.get(name) is not None}
        if error := fields.get("error"):
            told["error"] = self._redactor.error(error, trace)
        extra = dict(fields.get("extra") or {})
        metadata = {**extra.pop("metadata", {}), **trace.metadata(root=fields.get("parent_run_id") is None)}
        told["extra"] = self._redactor.clean(extra, trace)
        told["extra"]["metadata"] = self._redactor.metadata(metadata, trace)
        return {**fields, **told}

    def _told(self, name: str, value: Any, trace: Trace) -> Any:
        if self._redactor.content and name != "serialized":
            return type(value)()
        return self._redactor.clean(value, trace)


@asynccontextmanager
async def open_langsmith(redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, LangChain posts runs through a client of ours, if the environment asks for traces."""
    if not tracing_is_enabled():
        yield
        return
    warn_seldom(_LOGGER)
    client = RedactingClient(redactor)
    langsmith.configure(client=client)
    try:
        yield
    finally:
        langsmith.configure(client=None)
        await asyncio.to_thread(client.close, _TIMEOUT_S)

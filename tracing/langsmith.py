"""Runs for LangSmith, or any server that speaks its protocol: labelled and redacted before they leave."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import langsmith
from langsmith.utils import tracing_is_enabled

from soulgraph.tracing.outages import warn_seldom
from soulgraph.tracing.redaction import Redactor
from soulgraph.tracing.trace import Trace, current_trace

_PATIENCE_S = 5.0
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
        trace = current_trace()
        if trace is None:
            self._update(run_id, fields, None)
        else:
            trace.when_labelled(partial(self._update, run_id, fields, trace))

    def _update(self, run_id: Any, fields: dict[str, Any], trace: Trace | None) -> None:
        super().update_run(run_id, **self._dressed(fields, trace))

    def _dressed(self, fields: dict[str, Any], trace: Trace | None) -> dict[str, Any]:
        private = trace.private if trace else ()
        told = {name: self._told(name, fields[name], private) for name in _TOLD if fields.get(name) is not None}
        if error := fields.get("error"):
            told["error"] = self._redactor.error(error, private)
        extra = fields.get("extra") or {}
        added = trace.metadata(root=fields.get("parent_run_id") is None) if trace else {}
        metadata = self._redactor.metadata({**extra.get("metadata", {}), **added}, private)
        return {**fields, **told, "extra": {**self._redactor.clean(extra, private), "metadata": metadata}}

    def _told(self, name: str, value: Any, private: Collection[str]) -> Any:
        if self._redactor.content and name != "serialized":
            return type(value)()
        return self._redactor.clean(value, private)


@asynccontextmanager
async def open_langsmith(redactor: Redactor) -> AsyncIterator[None]:
    """While the block lasts, LangChain posts runs through a client of ours, if the environment asks for traces."""
    if not tracing_is_enabled():
        yield
        return
    client = RedactingClient(redactor)
    langsmith.configure(client=client)
    warn_seldom(_LOGGER)
    try:
        yield
    finally:
        langsmith.configure(client=None)
        await asyncio.to_thread(client.close, _PATIENCE_S)

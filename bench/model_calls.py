"""Notes every call of a chat model: what it was for, its tokens, and if wanted its words."""

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook


@dataclass(eq=False)
class Calls(BaseCallbackHandler):
    """Every call of the model: what it was for, and its tokens."""

    run_inline = True
    log: Path | None = None
    seen: list[dict[str, Any]] = field(default_factory=list)
    _asked: dict[Any, tuple[str, list[str]]] = field(default_factory=dict)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, name: str = "", **_: Any) -> None:
        self._asked[run_id] = name, [message.text for message in messages[0]]

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        name, messages = self._asked.pop(run_id, ("", []))
        message = response.generations[0][0].message
        usage = message.usage_metadata or {}
        cached = (usage.get("input_token_details") or {}).get("cache_read", 0)
        tokens = {"input": usage.get("input_tokens", 0), "output": usage.get("output_tokens", 0), "cached": cached}
        self.seen.append({"name": name, **tokens})
        if self.log:
            with self.log.open("a", encoding="utf-8") as file:
                said = {"name": name, "messages": messages, "answer": message.text, "calls": message.tool_calls}
                file.write(json.dumps(said | tokens, ensure_ascii=False) + "\n")

    def on_llm_error(self, error: BaseException, *, run_id: Any, response: Any = None, **_: Any) -> None:
        """A stream that we have left because nothing usable could follow."""
        if response and response.generations and response.generations[0]:
            self.on_llm_end(response, run_id=run_id)


_calls: ContextVar[Calls | None] = ContextVar("bench_calls", default=None)
register_configure_hook(_calls, inheritable=True)


def count_calls(log: Path | None) -> Calls:
    """From now on every call in this context is noted."""
    calls = Calls(log)
    _calls.set(calls)
    return calls

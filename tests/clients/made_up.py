"""Answers of an OpenAI-compatible server that has no model: whole ones and streams, of both of OpenAI's APIs."""

import json
from typing import Any, ClassVar

MODEL = "soul:Mo"
_USAGE = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}


def _base(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-recorder", "object": kind, "created": 1700000000, "model": MODEL}


def completion(words: str, body: dict[str, Any]) -> dict[str, Any]:
    if "input" in body and "messages" not in body:
        return _response(words)
    message = {"role": "assistant", "content": words}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_base("chat.completion"), "choices": [choice], "usage": _USAGE}


def _response(words: str) -> dict[str, Any]:
    """As `/v1/responses` answers."""
    part = {"type": "output_text", "text": words, "annotations": []}
    message = {"id": "msg_recorder", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {"input_tokens": 12, "output_tokens": 9, "total_tokens": 21}
    kept = {"id": "resp_recorder", "object": "response", "created_at": 1700000000, "status": "completed"}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    rest = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": {**usage, **details}}
    return {**kept, "model": MODEL, "output": [message], **rest}


class Chunks:
    """A stream of chat completions."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._tells_usage = (body.get("stream_options") or {}).get("include_usage")

    def beginning(self) -> str:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, words: str) -> str:
        return self._chunk({"content": words})

    def ending(self) -> str:
        usage = _sse({**_base("chat.completion.chunk"), "choices": [], "usage": _USAGE}) if self._tells_usage else ""
        return self._chunk({}, "stop") + usage + "data: [DONE]\n\n"

    @staticmethod
    def _chunk(delta: dict[str, str], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _sse({**_base("chat.completion.chunk"), "choices": [choice]})


class Responses:
    """A stream of `/v1/responses`."""

    _PLACE: ClassVar[dict[str, Any]] = {"item_id": "msg_recorder", "output_index": 0}

    def __init__(self, words: str) -> None:
        self._whole = _response(words)
        self._count = 0

    def beginning(self) -> str:
        begun = {**self._whole, "status": "in_progress", "output": []}
        item = {**self._whole["output"][0], "status": "in_progress", "content": []}
        part = {"type": "output_text", "text": "", "annotations": []}
        return (
            self._event("response.created", response=begun)
            + self._event("response.output_item.added", output_index=0, item=item)
            + self._event("response.content_part.added", **self._PLACE, content_index=0, part=part)
        )

    def piece(self, words: str) -> str:
        return self._event("response.output_text.delta", **self._PLACE, content_index=0, delta=words, logprobs=[])

    def ending(self) -> str:
        item = self._whole["output"][0]
        part = item["content"][0]
        return (
            self._event("response.output_text.done", **self._PLACE, content_index=0, text=part["text"], logprobs=[])
            + self._event("response.content_part.done", **self._PLACE, content_index=0, part=part)
            + self._event("response.output_item.done", output_index=0, item=item)
            + self._event("response.completed", response=self._whole)
        )

    def _event(self, kind: str, **more: Any) -> str:
        self._count += 1
        return f"event: {kind}\n" + _sse({"type": kind, "sequence_number": self._count, **more})


def _sse(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"

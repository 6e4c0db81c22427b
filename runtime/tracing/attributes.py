"""Attributes of spans in two vocabularies: OpenInference, and OpenTelemetry's conventions for generative AI.

Phoenix and Arize read the first, Langfuse and most others the second, and all of them `session.id` and `user.id`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openinference.semconv.trace import OpenInferenceMimeTypeValues, SpanAttributes
from opentelemetry.util.types import AttributeValue

from soulgraph.runtime.tracing.runs import Run
from soulgraph.runtime.tracing.views import ModelCall, View
from soulgraph.stores.records import Json

Attributes = dict[str, AttributeValue]

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_TEXT = OpenInferenceMimeTypeValues.TEXT.value
_JSON = OpenInferenceMimeTypeValues.JSON.value


def attributes_of(run: Run, view: View, call: ModelCall | None) -> Attributes:
    told: Attributes = {
        SpanAttributes.OPENINFERENCE_SPAN_KIND: view.kind.upper(),
        SpanAttributes.METADATA: _dumped(view.metadata),
        **_grouping(view.metadata),
    }
    if tags := [tag for tag in run.tags if ":step:" not in tag]:
        told[SpanAttributes.TAG_TAGS] = tags
    if call:
        told |= _model_call(run, call)
    if view.kind == "tool":
        told |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": run.name}
        told[SpanAttributes.TOOL_NAME] = run.name
    if run.parent is None and view.kind == "chain":
        told |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "soulgraph"}
    return told | dict(_content(view))


def _grouping(metadata: Mapping[str, Any]) -> Attributes:
    told: Attributes = {}
    if session_id := metadata.get("session_id"):
        told |= {SpanAttributes.SESSION_ID: session_id, "gen_ai.conversation.id": session_id}
    if user_id := metadata.get("user_id"):
        told[SpanAttributes.USER_ID] = user_id
    return told


def _model_call(run: Run, call: ModelCall) -> Attributes:
    """`gen_ai.system` is the name that `gen_ai.provider.name` had before; many viewers still ask for it."""
    told: dict[str, AttributeValue | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.provider,
        "gen_ai.system": call.provider,
        "gen_ai.request.model": call.model,
        "gen_ai.response.model": call.answered_by,
        "gen_ai.response.finish_reasons": [call.finish_reason] if call.finish_reason else None,
        "gen_ai.usage.input_tokens": call.usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": call.usage.get("output_tokens"),
        SpanAttributes.LLM_MODEL_NAME: call.answered_by or call.model,
        SpanAttributes.LLM_PROVIDER: call.provider,
        SpanAttributes.LLM_SYSTEM: call.provider,
        SpanAttributes.LLM_FINISH_REASON: call.finish_reason,
        SpanAttributes.LLM_TOKEN_COUNT_PROMPT: call.usage.get("input_tokens"),
        SpanAttributes.LLM_TOKEN_COUNT_COMPLETION: call.usage.get("output_tokens"),
        SpanAttributes.LLM_TOKEN_COUNT_TOTAL: call.usage.get("total_tokens"),
    }
    if run.first_token_ns:
        told["gen_ai.response.time_to_first_chunk"] = (run.first_token_ns - run.began_ns) / 1e9
    parameters = dict(call.parameters)
    tools = parameters.pop("tools", None) or ()
    told[SpanAttributes.LLM_INVOCATION_PARAMETERS] = _dumped(parameters)
    told |= {f"{SpanAttributes.LLM_TOOLS}.{at}.tool.json_schema": _dumped(tool) for at, tool in enumerate(tools)}
    return {name: value for name, value in told.items() if value is not None and value != ""}


def _content(view: View) -> Iterator[tuple[str, AttributeValue]]:
    if view.inputs is not None:
        yield from _messages_in(view) if view.kind == "llm" else _value("input", view.inputs)
    if view.outputs is not None:
        match view.kind:
            case "llm":
                yield from _messages_out(view)
            case "retriever":
                yield from _documents(view.outputs)
            case _:
                yield from _value("output", view.outputs)
    if view.kind == "tool" and view.inputs is not None:
        yield "gen_ai.tool.call.arguments", _dumped(view.inputs)
        if view.outputs is not None:
            yield "gen_ai.tool.call.result", _dumped(view.outputs)


def _messages_in(view: View) -> Iterator[tuple[str, AttributeValue]]:
    """All messages, and the last of them as what was asked."""
    yield from _flat(SpanAttributes.LLM_INPUT_MESSAGES, view.inputs)
    yield "gen_ai.input.messages", _dumped([_parts(message) for message in view.inputs])
    yield from _value("input", view.inputs[-1]["content"] if view.inputs else "")


def _messages_out(view: View) -> Iterator[tuple[str, AttributeValue]]:
    yield from _flat(SpanAttributes.LLM_OUTPUT_MESSAGES, view.outputs)
    yield "gen_ai.output.messages", _dumped([_parts(message) for message in view.outputs])
    [answer] = view.outputs
    yield from _value("output", answer["content"] or answer.get("tool_calls", ""))


def _flat(prefix: str, messages: list[Json]) -> Iterator[tuple[str, AttributeValue]]:
    for at, message in enumerate(messages):
        here = f"{prefix}.{at}.message"
        yield f"{here}.role", message["role"]
        yield f"{here}.content", message["content"]
        if "tool_call_id" in message:
            yield f"{here}.tool_call_id", message["tool_call_id"]
        for nth, call in enumerate(message.get("tool_calls", ())):
            yield f"{here}.tool_calls.{nth}.tool_call.id", call["id"] or ""
            yield f"{here}.tool_calls.{nth}.tool_call.function.name", call["name"]
            yield f"{here}.tool_calls.{nth}.tool_call.function.arguments", _dumped(call["arguments"])


def _parts(message: Json) -> Json:
    """A message as OpenTelemetry writes it."""
    if "tool_call_id" in message:
        parts = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
        return {"role": message["role"], "parts": parts}
    text = [{"type": "text", "content": message["content"]}] if message["content"] else []
    calls = [{"type": "tool_call", **call} for call in message.get("tool_calls", ())]
    return {"role": message["role"], "parts": [*text, *calls]}


def _documents(documents: list[Json]) -> Iterator[tuple[str, AttributeValue]]:
    for at, document in enumerate(documents):
        here = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{at}.document"
        yield f"{here}.id", document["id"]
        yield f"{here}.content", _text(document["content"])
        yield f"{here}.score", document["score"]


def _value(side: str, value: Any) -> Iterator[tuple[str, AttributeValue]]:
    yield f"{side}.value", _text(value)
    yield f"{side}.mime_type", _TEXT if isinstance(value, str) else _JSON


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _dumped(value)


def _dumped(value: Any) -> str:
    return _ENCODER.encode(value)

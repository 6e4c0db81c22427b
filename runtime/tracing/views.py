"""What a trace shows of a run: the words of a turn, the messages of a model's call, and what a node returned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.types import Command

from soulgraph.memory.recall import Recalled
from soulgraph.memory.source import Hit
from soulgraph.runtime.tracing.redaction import Redactor
from soulgraph.runtime.tracing.runs import Kind, Run
from soulgraph.stores.records import Json

_NOISE = {
    "checkpoint_ns",
    "langgraph_checkpoint_ns",
    "langgraph_path",
    "langgraph_triggers",
    "lc_versions",
    "ls_integration",
}
_CONTENTS = ("message", "event", "fact", "plan")


@dataclass(frozen=True, slots=True)
class View:
    """`inputs` and `outputs` are text, plain data, or the messages of a model's call; None if they are not shown.

    Of a retriever the outputs are documents, each with `id`, `content` and `score`.
    """

    kind: Kind
    inputs: Any
    outputs: Any
    metadata: Json
    error: str | None
    is_conversation: bool = False


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What is known of a model's call beside what was said in it."""

    provider: str
    model: str
    parameters: Json
    answered_by: str
    finish_reason: str
    usage: Mapping[str, Any]


def view_of(run: Run, redactor: Redactor) -> View:
    kind = "retriever" if _is_recall(run) else run.kind
    inputs, outputs = (None, None) if redactor.content else _content(run, redactor)
    error = redactor.error(run.error, run.tree.trace) if run.error else None
    is_conversation = run.parent is None and _text_heard(run) is not None
    return View(kind, inputs, outputs, _metadata(run, redactor), error, is_conversation)


def model_call_of(run: Run, redactor: Redactor) -> ModelCall:
    answer = _answer_of(run.outputs)
    told: Mapping[str, Any] = answer.response_metadata if answer else {}
    parameters = {name: value for name, value in run.parameters.items() if value is not None and name[:1] != "_"}
    model = run.metadata.get("ls_model_name") or run.parameters.get("model") or run.parameters.get("model_name") or ""
    return ModelCall(
        provider=str(run.metadata.get("ls_provider", "")),
        model=str(model),
        parameters=redactor.clean(parameters, run.tree.trace),
        answered_by=str(told.get("model_name") or ""),
        finish_reason=str(told.get("finish_reason") or ""),
        usage=(answer.usage_metadata if answer else None) or {},
    )


def _content(run: Run, redactor: Redactor) -> tuple[Any, Any]:
    """What went in and came out. A turn that failed has no outputs, and a model's call that failed no answer."""
    inputs, outputs = run.inputs, run.outputs
    match run.kind:
        case "llm":
            answer = _answer_of(outputs)
            outputs = [answer] if answer else None
        case "tool":
            outputs = _told_by_tool(outputs)
        case "chain":
            inputs, outputs = _content_of_chain(run)
    trace = run.tree.trace
    return redactor.clean(inputs, trace), None if outputs is None else redactor.clean(outputs, trace)


def _content_of_chain(run: Run) -> tuple[Any, Any]:
    if not isinstance(run.inputs, Mapping):
        return run.inputs, run.outputs
    if run.parent is None:
        return _text_heard(run) or run.inputs, _text_said(run)
    if _is_recall(run):
        return _text_heard(run), _documents(run.outputs)
    return {"state": list(run.inputs)}, None if run.outputs is None else _changes(run)


def _text_heard(run: Run) -> str | None:
    """What the user said, of a run that works with it."""
    utterance = run.inputs.get("utterance") if isinstance(run.inputs, Mapping) else None
    return utterance["text"] if utterance else None


def _text_said(run: Run) -> Any:
    """What the soul replied or said by itself, else why it is silent, else what is different from the inputs."""
    state = run.outputs if isinstance(run.outputs, Mapping) else {}
    if "answer" in state:
        return state["answer"]["reply"]
    if "silence" in state:
        return state["silence"] or state["impulse"].text
    return None if run.outputs is None or _text_heard(run) else _changes(run)


def _changes(run: Run) -> Json:
    """What a node returned, without what it only passed on."""
    if isinstance(run.outputs, list):  # one of each tool that was called
        return {"output": [_update_of(output) for output in run.outputs]}
    update = _update_of(run.outputs)
    if isinstance(update, Mapping):
        return {key: value for key, value in update.items() if value is not run.inputs.get(key, run)}
    return {} if update is None else {"output": update}


def _update_of(output: Any) -> Any:
    """What a command changes; LangGraph makes pairs of it."""
    if not isinstance(output, Command):
        return output
    return dict(output.update) if isinstance(output.update, list) else output.update


def _told_by_tool(output: Any) -> Any:
    """The text that the model reads; a tool that changes the soul returns it inside a command."""
    update = _update_of(output)
    message = update["messages"][-1] if isinstance(update, Mapping) and update.get("messages") else output
    return getattr(message, "content", message)


def _is_recall(run: Run) -> bool:
    return run.name == "recall" and run.metadata.get("langgraph_node") == "recall"


def _documents(outputs: Any) -> list[Json]:
    recalled = outputs.get("recalled") if isinstance(outputs, Mapping) else None
    hits = recalled.hits if isinstance(recalled, Recalled) else ()
    return [{"id": hit.source_id, "content": _text_of(hit), "score": hit.score} for hit in hits]


def _text_of(hit: Hit) -> Any:
    """The words of what was found; of what has none, all of it."""
    for name in _CONTENTS:
        if hasattr(hit, name):
            return getattr(getattr(hit, name), "content", getattr(hit, name))
    return getattr(hit, "text", hit)


def _answer_of(outputs: Any) -> AIMessage | None:
    if not isinstance(outputs, LLMResult) or not outputs.generations or not outputs.generations[0]:
        return None
    first = outputs.generations[0][0]
    if isinstance(first, ChatGeneration) and isinstance(first.message, AIMessage):
        return first.message
    return AIMessage(first.text)


def _metadata(run: Run, redactor: Redactor) -> Json:
    """The conversation is also the thread, so that what follows a turn is found with it."""
    own = {name: value for name, value in run.metadata.items() if name not in _NOISE and value is not None}
    metadata = {**own, **run.tree.trace.metadata(root=run.parent is None)}
    if "session_id" in metadata:
        metadata["thread_id"] = metadata["session_id"]
    return redactor.metadata(metadata, run.tree.trace)

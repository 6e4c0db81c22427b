"""What a viewer gets of a turn, in LangSmith's shapes and as attributes of spans, from runs of a small graph."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langsmith.utils import tracing_is_enabled
from typing_extensions import TypedDict

from soulgraph.memory.recall import Recalled
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.runtime.tracing.langsmith import LangSmithExporter, open_langsmith
from soulgraph.runtime.tracing.otlp import OtlpExporter
from soulgraph.runtime.tracing.recorder import recording
from soulgraph.runtime.tracing.redaction import HIDDEN, Redactor
from soulgraph.runtime.tracing.trace import keep_private, traced
from soulgraph.tests.runtime.tracing.receiver import receiving

USAGE = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
CALL = {"id": "c1", "name": "look_up", "args": {"place": "harbour"}}
NOWHERE = "http://127.0.0.1:9/v1/traces"


class State(TypedDict, total=False):
    utterance: dict
    recalled: Recalled
    inner_state: str
    answer: dict


@tool
def look_up(place: str) -> str:
    """Look something up."""
    return f"ships at the {place}"


async def recall(state):
    return {"recalled": Recalled([RecalledSummary("s1", "s", "they spoke of ships", 0.0, 0.5)])}


async def model(state):
    said = AIMessage(
        "",
        tool_calls=[CALL],
        usage_metadata=USAGE,
        response_metadata={"finish_reason": "tool_calls", "model_name": "parrot-2"},
    )
    prompt = [SystemMessage("You know my secret wish."), HumanMessage(state["utterance"]["text"])]
    voice = GenericFakeChatModel(messages=iter([said]))
    await voice.ainvoke(prompt, {"run_name": "voice", "metadata": {"ls_model_name": "parrot"}})
    await look_up.ainvoke({"place": "harbour"})
    if "fail" in state["utterance"]["text"]:
        raise TimeoutError("they said: fail")
    return {"inner_state": "lonely", "answer": {"reply": f"Aye, {state['utterance']['user_id']}."}}


GRAPH = (
    StateGraph(State).add_node(recall).add_node(model).add_edge(START, "recall").add_edge("recall", "model").compile()
)


async def turn(user_id="ann", text="Any ships?"):
    metadata = {"session_id": f"{user_id}-1", "user_id": user_id}
    with traced(terminal_id="lamp"):
        keep_private("secret wish")
        said = {"utterance": {"text": text, "user_id": user_id}}
        await asyncio.sleep(0)
        return await GRAPH.ainvoke(said, {"run_name": "turn", "metadata": metadata})


@asynccontextmanager
async def recorded():
    trees = []
    with recording(trees.append):
        yield trees


def spans_of(tree, redact="secrets"):
    """The spans by name."""
    exporter = OtlpExporter(NOWHERE, Redactor(redact, []))
    try:
        return {span.name: span for span in exporter.spans_of(tree)}
    finally:
        exporter.close()


def runs_of(tree, redact="secrets"):
    exporter = LangSmithExporter(Redactor(redact, []))
    try:
        return {run["name"]: run for run in exporter.runs_of(tree)}
    finally:
        exporter.close()


async def test_langsmith_gets_a_conversation_a_retriever_a_tool_and_a_call_with_its_tokens():
    async with recorded() as trees:
        await turn()
    runs = runs_of(*trees)
    assert {name: run["run_type"] for name, run in runs.items()} == {
        "turn": "chain",
        "recall": "retriever",
        "model": "chain",
        "voice": "llm",
        "look_up": "tool",
    }
    assert runs["turn"]["inputs"] == {"messages": [{"role": "user", "content": "Any ships?"}]}
    assert runs["turn"]["outputs"] == {"messages": [{"role": "assistant", "content": "Aye, ann."}]}
    found = {"page_content": "they spoke of ships", "type": "Document", "metadata": {"id": "s1", "score": 0.5}}
    assert (runs["recall"]["inputs"], runs["recall"]["outputs"]) == ({"query": "Any ships?"}, {"documents": [found]})
    assert runs["model"]["inputs"] == {"state": ["utterance", "recalled"]}
    assert runs["model"]["outputs"] == {"inner_state": HIDDEN, "answer": {"reply": "Aye, ann."}}
    assert runs["voice"]["inputs"]["messages"][0] == {"role": "system", "content": f"You know my {HIDDEN}."}
    [answer] = runs["voice"]["outputs"]["messages"]
    assert answer["tool_calls"][0]["function"] == {"name": "look_up", "arguments": '{"place": "harbour"}'}
    assert runs["voice"]["extra"]["metadata"]["usage_metadata"] == USAGE
    assert (runs["look_up"]["inputs"], runs["look_up"]["outputs"]) == (
        {"place": "harbour"},
        {"output": "ships at the harbour"},
    )
    group = {"session_id": "ann-1", "thread_id": "ann-1", "user_id": "ann", "terminal_id": "lamp"}
    for run in runs.values():
        assert group.items() <= run["extra"]["metadata"].items()
        assert run["dotted_order"].startswith(runs["turn"]["dotted_order"])
        assert run["end_time"] >= run["start_time"]
    assert runs["voice"]["parent_run_id"] == runs["model"]["id"]


async def test_spans_speak_openinference_and_the_conventions_for_generative_ai():
    async with recorded() as trees:
        await turn()
    spans = spans_of(*trees)
    told = {name: span.attributes for name, span in spans.items()}
    kinds = {name: attributes["openinference.span.kind"] for name, attributes in told.items()}
    assert kinds == {"turn": "CHAIN", "recall": "RETRIEVER", "model": "CHAIN", "voice": "LLM", "look_up": "TOOL"}
    group = {"session.id": "ann-1", "gen_ai.conversation.id": "ann-1", "user.id": "ann"}
    assert all(group.items() <= attributes.items() for attributes in told.values())
    text = {"input.mime_type": "text/plain", "output.mime_type": "text/plain"}
    assert {"input.value": "Any ships?", "output.value": "Aye, ann.", **text}.items() <= told["turn"].items()
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "genericfakechatmodel",
        "gen_ai.request.model": "parrot",
        "gen_ai.response.model": "parrot-2",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "llm.token_count.total": 10,
        "llm.input_messages.0.message.content": f"You know my {HIDDEN}.",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"place": "harbour"}',
    }
    assert {name: told["voice"].get(name) for name in call} == call
    assert json.loads(told["voice"]["gen_ai.input.messages"])[1] == {
        "role": "user",
        "parts": [{"type": "text", "content": "Any ships?"}],
    }
    assert json.loads(told["voice"]["gen_ai.output.messages"])[0]["parts"] == [
        {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {"place": "harbour"}}
    ]
    assert told["look_up"]["gen_ai.tool.name"] == "look_up"
    assert told["look_up"]["output.value"] == "ships at the harbour"
    assert told["recall"]["retrieval.documents.0.document.content"] == "they spoke of ships"
    assert spans["voice"].parent.span_id == spans["model"].context.span_id
    assert {span.context.trace_id for span in spans.values()} == {spans["turn"].context.trace_id}


@pytest.mark.parametrize("export", [runs_of, spans_of])
async def test_a_trace_without_content_has_names_tokens_and_kinds_of_errors_alone(export):
    async with recorded() as trees:
        with pytest.raises(TimeoutError):
            await turn(text="Please fail")
    exported = export(trees[0], "content")
    whole = str({name: run if isinstance(run, dict) else run.to_json() for name, run in exported.items()})
    for word in ("fail", "harbour", "secret wish", "lonely", "they spoke", "You know"):
        assert word not in whole
    for word in ("TimeoutError", "look_up", "parrot", "ann-1"):
        assert word in whole


async def test_a_turn_that_fails_says_where_and_what_ended_before_is_whole():
    async with recorded() as trees:
        with pytest.raises(TimeoutError):
            await turn(text="Please fail")
    runs = runs_of(*trees)
    assert {name for name, run in runs.items() if run["error"]} == {"turn", "model"}
    assert runs["turn"]["error"].startswith("TimeoutError('they said: fail')")
    assert runs["turn"]["inputs"] == {"messages": [{"role": "user", "content": "Please fail"}]}
    assert runs["turn"]["outputs"] is None
    span = spans_of(*trees)["turn"]
    assert (span.status.status_code.name, span.events[0].attributes["exception.type"]) == ("ERROR", "TimeoutError")


@pytest.mark.parametrize(("rate", "arrived"), [("0", 0), ("1", 5)])
async def test_langsmiths_own_variables_hold_and_langchains_tracer_is_off_meanwhile(langsmith_env, rate, arrived):
    async with receiving() as receiver:
        variables = {"endpoint": receiver.url, "api_key": "k", "project": "harbour-project"}
        langsmith_env(tracing="true", tracing_sampling_rate=rate, **variables)
        async with open_langsmith(Redactor("secrets", [])):
            assert not tracing_is_enabled()
            await turn()
        assert tracing_is_enabled()
    assert len(receiver.runs) == arrived
    assert ("harbour-project" in receiver.everything) == bool(arrived)


async def test_two_turns_at_once_do_not_mix():
    async with recorded() as trees:
        await asyncio.gather(turn("ann"), turn("bob"))
    for tree in trees:
        runs = runs_of(tree)
        [user] = {run["extra"]["metadata"]["user_id"] for run in runs.values()}
        assert runs["turn"]["outputs"]["messages"][0]["content"] == f"Aye, {user}."
        assert len(tree.runs) == 5
    assert len(trees) == 2


async def test_who_embeds_runs_is_told_of_them_by_their_own_handlers_as_before():
    heard = []

    class Own(BaseCallbackHandler):
        def on_chain_end(self, outputs, **_):
            heard.append(outputs)

    async with recorded() as trees:
        await GRAPH.ainvoke({"utterance": {"text": "hi", "user_id": "ann"}}, {"callbacks": [Own()]})
    assert heard
    assert len(trees) == 1

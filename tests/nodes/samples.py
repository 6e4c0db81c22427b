"""A small context and the parts of a turn under way, for tests of single nodes."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from pydantic import Field

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context, NoTelemetry, Senses
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.state import Impact, LoopState, TurnEvent, TurnState, Utterance
from soulgraph.senses.intents.decision import IntentDecision, IntentResult, MatchedIntent
from soulgraph.soul.dynamics import born
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.personality import traits_of
from soulgraph.stores.records import Soul
from soulgraph.tests.stores.samples import session, soul
from soulgraph.voices.offline import chunks_of

INFJ = traits_of("INFJ")
CALM = born(INFJ, 0.0)
HURT = replace(CALM, p=-1.0)


class Unused:
    """A port that the node under test must not touch."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise AssertionError(f"the node used {self._name}.{attribute}, which this test has not given it")


def small_context(**ports: Any) -> Context:
    """`persona` gives the settings of the persona, by default those of a file without any."""
    unused: dict[str, Any] = {name: Unused(name) for name in ("stores", "voice")}
    unused["senses"] = Senses(Unused("emotions"), Unused("intents"))
    persona = ports.pop("persona", PersonaConfig())
    return Context(**{**unused, "read_persona": lambda: persona, "clock": lambda: 0.0, **ports})


def small_runtime(events: list[Any] | None = None, **ports: Any) -> Runtime[Context]:
    """`events` collects what the node sends to listeners."""
    heard: list[Any] = [] if events is None else events
    return Runtime(context=small_context(**ports), stream_writer=heard.append)


@dataclass
class Ran:
    """A node's run in a graph: the state after it, what listeners heard, and what a parent's stream of messages shows.

    `custom` has everything that was written to the stream of listeners, also by tools.
    """

    state: dict[str, Any] = field(default_factory=dict)
    custom: list[Any] = field(default_factory=list)
    messages: list[BaseMessage] = field(default_factory=list)

    @property
    def tokens(self) -> list[str]:
        return [one.data["text"] for one in self.custom if isinstance(one, TurnEvent) and one.event == "token"]


async def run_turn_node(node: Callable[..., Any], state: TurnState, **ports: Any) -> Ran:
    """Runs a node as the only one of a graph, for those that stream a reply: that needs a run of LangGraph."""
    return await _run(StateGraph(TurnState, Context).add_node("node", node), state, ports)


async def run_loop_node(node: Callable[..., Any], state: LoopState, **ports: Any) -> Ran:
    """The same for a node of the tool loop."""
    return await _run(StateGraph(LoopState, Context).add_node("node", node), state, ports)


async def _run(graph: Any, state: Any, ports: dict[str, Any]) -> Ran:
    ran = Ran()
    compiled = graph.add_edge(START, "node").compile()
    modes = ["values", "custom", "messages"]
    async for mode, part in compiled.astream(state, context=small_context(**ports), stream_mode=modes):
        if mode == "values":
            ran.state = part
        elif mode == "custom":
            ran.custom.append(part)
        else:
            ran.messages.append(part[0])
    return ran


class Scripted(BaseChatModel):
    """A model that gives its prepared answers one after the other, and keeps what it was asked and offered."""

    answers: list[AIMessage]
    asked: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self.bind(tools=tools, **options)

    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        raise AssertionError("a turn streams its model calls")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.asked.append(messages)
        self.offered.append(options)
        for chunk in chunks_of(self.answers.pop(0)):
            yield chunk


class Notebook(NoTelemetry):
    """Telemetry that keeps what it is told."""

    def __init__(self) -> None:
        self.emitted: list[tuple[str, dict[str, Any]]] = []
        self.private: list[str] = []
        self._labels: dict[str, str] = {}

    def emit(self, event: str, **fields: Any) -> None:
        self.emitted.append((event, fields))

    def label(self, **labels: str) -> None:
        self._labels |= labels

    def labels(self) -> dict[str, str]:
        return self._labels

    def keep_private(self, *texts: str) -> None:
        self.private += texts

    def told(self, event: str) -> list[dict[str, Any]]:
        return [fields for name, fields in self.emitted if name == event]


def utterance(text: str = "你好", **fields: Any) -> Utterance:
    ids = {"soul_id": "soul_1", "session_id": "sess_1", "input_id": "in_1", "turn_id": "turn_1", "user_id": "user_1"}
    return {"text": text, **ids, **fields}  # type: ignore[typeddict-item]


def impact(who: Soul | None = None, emotion: EmotionState = CALM, **fields: Any) -> Impact:
    individual = replace(who or soul(), emotion_state=emotion)
    values = {
        "at": 0.0,
        "turn_id": "turn_1",
        "user_emotion": UNKNOWN,
        "soul_emotion": emotion.to_dict(),
        "session": session(soul_id=individual.soul_id),
    }
    return Impact(soul=individual, **(values | fields))


def gate(emotion: EmotionState = CALM) -> Gate:
    return judge(INFJ, emotion, 0.0)


def matched(intent_id: str = "light_on", **fields: Any) -> MatchedIntent:
    values = {"intent_name": "开灯", "confidence": 1.0, "parameters": {}, "status": "ready", "why": "keyword"}
    return MatchedIntent(intent_id=intent_id, **(values | fields))


def intents(*found: MatchedIntent) -> IntentResult:
    action = "execute_intents" if found else "no_action"
    return IntentResult(decision=IntentDecision(action=action, reason=""), intents=list(found))

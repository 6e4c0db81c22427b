"""A small context and the parts of a turn under way, for tests of single nodes."""

from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.state import Appraisal, Utterance
from soulgraph.senses.intents.decision import IntentDecision, IntentResult, MatchedIntent
from soulgraph.soul.dynamics import EmotionState, born
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.personality import traits_of
from soulgraph.stores.records import Soul
from soulgraph.tests.conformance.samples import session, soul

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
    unused = {name: Unused(name) for name in ("stores", "senses", "voice")}
    return Context(**{**unused, "persona": PersonaConfig(), "clock": lambda: 0.0, **ports})


def small_runtime(events: list[Any] | None = None, **ports: Any) -> Runtime[Context]:
    """`events` collects what the node sends to listeners."""
    heard: list[Any] = [] if events is None else events
    return Runtime(context=small_context(**ports), stream_writer=heard.append)


def utterance(text: str = "你好", **fields: Any) -> Utterance:
    ids = {"soul_id": "soul_1", "session_id": "sess_1", "input_id": "in_1", "turn_id": "turn_1", "user_id": "user_1"}
    return {"text": text, **ids, **fields}  # type: ignore[typeddict-item]


def appraisal(who: Soul | None = None, emotion: EmotionState = CALM, **fields: Any) -> Appraisal:
    individual = replace(who or soul(), emotion_state=emotion)
    values = {
        "at": 0.0,
        "turn_id": "turn_1",
        "user_emotion": UNKNOWN,
        "soul_emotion": emotion.to_dict(),
        "session": session(soul_id=individual.soul_id),
    }
    return Appraisal(soul=individual, **(values | fields))


def gate(emotion: EmotionState = CALM) -> Gate:
    return judge(INFJ, emotion, 0.0)


def matched(intent_id: str = "light_on", **fields: Any) -> MatchedIntent:
    values = {"intent_name": "开灯", "confidence": 1.0, "parameters": {}, "status": "ready", "why": "keyword"}
    return MatchedIntent(intent_id=intent_id, **(values | fields))


def intents(*found: MatchedIntent) -> IntentResult:
    action = "execute_intents" if found else "no_action"
    return IntentResult(decision=IntentDecision(action=action, reason=""), intents=list(found))

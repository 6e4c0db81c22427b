"""The result of the intent filter, as the turn and the API carry it."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

Action = Literal["execute_intents", "fallback_reasoning", "no_action"]


class IntentDecision(BaseModel):
    action: Action
    reason: str


class MatchedIntent(BaseModel):
    intent_id: str
    intent_name: str
    confidence: float
    parameters: dict[str, Any]
    status: Literal["ready", "need_clarification"]
    question: str | None = None
    why: str


class IntentResult(BaseModel):
    decision: IntentDecision
    intents: list[MatchedIntent] = []

    @classmethod
    def matched(cls, intents: list[MatchedIntent]) -> "IntentResult":
        """The result for matched intents: executed if one is ready, else clarified first."""
        ids = join_ids(intent.intent_id for intent in intents)
        if any(intent.status == "ready" for intent in intents):
            return cls(decision=IntentDecision(action="execute_intents", reason=f"matched: {ids}"), intents=intents)
        reason = f"to be clarified: {ids}"
        return cls(decision=IntentDecision(action="fallback_reasoning", reason=reason), intents=intents)

    @classmethod
    def without(cls, action: Action, reason: str) -> "IntentResult":
        """The result when no intent matched."""
        return cls(decision=IntentDecision(action=action, reason=reason))


def join_ids(ids: Iterable[str]) -> str:
    """The ids separated by commas, each once."""
    return ", ".join(dict.fromkeys(ids))

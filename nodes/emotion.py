"""Recognises what the user feels."""

import asyncio
from time import perf_counter

from langgraph.runtime import Runtime

from soulgraph.errors import SenseUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.soul.emotions import PROTOTYPES, Appraisal, UserEmotion

_TIMEOUT_S = 1.5
UNKNOWN = UserEmotion("neutral", *PROTOTYPES["neutral"], intensity=0.0, confidence=0.0, appraisal=Appraisal())


async def emotion(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """A recogniser that fails or takes too long leaves the soul unmoved, and the answer says so."""
    utterance = state["utterance"]
    senses = runtime.context.senses
    began = perf_counter()
    if utterance.get("terminal_id"):
        # The intent filter will need the clauses too: one batch of the embedder serves both.
        senses.intents.expect(utterance["text"])
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            user_emotion = await senses.emotions.recognise(utterance["text"])
    except (TimeoutError, SenseUnavailable):
        user_emotion = UNKNOWN
    latency = {"emotion_latency_ms": round((perf_counter() - began) * 1000, 2)}
    return {"user_emotion": user_emotion, "latency": latency}

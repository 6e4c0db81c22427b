"""What does the user feel? And, meanwhile, what does it remind the soul of?"""

import asyncio
from time import perf_counter

from langgraph.runtime import Runtime

from soulgraph.errors import SenseUnavailable
from soulgraph.memory.recall import Recalled
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Said, TurnState
from soulgraph.soul.dynamics import UserEmotion
from soulgraph.soul.emotions import PROTOTYPES

_TIMEOUT_S = 1.5
_CANDIDATES = 12  # more than a prompt shows: some may be in the conversation that it shows anyway
UNKNOWN = UserEmotion("neutral", *PROTOTYPES["neutral"], intensity=0.0, confidence=0.0)


async def emotion(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """A recogniser that fails or dawdles leaves the soul unmoved, and the answer says so."""
    recalling, began = _recalling(state["said"], runtime.context), perf_counter()
    if state["said"].get("terminal_id"):
        runtime.context.intents.expect(state["said"]["text"])
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            felt = await runtime.context.emotions.recognise(state["said"]["text"])
    except (TimeoutError, SenseUnavailable):
        felt = UNKNOWN
    latency = {"emotion_latency_ms": round((perf_counter() - began) * 1000, 2)}
    return {"user_emotion": felt, "recalling": recalling, "latency": latency}


def _recalling(said: Said, context: Context) -> asyncio.Task[Recalled] | None:
    """Recall begins with the turn and is waited for where the prompt is built; it keeps its own time."""
    if context.recall is None or not context.persona.recalled:
        return None
    search = context.recall.recall(said["soul_id"], said["text"], _CANDIDATES)
    return asyncio.create_task(search, name=f"recall {said['turn_id']}")

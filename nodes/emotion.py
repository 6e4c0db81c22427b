"""What does the user feel?"""

import asyncio

from langgraph.runtime import Runtime

from soulgraph.errors import SenseUnavailable
from soulgraph.graph.context import Context
from soulgraph.graph.state import TurnState
from soulgraph.soul.dynamics import UserEmotion
from soulgraph.soul.emotions import PROTOTYPES

_PATIENCE_S = 1.5
UNKNOWN = UserEmotion("neutral", *PROTOTYPES["neutral"], intensity=0.0, confidence=0.0)


async def emotion(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """A recogniser that fails or dawdles leaves the soul unmoved, and the answer says so."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return {"user_emotion": await runtime.context.emotions.recognise(state["said"]["text"])}
    except (TimeoutError, SenseUnavailable):
        return {"user_emotion": UNKNOWN}

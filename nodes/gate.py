"""Will the soul act, given how it feels?"""

from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import TurnState
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import Traits


async def gate(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    heard = state["heard"]
    traits = Traits.from_dict(heard.soul.personality_vector)
    return {"gate": judge(traits, heard.soul_emotion, runtime.context.clock())}


async def act_or_talk(state: TurnState) -> Literal["intent_action", "persona_context"]:
    """A matched intent is acted on, or asked about, when the soul is able to; everything else is talked about."""
    able = state["gate"].exec_mode == "auto_execute"
    return "intent_action" if able and state["filtered"].intents else "persona_context"

"""The soul says nothing. That is an outcome like any other; a line of telemetry is all that is left of it."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import ProactiveState


async def stay_silent(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    moment = state.get("moment")
    runtime.context.telemetry.emit(
        "life.silent",
        soul_id=state["soul_id"],
        session_id=moment.session.session_id if moment else None,
        reason=state["silence"],
        sources=state.get("sources", []),
    )
    return {}

"""The soul says nothing: a line of telemetry says why."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import ProactiveState


async def stay_silent(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    occasion = state.get("occasion")
    runtime.context.telemetry.emit(
        "life.silent",
        soul_id=state["soul_id"],
        session_id=occasion.session.session_id if occasion else None,
        reason=state["silence"],
        silenced_by=state.get("silenced_by", "rule"),
        sources=state.get("sources", []),
    )
    return {}

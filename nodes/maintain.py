"""Tidying up after a turn: old items of the profile fade, what proved useful is counted, too much is let go."""

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import AfterglowState
from soulgraph.soul import maintenance
from soulgraph.soul.moments import iso

_JOBS_KEPT_S = 7 * 86_400


async def maintain(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Every so many turns of the soul."""
    follow_up, context, now = state["follow_up"], runtime.context, runtime.context.clock()
    if follow_up["soul_turn"] % context.persona.maintain_every:
        return state
    async with context.stores.write() as tx:
        soul = await tx.souls.lock(follow_up["soul_id"])
        await tx.souls.grow(soul.soul_id, maintenance.maintain(soul.dynamic_profile, iso(now)), now)
        await tx.outbox.prune(soul.soul_id, now - _JOBS_KEPT_S)
    if context.events and context.max_events:
        await context.events.tidy(context.max_events)
    return state

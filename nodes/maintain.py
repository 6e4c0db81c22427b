"""Tidying up after a turn: old items of the profile fade, what proved useful is counted, too much is let go."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.soul import maintenance
from soulgraph.soul.timestamps import iso

_JOBS_KEPT_S = 7 * 86_400


async def maintain(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    follow_up, context = state["follow_up"], runtime.context
    await _count_what_served(follow_up, context)
    if follow_up["soul_turn"] % context.persona.maintain_every == 0:
        await _tidy(follow_up["soul_id"], context)
    return state


async def _count_what_served(follow_up: FollowUp, context: Context) -> None:
    """Repeated after a crash it may be counted twice, which moves a ranking by next to nothing."""
    async with context.stores.read() as tx:
        turns = await tx.turns.of([follow_up["turn_id"]])
    answer = turns[0].answer if turns else None
    if answer and answer["persona"]["memory_hits"] and context.recall:
        await context.recall.proved_useful(follow_up["soul_id"], answer["persona"]["sources"], answer["reply"])


async def _tidy(soul_id: str, context: Context) -> None:
    now = context.clock()
    async with context.stores.write() as tx:
        soul = await tx.souls.lock(soul_id)
        await tx.souls.grow(soul_id, maintenance.maintain(soul.dynamic_profile, iso(now)), now)
        await tx.outbox.prune(soul_id, now - _JOBS_KEPT_S)
    if context.events and context.max_events:
        await context.events.tidy(context.max_events)

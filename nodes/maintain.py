"""Tidies up after a turn: counts which memories served, ages the profile, drops superfluous events."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.soul import maintenance
from soulgraph.soul.timestamps import iso


async def maintain(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    follow_up = state["follow_up"]
    context = runtime.context
    await _count_useful_memories(follow_up, context)
    if follow_up["soul_turn"] % context.persona.maintain_every == 0:
        await _tidy(follow_up["soul_id"], context)
    return state


async def _count_useful_memories(follow_up: FollowUp, context: Context) -> None:
    """Repeated after a crash it may count twice, which hardly moves a ranking."""
    async with context.stores.read() as tx:
        turns = await tx.turns.of([follow_up["turn_id"]])
    answer = turns[0].answer if turns else None
    recall = context.memory.recall
    if answer and answer["persona"]["memory_hits"] and recall:
        await recall.record_useful(follow_up["soul_id"], answer["persona"]["sources"], answer["reply"])


async def _tidy(soul_id: str, context: Context) -> None:
    now = context.clock()
    async with context.stores.write() as tx:
        soul = await tx.souls.lock(soul_id)
        await tx.souls.grow(soul_id, maintenance.maintain(soul.dynamic_profile, iso(now)), now)
    events = context.memory.events
    if events and context.limits.max_events:
        await events.tidy(context.limits.max_events)

"""The ways to a person who has said nothing: the terminals at which they usually are."""

import asyncio

from soulgraph.nodes.context import Context
from soulgraph.terminals.payloads import Proactive


async def tell_terminals(payload: Proactive, user_id: str, context: Context) -> list[str]:
    """Send it to every terminal of the soul at which the person usually is, and which is online.

    Returns those for which the broker has it.
    """
    hub = context.outlets.hub
    if hub is None:
        return []
    async with context.stores.read() as tx:
        everywhere = await tx.terminals.awake(payload.ts)
    pair = payload.soul_id, user_id
    awake = [one.terminal_id for one in everywhere if (one.soul_id, one.user_id) == pair]
    delivered = await asyncio.gather(*(hub.proactive(terminal, payload) for terminal in awake))
    return [terminal for terminal, has_it in zip(awake, delivered, strict=True) if has_it]

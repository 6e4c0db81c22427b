"""Who can be spoken to right now: through a stream or socket on any server, or a terminal of theirs."""

from soulgraph.runtime.listeners import Listeners
from soulgraph.stores.proactive_schedules import Pair
from soulgraph.stores.stores import Transaction


async def reachable_people(tx: Transaction, listeners: Listeners, now: float, with_terminals: bool) -> set[Pair]:
    """The souls and people with an online terminal or a listener."""
    awake = await tx.terminals.awake(now) if with_terminals else []
    heard = [await _listening(tx, *one) for one in listeners.subscriptions]
    return {(one.soul_id, one.user_id) for one in awake} | {pair for pair in heard if pair}


async def _listening(tx: Transaction, soul_id: str, user_id: str | None) -> Pair | None:
    """Who hears a listener: its person, else the one who has talked with the soul last."""
    if user_id is not None:
        return soul_id, user_id
    latest = await tx.sessions.all(soul_id, limit=1)
    return (soul_id, latest[0].user_id) if latest else None

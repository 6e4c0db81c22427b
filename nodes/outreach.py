"""The ways to a person who has said nothing: the terminals at which they usually are, and their streams and sockets.

What is to be said is stored first, together with a job that delivers it later: it is dropped once somebody has it. If
the server dies in between, a worker of any server does the job, under the same `delivery_id`.
"""

import asyncio
from typing import NamedTuple

from soulgraph.nodes.context import Context
from soulgraph.stores.records import Job
from soulgraph.terminals.payloads import Proactive

DELIVERY = "delivery"
"""The kind of such a job."""
LEASE_S = 10.0
_RETRY_S, _GIVE_UP_S = 5.0, 600.0


class Delivered(NamedTuple):
    """The terminals for which the broker has it, and how many streams and sockets have been told."""

    terminals: list[str]
    streams: int


async def can_reach(soul_id: str, user_id: str, context: Context) -> bool:
    """Whether anybody would hear what the soul says to this person now."""
    return context.outlets.listeners.reaches(soul_id, user_id) > 0 or bool(
        await _terminals(soul_id, user_id, context.clock(), context)
    )


async def deliver(payload: Proactive, user_id: str, context: Context) -> Delivered:
    """Send a stored message to the person, and drop the job for it if anybody has it now."""
    terminals = await tell_terminals(payload, user_id, context)
    streams = context.outlets.listeners.tell(payload.soul_id, user_id, "proactive", payload.model_dump())
    if terminals or streams:
        async with context.stores.write() as tx:
            await tx.outbox.drop(payload.session_id, payload.delivery_id)
    return Delivered(terminals, streams)


async def run_delivery(job: Job, context: Context) -> None:
    """Send what another server has stored and not sent, or not been able to; for some minutes until somebody hears it.

    After that it is only in the transcript, like one that was taken back meanwhile is nowhere.
    """
    async with context.stores.read() as tx:
        message = await tx.messages.by_turn(job.session_id, job.turn_id)
    if message is None:
        return
    payload = Proactive(
        session_id=job.session_id,
        soul_id=job.soul_id,
        text=message.content,
        delivery_id=job.turn_id,
        ts=message.created_at,
    )
    terminals, streams = await deliver(payload, job.payload["user_id"], context)
    now = context.clock()
    if not terminals and not streams and now < job.created_at + _GIVE_UP_S:
        async with context.stores.write() as tx:
            await tx.outbox.reschedule(job, now + _RETRY_S, "nobody could be reached", counted=False)


async def tell_terminals(payload: Proactive, user_id: str, context: Context) -> list[str]:
    """Send it to every terminal of the soul at which the person usually is, and which is online.

    Returns those for which the broker has it.
    """
    hub = context.outlets.hub
    if hub is None:
        return []
    awake = await _terminals(payload.soul_id, user_id, context.clock(), context)
    delivered = await asyncio.gather(*(hub.proactive(terminal, payload) for terminal in awake))
    return [terminal for terminal, has_it in zip(awake, delivered, strict=True) if has_it]


async def _terminals(soul_id: str, user_id: str, at: float, context: Context) -> list[str]:
    """Those of the soul that are online and at which the person usually is."""
    if context.outlets.hub is None:
        return []
    async with context.stores.read() as tx:
        everywhere = await tx.terminals.awake(at)
    return [one.terminal_id for one in everywhere if (one.soul_id, one.user_id) == (soul_id, user_id)]

"""What model calls cost is written down, and what nobody waits for stops when a soul's day is spent."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime, time, timedelta

from soulgraph.errors import BudgetExhausted, NotFound, StoreUnavailable
from soulgraph.nodes.context import Context
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import DailyUsage, UsageKind
from soulgraph.stores.stores import Transaction
from soulgraph.voices.usage import Meter, Usage, metered

_log = logging.getLogger(__name__)


def today(context: Context) -> str:
    """The day that is written to, as the users' calendars show it."""
    return context.local_time().date().isoformat()


def resets_at(context: Context) -> float:
    """The next midnight of the users' clocks."""
    tomorrow = context.local_time().date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), context.timezone).timestamp()


def exhausted(context: Context, spent: int) -> bool:
    return 0 < context.daily_tokens <= spent


async def charge(tx: Transaction, context: Context, soul_id: str, kind: UsageKind, usage: Usage) -> None:
    if usage:
        await tx.usage.add(DailyUsage(soul_id, today(context), kind, **asdict(usage)))


@asynccontextmanager
async def metering(context: Context, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
    """Counts the model calls inside and writes down what nobody else has written, also after a failure."""
    try:
        with metered() as meter:
            yield
    finally:
        context.observe_usage(soul_id, kind, meter.spent)
        await _write_down(context, soul_id, kind, meter)


@asynccontextmanager
async def background(context: Context, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
    """For model calls that nobody waits for: they are the first to stop, and never begin on a day that is spent."""
    await _check(context, soul_id, kind)
    async with metering(context, soul_id, kind):
        yield


async def _check(context: Context, soul_id: str, kind: UsageKind) -> None:
    if not context.daily_tokens:
        return
    async with context.stores.read() as tx:
        spent = await tx.usage.spent(soul_id, today(context))
    if not exhausted(context, spent):
        return
    reset = resets_at(context)
    context.telemetry.emit("budget.stopped", soul_id=soul_id, kind=kind, spent=spent, resets_at=iso(reset))
    raise BudgetExhausted(
        f"the soul has used {spent} of its {context.daily_tokens} tokens today, so {kind} waits until {iso(reset)}; "
        "SOULGRAPH_DAILY_TOKENS raises the limit",
        reset,
    )


async def _write_down(context: Context, soul_id: str, kind: UsageKind, meter: Meter) -> None:
    """Books that cannot be kept change nothing about what was done, or about the error it ended with."""
    if not meter.unwritten:
        return
    try:
        async with context.stores.write() as tx:
            await tx.souls.get(soul_id)
            await charge(tx, context, soul_id, kind, meter.unwritten)
    except NotFound:
        _log.debug("soul %s is gone, and its books with it", soul_id)
    except StoreUnavailable as error:
        _log.warning("the cost of a %s of soul %s is not written down: %s", kind, soul_id, error)

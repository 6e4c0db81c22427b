"""The token budget: stores what model calls cost, and stops background work of a soul that has reached its limit."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, time, timedelta, tzinfo

from soulgraph.errors import BudgetExhausted, NotFound, StoreUnavailable
from soulgraph.nodes.context import Telemetry
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import DailyUsage, UsageKind
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.voices.usage import Meter, Usage, metered

ObserveUsage = Callable[[str, UsageKind, Usage], None]

_log = logging.getLogger(__name__)


def unobserved(soul_id: str, kind: UsageKind, usage: Usage) -> None:
    """The default observer; does nothing."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """`daily_tokens` is the limit per soul and day; 0 means no limit. Days begin at midnight in `timezone`."""

    stores: Stores
    telemetry: Telemetry
    clock: Callable[[], float]
    timezone: tzinfo | None = None
    daily_tokens: int = 0
    observe: ObserveUsage = unobserved

    def today(self) -> str:
        return self._local_time().date().isoformat()

    def resets_at(self) -> float:
        """The next midnight in `timezone`, in epoch seconds."""
        tomorrow = self._local_time().date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), self.timezone).timestamp()

    def exhausted(self, spent: int) -> bool:
        return 0 < self.daily_tokens <= spent

    async def charge(self, tx: Transaction, soul_id: str, kind: UsageKind, usage: Usage) -> None:
        """Add this usage to today's row of the soul."""
        if usage:
            await tx.usage.add(DailyUsage(soul_id, self.today(), kind, **asdict(usage)))

    @asynccontextmanager
    async def metering(self, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
        """Count the model calls in the block and store what was not charged in it, also after a failure."""
        try:
            with metered() as meter:
                yield
        finally:
            self.observe(soul_id, kind, meter.spent)
            await self._charge_rest(soul_id, kind, meter)

    @asynccontextmanager
    async def background(self, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
        """`metering` for calls that no user waits for; raises BudgetExhausted if today's tokens are used up."""
        await self._refuse_if_exhausted(soul_id, kind)
        async with self.metering(soul_id, kind):
            yield

    async def _refuse_if_exhausted(self, soul_id: str, kind: UsageKind) -> None:
        if not self.daily_tokens:
            return
        async with self.stores.read() as tx:
            spent = await tx.usage.spent(soul_id, self.today())
        if not self.exhausted(spent):
            return
        reset = self.resets_at()
        self.telemetry.emit("budget.stopped", soul_id=soul_id, kind=kind, spent=spent, resets_at=iso(reset))
        raise BudgetExhausted(
            f"the soul has used {spent} of its {self.daily_tokens} tokens today, so {kind} waits until {iso(reset)}; "
            "SOULGRAPH_DAILY_TOKENS raises the limit",
            reset,
        )

    async def _charge_rest(self, soul_id: str, kind: UsageKind, meter: Meter) -> None:
        """Store what was not charged yet.

        A failure here is only logged: it must hide neither the result of the metered work nor its error.
        """
        if not meter.unwritten:
            return
        try:
            async with self.stores.write() as tx:
                await tx.souls.get(soul_id)
                await self.charge(tx, soul_id, kind, meter.unwritten)
        except NotFound:
            _log.debug("soul %s is gone, and its costs with it", soul_id)
        except StoreUnavailable as error:
            _log.warning("the cost of a %s of soul %s is not written down: %s", kind, soul_id, error)

    def _local_time(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), self.timezone)

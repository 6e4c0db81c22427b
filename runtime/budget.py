"""Counts what model calls cost, writes it down, and stops background work when a soul's day is spent."""

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
    """For those who keep no metrics."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """`daily_tokens` is the limit of a soul and day; 0 is no limit. Days are those of the users' clocks."""

    stores: Stores
    telemetry: Telemetry
    clock: Callable[[], float]
    timezone: tzinfo | None = None
    daily_tokens: int = 0
    observe: ObserveUsage = unobserved

    def today(self) -> str:
        return self._local_time().date().isoformat()

    def resets_at(self) -> float:
        """The next midnight of the users' clocks."""
        tomorrow = self._local_time().date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), self.timezone).timestamp()

    def exhausted(self, spent: int) -> bool:
        return 0 < self.daily_tokens <= spent

    async def charge(self, tx: Transaction, soul_id: str, kind: UsageKind, usage: Usage) -> None:
        if usage:
            await tx.usage.add(DailyUsage(soul_id, self.today(), kind, **asdict(usage)))

    @asynccontextmanager
    async def metering(self, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
        """Counts the model calls inside and writes down what nobody else has written, also after a failure."""
        try:
            with metered() as meter:
                yield
        finally:
            self.observe(soul_id, kind, meter.spent)
            await self._write_down(soul_id, kind, meter)

    @asynccontextmanager
    async def background(self, soul_id: str, kind: UsageKind) -> AsyncIterator[None]:
        """For model calls that nobody waits for: they do not begin on a day that is spent."""
        await self._check(soul_id, kind)
        async with self.metering(soul_id, kind):
            yield

    async def _check(self, soul_id: str, kind: UsageKind) -> None:
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

    async def _write_down(self, soul_id: str, kind: UsageKind, meter: Meter) -> None:
        """A cost that cannot be stored changes nothing about what was done, or about the error it ended with."""
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

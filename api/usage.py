"""The token usage of a soul by day and kind of model call, and the state of its budget."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from soulgraph.api.auth import Owner
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.runtime.budget import TokenBudget
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import DailyUsage, UsageKind
from soulgraph.voices.usage import Usage

router = APIRouter(prefix="/v1/souls/{soul_id}/usage", tags=["souls"])


class DayOut(BaseModel):
    day: str
    kind: UsageKind
    calls: int
    input_tokens: int
    output_tokens: int


class BudgetOut(BaseModel):
    """`background` is `stopped` while today's tokens are used up. `daily_tokens` 0 means no limit."""

    daily_tokens: int
    spent_today: int
    background: Literal["open", "stopped"]
    resets_at: str

    @classmethod
    def of(cls, budget: TokenBudget, spent: int) -> "BudgetOut":
        return cls(
            daily_tokens=budget.daily_tokens,
            spent_today=spent,
            background="stopped" if budget.exhausted(spent) else "open",
            resets_at=iso(budget.resets_at()),
        )


class UsageOut(BaseModel):
    soul_id: str
    days: list[DayOut]
    totals: dict[UsageKind, Usage]
    budget: BudgetOut


@router.get("")
async def read_usage(
    soul_id: Id, caller: Owner, services: Served, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> UsageOut:
    """Read the usage of the last `days` days, today included, the newest day first; with totals and the budget."""
    since = services.context.local_time().date() - timedelta(days=days - 1)
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        rows = await tx.usage.of(soul_id, since.isoformat())
        spent = await tx.usage.spent(soul_id, services.budget.today())
    return UsageOut(
        soul_id=soul_id,
        days=[DayOut(**asdict(row)) for row in rows],
        totals=_totals(rows),
        budget=BudgetOut.of(services.budget, spent),
    )


def _totals(rows: Sequence[DailyUsage]) -> dict[UsageKind, Usage]:
    totals: dict[UsageKind, Usage] = defaultdict(Usage)
    for row in rows:
        totals[row.kind] += Usage(row.calls, row.input_tokens, row.output_tokens)
    return totals

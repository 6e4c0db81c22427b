"""Plans as a source of memory: those that are still to come and have to do with what is said."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from soulgraph.memory.source import Query
from soulgraph.senses.tokenizer import terms_of
from soulgraph.stores.records import Plan
from soulgraph.stores.stores import Stores, Transaction


@dataclass(frozen=True, slots=True)
class RecalledPlan:
    plan: Plan
    score: float

    @property
    def source_id(self) -> str:
        return self.plan.plan_id


class PlanSource:
    kind = "plan"

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def search(self, query: Query) -> list[RecalledPlan]:
        """Those that share words with the query; they are few, so that all of them are read."""
        terms = set(terms_of(query.text))
        plans = await self._active(query)
        scored = [RecalledPlan(plan, _share(terms, plan.content)) for plan in plans]
        found = [one for one in scored if one.score]
        return sorted(found, key=lambda one: (-one.score, one.plan.due or query.now))[: query.k]

    async def _active(self, query: Query) -> Sequence[Plan]:
        async with self._stores.read() as tx:
            if query.audience is None:
                return await tx.plans.page(query.soul_id, None, ["open", "unsure"])
            found = [await tx.plans.active(query.soul_id, query.audience, one) for one in sorted(query.audience)]
        return list({plan.plan_id: plan for plans in found for plan in plans}.values())

    async def texts(self, soul_id: str, ids: Collection[str]) -> Mapping[str, str]:
        async with self._stores.read() as tx:
            return {plan.plan_id: plan.content for plan in await tx.plans.named(soul_id, ids)}

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        """Plans are not ranked by their use: when they are due says how much they matter."""


def _share(terms: set[str], content: str) -> float:
    """The share of the plan's words that are in the query."""
    words = set(terms_of(content))
    return len(words & terms) / len(words) if words else 0.0

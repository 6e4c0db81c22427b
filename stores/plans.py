"""Plans: reminders, what lies ahead of people, and what souls have promised them.

A reminder that is due is claimed by one server: the claim is a lease that ends at `next_at`, and gives it a new
`delivery_id`, by which a server whose lease has ended is recognised. The message that says it is stored together with
the status `delivered`; `next_at` is kept until it was also sent, so that a server that dies in between loses nothing.
"""

from collections.abc import Collection
from functools import cache
from typing import Any
from uuid import uuid4

from sqlalchemy import Select, and_, bindparam, delete, func, or_, select, tuple_, union_all, update

from soulgraph.soul.people import may_know
from soulgraph.soul.plan_times import GRACE_S, PlanStatus
from soulgraph.stores import schema_plans
from soulgraph.stores.columns import is_shared
from soulgraph.stores.memory import OwnedRows
from soulgraph.stores.proactive_schedules import Pair, bound_parts
from soulgraph.stores.records import Plan
from soulgraph.stores.repository import fields_of

LEASE_S = 60.0
_ACTIVE: tuple[PlanStatus, ...] = ("open", "unsure", "delivering")
_MAX_ACTIVE = 200


class Plans(OwnedRows[Plan]):
    table = schema_plans.plans
    record = Plan
    name = "plan_id"
    kind = "plan"

    async def page(
        self,
        soul_id: str,
        user_id: str | None,
        statuses: Collection[PlanStatus] = (),
        since: float | None = None,
        until: float | None = None,
        limit: int = 200,
    ) -> list[Plan]:
        """Plans of a person, or of everybody, by when they are due; those without a time come last."""
        row = self.table.c
        query = self._rows().where(row.soul_id == soul_id)
        query = query if user_id is None else query.where(row.user_id == user_id)
        query = query.where(row.status.in_(statuses)) if statuses else query
        query = query if since is None else query.where(row.due >= since)
        query = query if until is None else query.where(row.due < until)
        return await self._all(query.order_by(row.due.is_(None), row.due, row.plan_id).limit(limit))

    async def named(self, soul_id: str, plan_ids: Collection[str]) -> list[Plan]:
        """Those with these ids, whosever they are."""
        query = self._rows("soul_id").where(self.table.c.plan_id.in_(sorted(plan_ids)))
        return await self._all(query, soul_id=soul_id)

    async def active(self, soul_id: str, audience: Collection[str], speaker: str) -> list[Plan]:
        """Those of the speaker that are still to come or may still be spoken of, as far as the audience may know."""
        active = await self._all(self._active(), soul_id=soul_id, user_id=speaker)
        theirs_first = sorted(active, key=lambda plan: plan.user_id != speaker)
        return [plan for plan in theirs_first if may_know(audience, plan.user_id, plan.shared_with)]

    async def next_due(self) -> float | None:
        """When a server has to look at any plan next."""
        due: float | None = (await self._connection.execute(select(func.min(self.table.c.next_at)))).scalar()
        return due

    async def claim(self, pairs: Collection[Pair], now: float, limit: int) -> list[Plan]:
        """Claim up to `limit` plans of these souls and people that are due, as they are now.

        The longest due come first, among some hundreds of pairs. Those that another server is claiming are skipped. A
        lease that ends later than any can was given before the clock was put back, and counts as ended.
        """
        due: list[Plan] = []
        times = {"now": now, "latest": now + LEASE_S}
        for part in bound_parts(pairs):
            due += await self._all(self._due_of_pairs(), **part, **times, count=limit - len(due))
            if len(due) == limit:
                break
        keys = [(plan.soul_id, plan.plan_id) for plan in due]
        for plan in due:
            # What is stored already keeps its id: it is only to be sent.
            new = {} if plan.status == "delivered" else {"status": "delivering", "delivery_id": f"life_{uuid4().hex}"}
            key = {"soul_id": plan.soul_id, "plan_id": plan.plan_id}
            await self._set(key, next_at=now + LEASE_S, **new)
        claimed = [await self._first(self._rows("soul_id", "plan_id"), soul_id=one, plan_id=two) for one, two in keys]
        return [plan for plan in claimed if plan]

    # The next three change a claimed plan. They return False, and change nothing, if the claim was lost.

    async def said(self, claimed: Plan, session_id: str, now: float) -> bool:
        """It was said in this session: to be called in the transaction that stores the message."""
        values = {"status": "delivered", "session_id": session_id, "delivered_at": now, "updated_at": now}
        return await self._set_claimed(claimed, "delivering", **values)

    async def sent(self, claimed: Plan, following: Plan | None) -> bool:
        """It was sent, too; `following` is the same plan at its next time if it recurs."""
        values = _times(following) | {"status": "open"} if following else {"next_at": None}
        return await self._set_claimed(claimed, "delivered", **values)

    async def release(self, claimed: Plan, next_at: float) -> bool:
        """Give the claim back, to be looked at again then."""
        return await self._set_claimed(claimed, "delivering", status="open", next_at=next_at)

    async def said_in_turn(self, plan: Plan, following: Plan | None, session_id: str, turn_id: str, now: float) -> bool:
        """It was said in a reply, because nobody was there when it was due; False if it was said already."""
        keys = {"soul_id": plan.soul_id, "plan_id": plan.plan_id, "status": "open", "due": plan.due}
        said = {"session_id": session_id, "delivery_id": turn_id, "delivered_at": now, "updated_at": now}
        if following is None:
            return await self._set(keys, **said, status="delivered", next_at=None)
        return await self._set(keys, **said, **_times(following))

    async def miss(self, now: float) -> None:
        """Give up what could not be said for too long."""
        row = self.table.c
        late = row.next_at < now - GRACE_S, row.status == "open", row.recurs == ""
        await self._connection.execute(update(self.table).where(*late).values(status="missed", next_at=None))

    async def forget(self, soul_id: str, message_ids: Collection[int]) -> None:
        """Delete what is still to come and was said in these messages: they were taken back."""
        row = self.table.c
        found = select(row.plan_id, row.evidence).where(row.soul_id == soul_id, row.status.in_(_ACTIVE))
        gone = {*message_ids}
        rows = (await self._connection.execute(found)).all()
        plan_ids = [row.plan_id for row in rows if row.evidence and gone.issuperset(row.evidence)]
        if plan_ids:
            await self._connection.execute(delete(self.table).where(row.soul_id == soul_id, row.plan_id.in_(plan_ids)))

    async def to_follow_up(self, soul_id: str, user_id: str, now: float) -> list[Plan]:
        """Plans of the person that are over, and of which nobody has spoken since; the last first."""
        row = self.table.c
        query = self._rows("soul_id", "user_id", "status").where(
            row.follow_up_at <= now, row.follow_up_at > now - GRACE_S
        )
        query = query.order_by(row.follow_up_at.desc(), row.plan_id).limit(5)
        return await self._all(query, soul_id=soul_id, user_id=user_id, status="open")

    async def followed_up(self, plan: Plan, now: float) -> bool:
        """It was spoken of after it was over; one that was asked about already is left as it is."""
        keys = {"soul_id": plan.soul_id, "plan_id": plan.plan_id, "status": "open"}
        return await self._set(keys, status="done", follow_up_at=None, updated_at=now)

    async def replace(self, plan: Plan) -> None:
        await self._set({"soul_id": plan.soul_id, "plan_id": plan.plan_id}, **_changeable(plan))

    async def _set_claimed(self, plan: Plan, claimed_as: PlanStatus, **values: Any) -> bool:
        keys = {"soul_id": plan.soul_id, "plan_id": plan.plan_id}
        keys |= {"status": claimed_as, "delivery_id": plan.delivery_id}
        return await self._set(keys, **values)

    @classmethod
    @cache
    def _active(cls) -> Select[Any]:
        """Each half by its own index, and within its own limit."""
        row = cls.table.c
        own = cls._rows("soul_id", "user_id")
        shared = cls._rows("soul_id").where(row.user_id != bindparam("user_id"), is_shared(cls.table))
        halves = [
            select(half.where(row.status.in_(_ACTIVE)).order_by(row.due, row.plan_id).limit(_MAX_ACTIVE).subquery())
            for half in (own, shared)
        ]
        both = union_all(*halves).subquery()
        return select(both).order_by(both.c.due, both.c.plan_id)

    @classmethod
    @cache
    def _due_of_pairs(cls) -> Select[Any]:
        """The souls are bound too, because SQLite uses no index for pairs."""
        row = cls.table.c
        leased = row.status.in_(("delivering", "delivered"))
        due = or_(row.next_at <= bindparam("now"), and_(leased, row.next_at > bindparam("latest")))
        of_souls = cls._rows().where(row.soul_id.in_(bindparam("souls", expanding=True)), due)
        of_pairs = of_souls.where(tuple_(row.soul_id, row.user_id).in_(bindparam("pairs", expanding=True)))
        return of_pairs.order_by(row.next_at, row.plan_id).limit(bindparam("count")).with_for_update(skip_locked=True)


def _times(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in ("due", "ends", "next_at", "zone")}


def _changeable(plan: Plan) -> dict[str, Any]:
    return {name: value for name, value in fields_of(plan).items() if name not in ("soul_id", "plan_id")}

"""Plans as they are stored: made from what was found in words, moved to other times, and set to their next time."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import cast

from soulgraph.senses.plans.finding import FoundPlan
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.plan_times import (
    PlanGrain,
    PlanStatus,
    Recurs,
    follow_up_time,
    local_time,
    moment,
    next_time,
    saying_time,
    zone_of,
)
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Plan

TIME_ZONE = "time_zone"
"""The key of the preference that says in which zone a person lives."""


@dataclass(frozen=True, slots=True)
class When:
    """A range of wall time in a zone, whose name may be empty for the server's."""

    begins: datetime
    ends: datetime
    grain: PlanGrain
    recurs: Recurs
    zone: str


def new_plan(
    found: FoundPlan,
    soul_id: str,
    user_id: str,
    now: float,
    zone: str,
    default_zone: tzinfo | None,
    source: str = "pattern",
    shared_with: Collection[str] = (),
) -> Plan:
    """A plan that was just found or made; without a time it waits to be asked about."""
    plan = Plan(
        soul_id=soul_id,
        plan_id=new_id("plan"),
        user_id=user_id,
        kind=found.kind,
        content=found.content,
        status="unsure" if found.unsure else "open",
        due=None,
        ends=None,
        local_due="",
        zone=zone,
        grain=found.grain,
        recurs=cast(Recurs, found.recurs),
        source=source,
        session_id="",
        evidence=[],
        next_at=None,
        follow_up_at=None,
        delivered_at=None,
        delivery_id="",
        created_at=now,
        updated_at=now,
        shared_with=tuple(shared_with),
    )
    if found.begins is None or found.ends is None:
        return plan
    when = When(found.begins, found.ends, found.grain, cast(Recurs, found.recurs), zone)
    return scheduled(plan, when, plan.status, now, default_zone)


def scheduled(plan: Plan, when: When, status: PlanStatus, now: float, default_zone: tzinfo | None) -> Plan:
    """The plan at this time. What the person plans is never said to them: it is asked about when it is over."""
    zone = zone_of(when.zone, default_zone)
    is_said = plan.kind != "plan"
    said_at = saying_time(when.begins, when.ends, when.grain, local_time(now, zone)) if is_said else when.begins
    due = moment(said_at, zone)
    is_open = status == "open"
    return replace(
        plan,
        status=status,
        due=due,
        ends=max(moment(when.ends, zone), due),
        local_due=said_at.isoformat(),
        zone=when.zone,
        grain=when.grain,
        recurs=when.recurs,
        next_at=due if is_said and is_open else None,
        follow_up_at=None if is_said or not is_open else moment(follow_up_time(when.ends), zone),
        updated_at=now,
    )


def next_occurrence(plan: Plan, now: float, default_zone: tzinfo | None) -> Plan | None:
    """The same plan at its next time, after now and after its last one; None if it does not recur."""
    if not plan.recurs or plan.due is None:
        return None
    zone = zone_of(plan.zone, default_zone)
    after = max(local_time(now, zone), local_time(plan.due, zone))
    due = moment(next_time(datetime.fromisoformat(plan.local_due), plan.recurs, after), zone)
    length = (plan.ends or plan.due) - plan.due
    return replace(plan, status="open", due=due, ends=due + length, next_at=due)


def names_plan(text: str, plan: Plan) -> bool:
    """Whether the text has a word of what the plan is about."""
    terms = set(terms_of(plan.content))
    return not terms or bool(terms & set(terms_of(text)))

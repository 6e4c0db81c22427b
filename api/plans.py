"""Plans of people: reminders, what lies ahead of them, and what a soul has promised; theirs to see and to change."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, NaiveDatetime

from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import WRITTEN_TIME, Id, SharedWith
from soulgraph.api.memory import ShortText, sharing
from soulgraph.api.services import Served, Services
from soulgraph.nodes.plan_records import When, new_plan, scheduled
from soulgraph.nodes.plans import zone_name
from soulgraph.senses.plans.finding import FoundPlan
from soulgraph.soul.people import Visibility, visibility_of
from soulgraph.soul.plan_times import PlanGrain, PlanKind, PlanStatus, Recurs, is_zone
from soulgraph.soul.timestamps import check_time, iso
from soulgraph.stores.records import Plan
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/souls/{soul_id}/plans", tags=["memory"])

_LENGTHS: dict[str, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "part": timedelta(hours=6),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


def _check_zone(name: str) -> str:
    if not is_zone(name):
        raise ValueError(f"there is no time zone {name!r}: use a name like Europe/Berlin")
    return name


Zone = Annotated[
    str,
    Field(
        max_length=64, description="an IANA name; by default the person's", json_schema_extra={"format": "time-zone"}
    ),
    AfterValidator(_check_zone),
]
Grain = Literal["minute", "hour", "part", "day", "week"]
Wall = Annotated[
    NaiveDatetime,
    AfterValidator(check_time),
    WRITTEN_TIME,
    Field(description="wall time in `zone`, without an offset", json_schema_extra={"format": "date-time-local"}),
]


class PlanNew(Body):
    model_config = example({"kind": "reminder", "content": "take my pills", "at": "2027-01-15T19:00"})

    kind: PlanKind = "reminder"
    content: ShortText
    at: Wall
    zone: Zone | None = None
    grain: Grain = "minute"
    recurs: Recurs = ""
    shared_with: SharedWith = Field([])


class PlanEdit(Body):
    model_config = example({"at": "2027-01-15T20:00"}, {"status": "done"})

    read_only = frozenset({"plan_id", "user_id", "visibility", "due", "ends", "local_due", "source", "evidence"})

    content: ShortText | None = None
    at: Wall | None = None
    zone: Zone | None = None
    grain: Grain | None = None
    recurs: Recurs | None = None
    status: Literal["open", "done", "cancelled"] | None = None
    shared_with: SharedWith | None = None


class PlanOut(BaseModel):
    """`due` and `ends` are moments, `local_due` is the wall time in `zone` as it was said; none if no time is known."""

    plan_id: str
    kind: PlanKind
    content: str
    status: PlanStatus
    due: str | None
    ends: str | None
    local_due: str
    zone: str
    grain: PlanGrain
    recurs: Recurs
    source: str
    session_id: str
    evidence: list[int]
    follow_up_at: str | None
    delivered_at: str | None
    delivery_id: str
    user_id: str
    visibility: Visibility
    shared_with: list[str]
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, plan: Plan) -> Self:
        same = ("plan_id", "kind", "content", "status", "local_due", "zone", "grain", "recurs", "source", "session_id")
        times = ("due", "ends", "follow_up_at", "delivered_at", "created_at", "updated_at")
        return cls(
            **{name: getattr(plan, name) for name in (*same, "evidence", "delivery_id", "user_id")},
            **{name: _iso(getattr(plan, name)) for name in times},
            visibility=visibility_of(plan.shared_with),
            shared_with=list(plan.shared_with),
        )


def _iso(at: float | None) -> str | None:
    return None if at is None else iso(at)


@router.get("")
async def list_plans(
    soul_id: Id,
    caller: Reader,
    services: Served,
    status: Annotated[Sequence[PlanStatus], Query(description="any of these; by default all")] = (),
    since: Annotated[AwareDatetime | None, Query(alias="from", description="due at this time or later")] = None,
    until: Annotated[AwareDatetime | None, Query(alias="to", description="due before this time")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> list[PlanOut]:
    """List the plans of a person by when they are due; an owner who names nobody gets everybody's."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        range_ = since.timestamp() if since else None, until.timestamp() if until else None
        found = await tx.plans.page(soul_id, caller.person, status, *range_, limit)
    return [PlanOut.of(plan) for plan in found]


@router.get("/{plan_id}")
async def read_plan(soul_id: Id, plan_id: Id, caller: Reader, services: Served) -> PlanOut:
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        return PlanOut.of(await tx.plans.get(soul_id, caller.one_person, plan_id))


@router.post("", status_code=201)
async def create_plan(soul_id: Id, wanted: PlanNew, caller: Reader, services: Served) -> PlanOut:
    """Make a plan: a `reminder` or `promise` is said at that time, a `plan` may be asked about when it is over."""
    caller.check_soul(soul_id)
    person = caller.one_person
    now = services.now()
    ends = wanted.at + _LENGTHS[wanted.grain]
    found = FoundPlan(wanted.kind, wanted.content, wanted.at, ends, wanted.grain, wanted.recurs)
    default = services.context.timezone
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        zone = wanted.zone or await _zone_of(tx, soul_id, person, services)
        shared_with = sharing(person, wanted.shared_with)
        plan = new_plan(found, soul_id, person, now, zone, default, source="user", shared_with=shared_with)
        await tx.plans.put(plan)
    _tell(services, plan)
    return PlanOut.of(plan)


@router.patch("/{plan_id}")
async def change_plan(soul_id: Id, plan_id: Id, wanted: PlanEdit, caller: Reader, services: Served) -> PlanOut:
    """Correct, move, finish or cancel a plan; what is left out stays. One that is moved is open again."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        plan = _changed(await tx.plans.get(soul_id, caller.one_person, plan_id), wanted, services)
        await tx.plans.replace(plan)
    _tell(services, plan)
    return PlanOut.of(plan)


@router.delete("/{plan_id}", status_code=204)
async def delete_plan(soul_id: Id, plan_id: Id, caller: Reader, services: Served) -> None:
    """Delete a plan: nothing of it is kept. To keep it, set its status to `cancelled`."""
    caller.check_soul(soul_id)
    async with services.stores.write() as tx:
        await tx.souls.lock(soul_id)
        plan = await tx.plans.get(soul_id, caller.one_person, plan_id)
        await tx.plans.delete(soul_id, plan.user_id, plan_id)
    _tell(services, plan)


def _changed(plan: Plan, wanted: PlanEdit, services: Services) -> Plan:
    now = services.now()
    shared = plan.shared_with if wanted.shared_with is None else sharing(plan.user_id, wanted.shared_with)
    plan = replace(plan, content=wanted.content or plan.content, shared_with=shared, updated_at=now)
    if any(value is not None for value in (wanted.at, wanted.zone, wanted.grain, wanted.recurs)):
        plan = _moved(plan, wanted, services)
    if wanted.status == "open" and plan.status != "open" and plan.local_due:
        plan = _moved(replace(plan, status="open"), wanted, services)
    if wanted.status in ("done", "cancelled"):
        plan = replace(plan, status=wanted.status, next_at=None, follow_up_at=None)
    return plan


def _moved(plan: Plan, wanted: PlanEdit, services: Services) -> Plan:
    """At the time that is wanted, or still at its own."""
    at = wanted.at or (datetime.fromisoformat(plan.local_due) if plan.local_due else None)
    if at is None:
        return plan
    grain: PlanGrain = wanted.grain or ("minute" if wanted.at or plan.grain == "vague" else plan.grain)
    recurs: Recurs = plan.recurs if wanted.recurs is None else wanted.recurs
    when = When(at, at + _LENGTHS.get(grain, timedelta(days=1)), grain, recurs, wanted.zone or plan.zone)
    return scheduled(plan, when, "open", services.now(), services.context.timezone)


async def _zone_of(tx: Transaction, soul_id: str, person: str, services: Services) -> str:
    known = {one.key: one.value for one in await tx.preferences.of(soul_id, person)}
    return zone_name(services.context, known)


def _tell(services: Services, plan: Plan) -> None:
    data = {"soul_id": plan.soul_id}
    services.context.outlets.listeners.tell(plan.soul_id, plan.user_id, "plans_changed", data)

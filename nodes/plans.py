"""What a turn does with plans: finds them in what is said, settles open questions, and tells what is due or over.

Nothing is stored before the turn is: `keep_plans` does that in its transaction.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from soulgraph.nodes.context import Context
from soulgraph.nodes.outside import sources_of
from soulgraph.nodes.plan_records import TIME_ZONE, When, names_plan, new_plan, next_occurrence, scheduled
from soulgraph.nodes.quality import report_refusals
from soulgraph.nodes.state import Impact, TurnState
from soulgraph.nodes.turn_plans import Change, TurnPlans
from soulgraph.senses.plans.amendments import amendment_in, refers_to_last, time_for
from soulgraph.senses.plans.finding import FoundPlan, find_plans
from soulgraph.senses.planted import borrows
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.people import others
from soulgraph.soul.plan_times import is_zone, local_time, zone_of
from soulgraph.stores.records import Message, Plan
from soulgraph.stores.stores import Transaction

_SOON_S = 36 * 3600.0
_WAITING_S = 5.0  # so long the reminders themselves have to say it
_JUST_NOW_S = 3600.0  # what was spoken of then may be meant by "it"
_MAX_SHOWN = 6
_TOLD = re.compile(
    r"\b(?:went|was|were|passed|failed|finished|survived|done|did|over)\b|[完过]了|了\W*$|结束|通过", re.IGNORECASE
)


def zone_name(context: Context, preferences: dict[str, str]) -> str:
    """The zone of a person: as they prefer it, else the server's; empty for the machine's."""
    wished = preferences.get(TIME_ZONE, "")
    return wished if is_zone(wished) else str(getattr(context.timezone, "key", ""))


async def read_plans(
    tx: Transaction, state: TurnState, context: Context, recent: Sequence[Message], related: Sequence[str] = ()
) -> TurnPlans:
    """`recent` are the lines before; `related` the plans that what is said has to do with."""
    impact, utterance = state["impact"], state["utterance"]
    name = zone_name(context, impact.preferences)
    here = local_time(impact.at, zone_of(name, context.timezone))
    if context.persona.static:
        return TurnPlans(here, context.timezone)
    soul_id, user_id = utterance["soul_id"], utterance["user_id"]
    known = await tx.plans.active(soul_id, impact.session.audience, user_id)
    known = [plan for plan in known if not _taken_back(plan, utterance.get("replaces"))]
    own = [plan for plan in known if plan.user_id == user_id]
    changed = _changes(utterance["text"], own, impact, here, name, context.timezone)
    new = [] if changed else await _new(utterance["text"], own, impact, user_id, here, name, context, recent)
    return TurnPlans(here, context.timezone, new, changed, *_situation(known, own, impact.at, related))


def _situation(
    known: Sequence[Plan], own: Sequence[Plan], now: float, related: Sequence[str]
) -> tuple[list[Plan], list[Plan], list[Plan]]:
    """What is overdue, what lies ahead soon or has to do with what is said, and what is over."""
    said = [plan for plan in own if plan.kind != "plan" and plan.status == "open" and plan.due]
    waiting = [plan for plan in said if plan.due and plan.due <= now - _WAITING_S and plan.next_at is not None]
    over = [plan for plan in own if plan.follow_up_at is not None and plan.ends and plan.ends <= now]
    gone = {plan.plan_id for plan in (*waiting, *over)}
    soon = [plan for plan in known if plan.due and now - _SOON_S / 3 < plan.due < now + _SOON_S]
    near = [plan for plan in known if plan in soon or plan.plan_id in related]
    return waiting, [plan for plan in near if plan.plan_id not in gone][:_MAX_SHOWN], over[-2:]


def _taken_back(plan: Plan, replaced: int | None) -> bool:
    """Whether it was only said in what this turn replaces."""
    return replaced is not None and bool(plan.evidence) and min(plan.evidence) >= replaced


async def _new(
    text: str,
    own: Sequence[Plan],
    impact: Impact,
    user_id: str,
    here: datetime,
    zone: str,
    context: Context,
    recent: Sequence[Message],
) -> list[Plan]:
    before = [message.content for message in recent[-2:]]
    present = others(user_id, impact.session.audience)
    soul_id = impact.soul.soul_id
    found = [
        new_plan(one, soul_id, user_id, impact.at, zone, context.timezone, shared_with=present)
        for one in await context.senses.plans.find(text, here, "user", before)
    ]
    return [plan for plan in found if not any(_same(plan, one) for one in own)]


def _changes(
    text: str, own: Sequence[Plan], impact: Impact, here: datetime, zone: str, default: tzinfo | None
) -> list[Change]:
    asked = _asked_about(own, impact)
    amendment = amendment_in(text, answers=asked is not None)
    meant = _meant(text, own, impact, amendment == "cancel" or amendment == "move") or asked
    if asked and amendment is None and asked.due is None and not _asks_for_another(text, here, asked):
        amendment, meant = "confirm", asked
    if meant is None or amendment is None:
        return []
    if amendment in ("cancel", "deny"):
        off = replace(meant, status="cancelled", next_at=None, follow_up_at=None, updated_at=impact.at)
        return [Change("cancelled", off)]
    begins = datetime.fromisoformat(meant.local_due) if meant.local_due else None
    time = time_for(text, begins, meant.grain, here)
    if time and time.begins and time.ends:
        when = When(time.begins, time.ends, time.grain, meant.recurs or "", zone)
        moved = scheduled(meant, when, "open", impact.at, default)
        return [Change("moved" if begins else "confirmed", moved)]
    return [Change("confirmed", _settled(meant, impact.at))] if amendment == "confirm" and begins else []


def _asks_for_another(text: str, here: datetime, asked: Plan) -> bool:
    """Whether the text has a wish of its own, whose time is no answer to the question when the other is due."""
    known = set(terms_of(asked.content))
    wishes = [set(terms_of(one.content)) for one in find_plans(text, here) if one.kind == "reminder"]
    return any(words and not words & known for words in wishes)


def _settled(plan: Plan, now: float) -> Plan:
    """An unsure plan as it was found, from now on for certain."""
    is_said = plan.kind != "plan"
    follow_up = None if is_said or plan.ends is None else plan.ends + 3 * 3600.0
    return replace(plan, status="open", next_at=plan.due if is_said else None, follow_up_at=follow_up, updated_at=now)


def _asked_about(own: Sequence[Plan], impact: Impact) -> Plan | None:
    """The plan that the soul has asked about in this conversation just now."""
    unsure = [plan for plan in own if plan.status == "unsure" and plan.session_id == impact.session.session_id]
    recent = [plan for plan in unsure if impact.at - plan.updated_at < _JUST_NOW_S]
    return max(recent, key=lambda plan: plan.updated_at, default=None)


def _meant(text: str, own: Sequence[Plan], impact: Impact, changes: bool) -> Plan | None:
    """The plan whose words are named, else the one that was spoken of last, if that was just now."""
    if not changes:
        return None
    terms = set(terms_of(text))
    shared = {plan.plan_id: len(terms & set(terms_of(plan.content))) for plan in own}
    named = [plan for plan in own if shared[plan.plan_id]]
    if named:
        return max(named, key=lambda plan: (shared[plan.plan_id], plan.updated_at))
    recent = [plan for plan in own if impact.at - plan.updated_at < _JUST_NOW_S and refers_to_last(text)]
    return max(recent, key=lambda plan: plan.updated_at, default=None)


def _same(one: Plan, other: Plan) -> bool:
    """Whether both are about the same thing at the same time."""
    if one.due is None or other.due is None:
        return one.due is other.due and one.content == other.content
    near = abs(one.due - other.due) < 60 or (one.local_due[:10] == other.local_due[:10] and one.grain != other.grain)
    return near and bool(set(terms_of(one.content)) & set(terms_of(other.content)))


async def promised_in_reply(state: TurnState, context: Context) -> list[FoundPlan]:
    """What the soul promises in its reply, and not at the bidding of strangers."""
    plans = state.get("plans")
    if plans is None:
        return []
    found = await context.senses.plans.find(state["result"].reply, plans.here, "soul")
    sources = sources_of(state)._replace(replies=())
    kept = [promise for promise in found if not borrows(promise.content, sources)]
    utterance = state["utterance"]
    ids = {"session_id": utterance["session_id"], "soul_id": utterance["soul_id"], "turn_id": state["impact"].turn_id}
    report_refusals(context.telemetry, "promise", ["planted"] * (len(found) - len(kept)), **ids)
    return kept


async def keep_plans(
    tx: Transaction, state: TurnState, promises: Sequence[FoundPlan], message_ids: Sequence[int], now: float
) -> bool:
    """Store what the turn has found, changed, said and promised; True if anything was."""
    plans = state.get("plans")
    if plans is None:
        return False
    session_id, reply = state["impact"].session.session_id, state["result"].reply
    evidence = [message_ids[0]]
    for plan in plans.new:
        await tx.plans.put(replace(plan, session_id=session_id, evidence=evidence))
    for change in plans.changed:
        kept = replace(change.plan, session_id=session_id, evidence=[*change.plan.evidence, *evidence])
        await tx.plans.replace(kept)
    said = [plan for plan in plans.waiting if names_plan(reply, plan)]
    for plan in said:
        turn_id = state["impact"].turn_id
        await tx.plans.said_in_turn(plan, next_occurrence(plan, now, plans.zone), session_id, turn_id, now)
    text = state["utterance"]["text"]
    begun = [plan for plan in plans.ahead if plan.kind == "plan" and (plan.due or now) < now and _TOLD.search(text)]
    spoken_of = [*((plan, f"{text}\n{reply}") for plan in plans.over), *((plan, text) for plan in begun)]
    over = [plan for plan, words in spoken_of if names_plan(words, plan)]
    for plan in over:
        await tx.plans.followed_up(plan, now)
    promised = await _keep_promises(tx, state, plans, promises, message_ids[-1], now)
    return bool(plans.new or plans.changed or said or over or promised)


async def _keep_promises(
    tx: Transaction,
    state: TurnState,
    plans: TurnPlans,
    promises: Sequence[FoundPlan],
    message_id: int,
    now: float,
) -> bool:
    """What the soul has promised, unless that only confirms what was asked for."""
    utterance, impact = state["utterance"], state["impact"]
    user_id = utterance["user_id"]
    asked = [*plans.new, *(change.plan for change in plans.changed), *plans.ahead, *plans.waiting]
    present = others(user_id, impact.session.audience)
    promised = False
    for found in promises:
        zone = asked[0].zone if asked else str(getattr(plans.zone, "key", ""))
        plan = new_plan(found, utterance["soul_id"], user_id, now, zone, plans.zone, shared_with=present)
        if plan.due is None or any(_overlaps(plan, one) for one in asked):
            continue
        await tx.plans.put(replace(plan, session_id=impact.session.session_id, evidence=[message_id]))
        promised = True
    return promised


def _overlaps(one: Plan, other: Plan) -> bool:
    if one.due is None or other.due is None:
        return True
    return one.local_due[:10] == other.local_due[:10] and (one.grain != "minute" or abs(one.due - other.due) < 3600)

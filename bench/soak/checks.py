"""What must hold whatever happened, as a program finds it in the database and in what people were told.

`running` holds at any moment; `settled` only when everything that was to be done is done.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from soulgraph.bench.soak.ledger import Ledger
from soulgraph.bench.soak.stored import Stored, ids_in, texts_of
from soulgraph.soul.people import EVERYONE

SPOKEN_ALONE = "Thinking again"
"""So begins what the model of the soak says when nobody has asked."""


def running(stored: Stored, ledger: Ledger) -> list[str]:
    return [
        *pairs(stored),
        *acknowledged(stored, ledger),
        *order(stored, ledger),
        *once(stored),
        *events_once(stored),
        *reminders_once(stored, ledger),
        *heard_as_stored(stored, ledger),
        *foreign_memory(stored, ledger),
        *dead_jobs(stored),
    ]


def settled(stored: Stored, ledger: Ledger) -> list[str]:
    return [*running(stored, ledger), *pending(stored, ledger)]


def pending(stored: Stored, ledger: Ledger) -> list[str]:
    """What is still to be done, and in the end must be."""
    return [*open_jobs(stored, ledger), *reminders_said(stored, ledger)]


def pairs(stored: Stored) -> Iterator[str]:
    """A turn is what a person said and at once the answer; the number of turns is that of the session."""
    by_session = stored.by_session()
    for session in stored.sessions:
        told = by_session.get(session.session_id, [])
        yield from (f"{session.session_id}: {flaw}" for flaw in _unpaired(told, session.turn))


def _unpaired(told: list[Any], turns: int) -> Iterator[str]:
    spoken = [message for message in told if not message.proactive]
    for asked, answered in zip(spoken[::2], spoken[1::2], strict=False):
        if (asked.role, answered.role, asked.turn_id) != ("user", "assistant", answered.turn_id):
            yield f"{asked.message_id} and {answered.message_id} are no pair"
    for one, other in pairwise(told):
        if one.role == "user" and other.turn_id != one.turn_id:
            yield f"{other.message_id} stands between a question and its answer"
    if len(spoken) != 2 * turns:
        yield f"{len(spoken)} messages in {turns} turns"
    if len({message.turn_id for message in spoken}) != turns:
        yield "a turn is there twice"


def acknowledged(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Everything that was acknowledged is stored as it was said and answered."""
    turns = stored.by_turn()
    for one in ledger.said:
        wanted = [(one.session_id, "user", one.text), (one.session_id, "assistant", one.reply)]
        found = [(message.session_id, message.role, message.content) for message in turns.get(one.turn_id, [])]
        if found != wanted:
            yield f"{one.input_id} was acknowledged as {one.turn_id}, and stored is {found}"[:600]


def order(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """What each person said in a conversation, at a terminal or elsewhere, is in the order in which they said it."""
    numbers = {(one.session_id, one.input_id): one.message_id for one in stored.messages if one.input_id}
    last: dict[tuple[str, str, bool], int] = {}
    for one in ledger.said:
        key = one.person, one.session_id, "-t" in one.input_id
        number = numbers.get((one.session_id, one.input_id), 0)
        if number <= last.get(key, 0):
            yield f"{one.input_id} stands before what {one.person} had said before"
        last[key] = number


def once(stored: Stored) -> Iterator[str]:
    """No words are there twice: every saying ends with a word of its own. One input is one turn."""
    contents = Counter(message.content for message in stored.messages if message.role == "user")
    yield from (f"said twice: {text}" for text, times in contents.items() if times > 1)
    inputs = Counter(row.input_id for row in stored.turns if row.answer is not None)
    yield from (f"{input_id} was answered {times} times" for input_id, times in inputs.items() if times > 1)


def events_once(stored: Stored) -> Iterator[str]:
    """No message is told of by two events, and every event is drawn from messages."""
    told = Counter(number for row in stored.provenance for number in ids_in(row.message_ids))
    yield from (f"message {number} is in {times} events" for number, times in told.items() if times > 1)
    traced = {row.event_id for row in stored.provenance}
    yield from (f"{row.event_id} comes from nowhere" for row in stored.events if row.event_id not in traced)


def reminders_once(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Nobody is reminded twice, or of what another is to do."""
    for errand, person in ledger.reminders.items():
        spoken = [one for one in stored.messages if one.proactive and _is_about(errand, one.content)]
        heard = [key for key, texts in ledger.heard.items() if any(_is_about(errand, text) for text in texts)]
        if len(spoken) > 1 or len(heard) > 1:
            yield f"{errand} was reminded of {len(spoken)} times, and heard {len(heard)} times"
        if {message.user_id for message in spoken} - {person}:
            yield f"{errand} was told to another"


def _is_about(errand: str, text: str) -> bool:
    return errand in text and not text.startswith(SPOKEN_ALONE)


def heard_as_stored(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """What a soul says by itself has one text, also when it is sent again. It may be heard and not stored."""
    turns = stored.by_turn()
    for delivery_id, texts in ledger.heard.items():
        known = {message.content for message in turns.get(delivery_id, [])}
        if len(texts | known) != 1:
            yield f"{delivery_id} was heard as {sorted(texts)} and stored as {sorted(known)}"


def foreign_memory(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """What is kept for somebody tells nothing that they may not know."""
    for place, audience, row in _kept(stored):
        if foreign := ledger.secrets.foreign("\n".join(texts_of(row)), *audience):
            yield f"{place} of {', '.join(sorted(audience))} tells {sorted(foreign)}"


def _kept(stored: Stored) -> Iterator[tuple[str, set[str], Any]]:
    present = {one.session_id: {one.user_id, *ids_in(one.people)} for one in stored.sessions}
    for message in stored.messages:
        yield f"message {message.message_id}", present[message.session_id], message
    for plan in stored.plans:
        yield f"plan {plan.plan_id}", {plan.user_id, *ids_in(plan.shared_with)} - {""}, plan
    for event in stored.events:
        people = {EVERYONE} if event.audience == EVERYONE else {*ids_in(event.audience or "")[1:]}
        yield f"event {event.event_id}", people, event
    for table, rows in stored.memories.items():
        yield from ((table, {row.user_id, *ids_in(getattr(row, "shared_with", ""))} - {""}, row) for row in rows)


def dead_jobs(stored: Stored) -> Iterator[str]:
    yield from (f"job {job.job_id} is dead: {job.error[:200]}" for job in stored.jobs if job.status == "dead")


def open_jobs(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Jobs are kept for a week after they are done, so none is missing yet."""
    yield from (f"job {job.job_id} of {job.turn_id} is {job.status}" for job in stored.jobs if job.status != "done")
    with_job = {job.turn_id for job in stored.jobs}
    yield from (f"{one.turn_id} has no job" for one in ledger.said if one.turn_id not in with_job)


def reminders_said(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Each that was asked for was said: by itself, or in the reply to whom nobody could reach in time."""
    asked = "\n".join(one.text for one in ledger.said)
    turns = stored.by_turn()
    for errand in ledger.reminders:
        if errand in asked:
            plans = [plan for plan in stored.plans if errand in plan.content and plan.kind == "reminder"]
            yield from _unsaid(errand, plans, turns)


def _unsaid(errand: str, plans: list[Any], turns: dict[str, list[Any]]) -> Iterator[str]:
    if len(plans) != 1:
        yield f"{errand} has {len(plans)} plans: {[(plan.kind, plan.content) for plan in plans]}"
        return
    [plan] = plans
    said = turns.get(plan.delivery_id, [])
    if plan.status != "delivered" or not said:
        yield f"the reminder of {errand} is {plan.status}, due {plan.due}, said as {plan.delivery_id!r}"
    elif plan.delivery_id.startswith("life_") and not any(errand in message.content for message in said):
        yield f"the reminder of {errand} counts as said, and nothing was said of it"

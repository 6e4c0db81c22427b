"""What must hold whatever happened, as a program reads it from the database.

`running` holds at any moment; `settled` only when everything that was to be done is done.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import namedtuple_row

from soulgraph.bench.soak.people import Ledger, Said
from soulgraph.stores.checkpoints import open_checkpointer

SPOKEN_ALONE = "Thinking again"
"""So begins what the model of the soak says when nobody has asked."""


class Stored(NamedTuple):
    """Rows as they are at one moment."""

    sessions: list[Any]
    messages: dict[str, list[Any]]
    turns: list[Any]
    jobs: list[Any]
    plans: list[Any]
    provenance: list[Any]


def read(url: str) -> Stored:
    with psycopg.connect(url, row_factory=namedtuple_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

        def rows(query: str) -> list[Any]:
            return connection.execute(query.encode()).fetchall()

        messages = defaultdict(list)
        for message in rows("SELECT * FROM messages ORDER BY message_id"):
            messages[message.session_id].append(message)
        return Stored(
            rows("SELECT * FROM sessions"),
            messages,
            rows("SELECT * FROM turns"),
            rows("SELECT * FROM outbox"),
            rows("SELECT * FROM plans"),
            rows("SELECT * FROM event_provenance"),
        )


def running(stored: Stored, ledger: Ledger) -> list[str]:
    return [
        *_pairs(stored),
        *_acknowledged(stored, ledger.said),
        *_order(stored, ledger.said),
        *_once(stored, ledger),
        *_events(stored),
        *_reminders_said_twice(stored, ledger),
        *_dead_jobs(stored),
    ]


def settled(stored: Stored, ledger: Ledger) -> list[str]:
    return [
        *running(stored, ledger),
        *(f"job {job.job_id} of {job.turn_id} is {job.status}" for job in stored.jobs if job.status != "done"),
        *_turns_without_job(stored, ledger),
        *_reminders(stored, ledger),
    ]


def _pairs(stored: Stored) -> Iterator[str]:
    """A turn is what a person said and at once the answer; the number of turns is that of the session."""
    for session in stored.sessions:
        told = stored.messages[session.session_id]
        spoken = [message for message in told if not message.proactive]
        turns = [message.turn_id for message in spoken if message.role == "user"]
        for asked, answered in zip(spoken[::2], spoken[1::2], strict=False):
            if (asked.role, answered.role, asked.turn_id) != ("user", "assistant", answered.turn_id):
                yield f"{session.session_id}: {asked.message_id} and {answered.message_id} are no pair"
        for one, other in pairwise(told):
            if one.role == "user" and other.turn_id != one.turn_id:
                yield f"{session.session_id}: {other.message_id} stands between a question and its answer"
        if len(spoken) != 2 * session.turn:
            yield f"{session.session_id}: {len(spoken)} messages in {session.turn} turns"
        if len({*turns}) != len(turns):
            yield f"{session.session_id}: a turn is there twice"


def _acknowledged(stored: Stored, said: Iterable[Said]) -> Iterator[str]:
    """Everything that was acknowledged is stored as it was said and answered."""
    turns = {message.turn_id: [] for told in stored.messages.values() for message in told}
    for told in stored.messages.values():
        for message in told:
            turns[message.turn_id].append((message.session_id, message.role, message.content))
    for one in said:
        wanted = [(one.session_id, "user", one.text), (one.session_id, "assistant", one.reply)]
        if turns.get(one.turn_id) != wanted:
            yield f"{one.input_id} was acknowledged as {one.turn_id}, and stored is {turns.get(one.turn_id)}"[:600]


def _order(stored: Stored, said: Iterable[Said]) -> Iterator[str]:
    """In every conversation each person's words are in the order in which they said them."""
    numbers = {
        (message.session_id, message.input_id): message.message_id
        for told in stored.messages.values()
        for message in told
        if message.input_id
    }
    last: dict[tuple[str, str, bool], int] = {}
    for one in said:
        key = one.person, one.session_id, "-t" in one.input_id
        number = numbers.get((one.session_id, one.input_id), 0)
        if number < last.get(key, 0):
            yield f"{one.input_id} stands before what {one.person} had said before"
        last[key] = number


def _once(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """No words are there twice: every saying ends with a word of its own. One input is one turn."""
    contents = Counter(
        message.content for told in stored.messages.values() for message in told if message.role == "user"
    )
    yield from (f"said twice: {text}" for text, times in contents.items() if times > 1)
    inputs = Counter(row.input_id for row in stored.turns if row.answer is not None and "-" in row.input_id)
    yield from (f"{input_id} was answered {times} times" for input_id, times in inputs.items() if times > 1)


def _events(stored: Stored) -> Iterator[str]:
    """No message is told of by two events."""
    told = Counter(number for row in stored.provenance for number in _list(row.message_ids))
    yield from (f"message {number} is in {times} events" for number, times in told.items() if times > 1)


def _list(value: Any) -> Sequence[Any]:
    return json.loads(value) if isinstance(value, str) else value


def _dead_jobs(stored: Stored) -> Iterator[str]:
    yield from (f"job {job.job_id} is dead: {job.error[:200]}" for job in stored.jobs if job.status == "dead")


def _turns_without_job(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Jobs are kept for a week after they are done, so none is missing yet."""
    with_job = {job.turn_id for job in stored.jobs}
    yield from (f"{one.turn_id} has no job" for one in ledger.said if one.turn_id not in with_job)


def _spoken_reminders(stored: Stored, ledger: Ledger) -> dict[str, list[Any]]:
    spoken: dict[str, list[Any]] = {errand: [] for errand in ledger.reminders}
    for told in stored.messages.values():
        for message in told:
            if message.proactive and not message.content.startswith(SPOKEN_ALONE):
                for errand in spoken:
                    if errand in message.content:
                        spoken[errand].append(message)
    return spoken


def _reminders_said_twice(stored: Stored, ledger: Ledger) -> Iterator[str]:
    for errand, messages in _spoken_reminders(stored, ledger).items():
        if len(messages) > 1:
            yield f"{errand} was reminded of {len(messages)} times"
        if {message.user_id for message in messages} - {ledger.reminders[errand]}:
            yield f"{errand} was told to another"


def _reminders(stored: Stored, ledger: Ledger) -> Iterator[str]:
    """Each was asked for once, and was said: by itself, or in the reply to whom nobody could reach in time."""
    asked = {errand for errand in ledger.reminders if any(errand in one.text for one in ledger.said)}
    spoken = _spoken_reminders(stored, ledger)
    turns = {message.turn_id for told in stored.messages.values() for message in told}
    for errand in asked:
        plans = [plan for plan in stored.plans if errand in plan.content and plan.kind == "reminder"]
        if len(plans) != 1:
            yield f"{errand} has {len(plans)} plans: {[(plan.kind, plan.content) for plan in plans]}"
            continue
        [plan] = plans
        if plan.status != "delivered" or plan.delivery_id not in turns:
            yield f"the reminder of {errand} is {plan.status}, due {plan.due}, said as {plan.delivery_id!r}"
        elif not spoken[errand] and plan.delivery_id.startswith("life_"):
            yield f"the reminder of {errand} counts as said, and nothing was said of it"


async def checkpoints(url: str, stored: Stored) -> list[str]:
    """After a turn that nothing disturbed, a session and its checkpoint tell the same."""
    wrong = []
    async with open_checkpointer(url) as saver:
        for session in stored.sessions:
            found = await saver.aget_tuple({"configurable": {"thread_id": session.session_id, "checkpoint_ns": ""}})
            turn = found.checkpoint["channel_values"].get("turn") if found else None
            if turn is not None and turn != session.turn:
                wrong.append(f"{session.session_id} is at turn {session.turn}, its checkpoint at {turn}")
    return wrong

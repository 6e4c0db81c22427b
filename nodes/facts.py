"""Keeps statements as facts: new ones are stored, known ones get more evidence, contradicted ones get their end."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from soulgraph.nodes.context import Context
from soulgraph.nodes.person import distinct
from soulgraph.senses.facts.reader import Told, statements_in
from soulgraph.senses.facts.subjects import names_in
from soulgraph.soul.facts import Settlement, Statement, settle, together
from soulgraph.soul.people import others
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Fact, FactSource, Message
from soulgraph.stores.stores import Transaction

_EARLIER = 6  # messages of the person before the one that is read, in which a game may have begun


def is_told(message: Message) -> bool:
    """Whether a person has said it: what a soul says is nobody's fact."""
    return message.role == "user" and bool(message.user_id)


def read_statements(
    messages: Sequence[Message],
    known: Iterable[Fact],
    name: str | None,
    context: Context,
    before: Sequence[Message] = (),
) -> list[tuple[Message, Statement]]:
    """What the messages of one person tell by the rules; `name` is what they are called.

    `before` is what they said before: a game may be under way.
    """
    people = names_in([fact.subject for fact in known])
    said = [one.content for one in (*before, *messages)]
    found: list[tuple[Message, Statement]] = []
    for n, message in enumerate(messages, len(before)):
        earlier = said[max(0, n - _EARLIER) : n]
        told = Told(message.content, context.local_time(message.created_at), name or "", people, earlier)
        statements = statements_in(told)
        people |= names_in([one.subject for one in statements])
        found += [(message, statement) for statement in statements]
    return found


async def keep_statements(
    tx: Transaction, soul_id: str, said: Iterable[tuple[Message, Statement]], source: FactSource, now: float
) -> list[Fact]:
    """Store what was said as facts of this soul; returns those that are new. The soul's row is to be locked."""
    new: list[Fact] = []
    known: dict[str, dict[str, Fact]] = {}
    for message, statement in said:
        if message.user_id not in known:
            known[message.user_id] = {fact.fact_id: fact for fact in await tx.facts.of(soul_id, message.user_id)}
        own = known[message.user_id]
        settled = settle(statement, [*own.values()], message.created_at)
        shared_with = await _shared_with(tx, soul_id, message)
        if same := next((one for one in settled.same if _can_be_one(one, statement, shared_with)), None):
            changed = [_with_evidence(same, message, statement, shared_with, now)]
        else:
            fact = _new_fact(soul_id, message, statement, source, settled, shared_with, now)
            new.append(fact)
            changed = [fact, *(_ended(one, fact, now) for one in settled.ended)]
        for fact in changed:
            if own.get(fact.fact_id) != fact:
                await tx.facts.put(fact)
                own[fact.fact_id] = fact
    return new


async def _shared_with(tx: Transaction, soul_id: str, message: Message) -> tuple[str, ...]:
    """Who may know of a fact: those who may know of the message."""
    stored = (await tx.episodes.messages(soul_id, [message.message_id])).get(message.message_id)
    return stored.shared_with if stored else message.people


def _can_be_one(fact: Fact, statement: Statement, shared_with: tuple[str, ...]) -> bool:
    """Whether there are words for it that all who are to know it have heard: what says the same may say more, too."""
    before, now = {*fact.shared_with}, {*shared_with}
    return fact.content == statement.content or before <= now or now <= before


def _with_evidence(
    fact: Fact, message: Message, statement: Statement, shared_with: tuple[str, ...], now: float
) -> Fact:
    """The fact as told once more; itself if that adds nothing.

    More people know it in the words that they have heard: the old ones may name its person as only the soul does.
    """
    message_ids = together(fact.message_ids, [message.message_id])
    everybody = others(fact.user_id, (*fact.shared_with, *shared_with))
    if (message_ids, everybody) == (fact.message_ids, fact.shared_with):
        return fact
    told = fact if everybody == fact.shared_with else statement
    return replace(
        fact, content=told.content, value=told.value, message_ids=message_ids, shared_with=everybody, updated_at=now
    )


def _new_fact(
    soul_id: str,
    message: Message,
    statement: Statement,
    source: FactSource,
    settled: Settlement[Fact],
    shared_with: tuple[str, ...],
    now: float,
) -> Fact:
    later = settled.later
    return Fact(
        soul_id=soul_id,
        fact_id=new_id("fact"),
        user_id=message.user_id,
        subject=statement.subject,
        attribute=statement.attribute,
        value=statement.value,
        content=statement.content,
        message_ids=[message.message_id],
        said_at=message.created_at,
        valid_from=statement.valid_from,
        valid_to=_beginning(later) if later else None,
        superseded_by=later.fact_id if later else None,
        source=source,
        updated_at=now,
        shared_with=shared_with,
    )


def _ended(fact: Fact, by: Fact, now: float) -> Fact:
    return replace(fact, valid_to=_beginning(by), superseded_by=by.fact_id, updated_at=now)


def _beginning(fact: Fact) -> float:
    return fact.said_at if fact.valid_from is None else fact.valid_from


async def names_of(tx: Transaction, soul_id: str, people: Iterable[str], audience: Collection[str]) -> dict[str, str]:
    """What these people want to be called, as far as all who may know of their facts know it."""
    called = await tx.preferences.addresses(soul_id, audience)
    return distinct({user_id: called[user_id] for user_id in people if user_id in called})


async def reexamine(tx: Transaction, message: Message, context: Context) -> None:
    """Draw facts again from a message that has other words than before; what was drawn from the old ones is gone."""
    if not is_told(message) or context.persona.static or not context.persona.write_back:
        return
    for soul_id in message.witnesses:
        await tx.souls.lock(soul_id)
        known = await tx.facts.of(soul_id, message.user_id)
        names = await names_of(tx, soul_id, [message.user_id], message.hearers)
        said = read_statements([message], known, names.get(message.user_id), context)
        await keep_statements(tx, soul_id, said, "pattern", context.clock())
